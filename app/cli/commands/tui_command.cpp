// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold tui`: the planner in a terminal.
#include "app/cli/planning/plan_source.h"
#include "app/tui/tui.h"

#include <memory>

namespace fourfold::cli {

namespace {

Expected<int> run_planner(const std::string& plan)
{
    tui::TuiOptions options;
    if (!plan.empty()) {
        PlanOptions source;
        source.plan = plan;
        FOURFOLD_TRY(options.plan, source.file(Presets()));
    }
    FOURFOLD_CHECK(tui::run_tui(options));
    return kDone;
}

} // namespace

void add_tui(Cli& cli)
{
    auto* command = cli.app.add_subcommand("tui", "The planner in this terminal; `fourfold` alone opens it too");
    command->footer("Keys: ? lists them, q leaves. A run that is followed goes on when the terminal is closed.\n"
                    "NO_COLOR is kept; without UTF-8 the screen is plain ASCII.");
    const auto plan = std::make_shared<std::string>();
    command->add_option("PLAN", *plan, "plan file, or id of a plan preset (default: where you left)");
    command->callback([&cli, plan] { cli.chosen = [plan] { return run_planner(*plan); }; });
    // Without any argument, on a terminal.
    cli.alone = [] { return run_planner(""); };
}

} // namespace fourfold::cli
