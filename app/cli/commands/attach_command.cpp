// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold attach`: catches up with a run and follows it.
#include "app/cli/history/history_view.h"
#include "app/cli/runs/run_place.h"
#include "app/cli/runs/stop_signals.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct AttachOptions {
    RunPlace place;
    DashboardOptions dashboards;
    bool json = false, accept_new_hosts = false, dry_run = false, all_events = false;
};

// The events that are stored already, so that the lines together are the whole stream. What cannot be read here is
// reported by attach() itself.
void print_stored(const std::string& run, RunProgress& progress)
{
    const auto store = open_history_with_runs();
    const auto id = store ? store->full_id(run) : Expected<std::string>(store.error());
    const auto lines = id ? store->events(*id) : Expected<std::vector<std::string>>(id.error());
    if (!lines)
        return;
    for (const std::string& line : *lines)
        std::cout << line << '\n';
    progress.skip_events(static_cast<std::int64_t>(lines->size()));
}

Expected<int> attach_to(const AttachOptions& options)
{
    if (options.dry_run) {
        const auto preview = options.place.preview();
        return preview ? show(*preview, options.json) : fail(preview.error());
    }
    RunProgress progress(options.json, options.accept_new_hosts, options.dashboards);
    const StopSignals signals("detaching; the run goes on");
    FOURFOLD_TRY(const auto run, options.place.find(progress, signals.token()));
    if (options.json)
        print_stored(run, progress);
    progress.show_stored(run);
    const auto result = attach(run, progress, signals.token(), {}, options.all_events);
    progress.finish_dashboards();
    return result ? finish(*result, {}, options.json) : fail(result.error());
}

} // namespace

void add_attach(Cli& cli)
{
    auto* command = cli.app.add_subcommand("attach", "Catch up with a run and follow it to its end");
    command->footer("Ctrl-C detaches, the run goes on; `fourfold stop` ends it. With --target the run may have been "
                    "launched from another computer: it "
                    "is looked for on the hosts\nand taken into this computer's history with all its events.");
    const auto options = std::make_shared<AttachOptions>();
    options->place.add_to(*command, false);
    command->add_flag("--dry-run", options->dry_run, "say what would be opened, run and stored, open and run nothing");
    command->add_flag("--json", options->json, "print events and result as JSON Lines");
    command->add_flag("--all-events", options->all_events,
        "store all of its events, also those that the target's events_gib left on the nodes");
    options->dashboards.add_to(*command);
    add_accept_new_hosts(*command, options->accept_new_hosts);
    command->callback([&cli, options] { cli.chosen = [options] { return attach_to(*options); }; });
}

} // namespace fourfold::cli
