// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold probe`: what a target's nodes have and what stands in the way.
#include "app/cli/runs/run_place.h"
#include "app/cli/runs/stop_signals.h"
#include "runner/preflight/cluster_figures.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct ProbeOptions {
    std::string target = "local", save, like;
    bool json = false, quick = false, accept_new_hosts = false, dry_run = false;
};

Expected<int> probe(const ProbeOptions& options)
{
    FOURFOLD_TRY(const auto target, load_target(options.target));
    if (!options.save.empty()) {
        FOURFOLD_CHECK(check_cluster_id(options.save, options.like));
    }
    if (options.dry_run) {
        const auto preview = preview_probe(target, !options.quick);
        return preview ? show(*preview, options.json) : fail(preview.error());
    }
    RunProgress progress(false, options.accept_new_hosts);
    const auto report = [&] {
        const StopSignals signals("stopping the probe");
        return probe_target(target, progress, signals.token(), !options.quick);
    }();
    if (!report)
        return fail(report.error());
    if (options.json)
        print_json(to_json(*report));
    else
        std::cout << probe_text(*report);
    if (!options.save.empty()) {
        FOURFOLD_TRY(const auto file, save_cluster(*report, options.save, options.like));
        std::cerr << "saved cluster " << options.save << " in " << file.string() << "\n";
    }
    return report->good() ? kDone : kFailed;
}

} // namespace

void add_probe(Cli& cli)
{
    auto* command = cli.app.add_subcommand("probe", "Look at a target's nodes and the network between them");
    command->footer(
        "Each finding has its evidence and a cure. Exit status 1 when something stands in the way of a run.\n"
        "`fourfold run` does the same in short before each run.");
    const auto options = std::make_shared<ProbeOptions>();
    add_target(*command, options->target);
    auto* quick = command->add_flag("--quick", options->quick, "leave out the speeds of cores, memory and links");
    command->add_flag("--dry-run", options->dry_run, "say what would be opened and run, open and run nothing");
    auto* save
        = command->add_option("--save-cluster", options->save, "store the measured figures as this cluster preset")
              ->type_name("ID")
              ->excludes(quick);
    command
        ->add_option(
            "--like", options->like, "cluster preset for what cannot be measured: GPUs and links within a node")
        ->type_name("CLUSTER")
        ->needs(save);
    command->add_flag("--json", options->json, "print one object");
    add_accept_new_hosts(*command, options->accept_new_hosts);
    command->callback([&cli, options] { cli.chosen = [options] { return probe(*options); }; });
}

} // namespace fourfold::cli
