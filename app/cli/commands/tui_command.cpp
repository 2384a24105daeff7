// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold tui`: the planner in a terminal.
#include "app/cli/planning/plan_source.h"
#include "app/tui/tui.h"

#include <memory>

namespace fourfold::cli {

namespace {

Expected<int> run_planner(const std::string& plan, bool linear = false)
{
    tui::TuiOptions options;
    options.linear = linear;
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
    command->add_option(
        "PLAN", *plan, "plan file, id of a plan preset, or a project's folder (default: where you left)");
    const auto linear = std::make_shared<bool>(false);
    command->add_flag("--linear", *linear,
        "for screen readers: pages are read out in lines, commands are typed as lines (as with TERM=dumb)");
    command->callback([&cli, plan, linear] { cli.chosen = [plan, linear] { return run_planner(*plan, *linear); }; });
    // Without any argument, on a terminal.
    cli.alone = [] { return run_planner(""); };
}

} // namespace fourfold::cli
