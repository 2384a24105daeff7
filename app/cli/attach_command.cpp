// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold attach`: catches up with a run and follows it.
#include "app/cli/run_progress.h"
#include "app/cli/stop_signals.h"

#include <memory>

namespace fourfold::cli {

namespace {

struct Options {
    std::string run = "last";
    bool json = false, accept_new_hosts = false;
};

int attach_to(const Options& options)
{
    RunProgress progress(options.json, options.accept_new_hosts);
    Expected<RunResult> result = [&] {
        const StopSignals signals("detaching; the run goes on");
        return attach(options.run, progress, signals.token());
    }();
    return result ? finish(*result, {}, options.json) : fail(result.error());
}

} // namespace

void add_attach(Cli& cli)
{
    auto* command = cli.app.add_subcommand("attach", "Catch up with a run and follow it to its end");
    command->footer("Ctrl-C detaches, the run goes on.");
    const auto options = std::make_shared<Options>();
    command->add_option("RUN", options->run, "id of a run or its beginning; last when left out");
    command->add_flag("--json", options->json, "print events and result as JSON Lines");
    command->add_flag("--accept-new-hosts", options->accept_new_hosts,
        "store the keys of unknown hosts without asking; changed keys are always refused");
    command->callback([&cli, options] { cli.chosen = [options] { return attach_to(*options); }; });
}

} // namespace fourfold::cli
