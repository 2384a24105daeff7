// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold probe`: what a target's nodes have and what stands in the way.
#include "app/cli/runs/run_place.h"
#include "app/cli/runs/stop_signals.h"
#include "app/view/cluster/measure_machine.h"
#include "runner/preflight/cluster_figures.h"
#include "runner/preflight/measure.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct ProbeOptions {
    std::string target = "local", save, like, plan;
    bool json = false, quick = false, accept_new_hosts = false, dry_run = false, measure = false;
};

// The plan whose shapes are measured, and on how many ranks: beyond this computer on the plan's own.
Expected<ResolvedPlan> job_of(const ProbeOptions& options, const Target& target)
{
    constexpr int kRanksHere = 8;
    const Presets presets;
    std::filesystem::path file = options.plan;
    if (file.empty()) {
        FOURFOLD_TRY(file, presets.file("plans", view::kThisComputer));
    }
    FOURFOLD_TRY(const Plan plan, read_plan(file));
    const Json& gpus = plan.document["gpus"];
    const int ranks = target.kind != TargetKind::local && gpus.is_number_integer() ? gpus.get<int>() : kRanksHere;
    return measuring_job(plan, ranks);
}

// Under which id a later prediction for the target finds it.
std::string cluster_of(const ProbeOptions& options, const Target& target)
{
    return !options.save.empty() ? options.save : target.kind == TargetKind::local ? view::kThisComputer : target.id;
}

Expected<int> measure(
    const ProbeOptions& options, const Target& target, const ProbeReport& report, RunProgress& progress)
{
    const std::string id = cluster_of(options, target);
    FOURFOLD_TRY(ResolvedPlan job, job_of(options, target));
    const auto measured = [&] {
        const StopSignals signals("stopping the measurement");
        return view::measure_machine({std::move(job), target, id}, progress, signals.token());
    }();
    if (!measured)
        return measured.error();
    const MeasuredMachine& machine = measured->machine;
    const std::filesystem::path& file = measured->file;
    if (options.json) {
        Json out = to_json(report);
        out["measured"] = to_json(machine);
        out["measured"]["file"] = file.string();
        print_json(out);
    } else {
        std::cout << probe_text(report) << to_text(machine);
    }
    std::cerr << "saved cluster " << id << " in " << file.string()
              << (id == view::kThisComputer ? "; plans on this computer are predicted with it until it is removed\n"
                                            : "\n");
    return kDone;
}

Expected<int> probe(const ProbeOptions& options)
{
    FOURFOLD_TRY(const auto target, load_target(options.target));
    if (!options.save.empty()) {
        FOURFOLD_CHECK(check_cluster_id(options.save, options.like));
    }
    if (options.measure)
        FOURFOLD_CHECK(check_cluster_id(cluster_of(options, target), {}));
    if (options.dry_run) {
        auto preview = preview_probe(target, !options.quick);
        if (preview && options.measure)
            preview->text += "the trainer then measures for about a minute, in a run of its own\n";
        return preview ? show(*preview, options.json) : fail(preview.error());
    }
    if (options.measure) // nobody waits for a minute only to hear this
        FOURFOLD_CHECK(machine_file(cluster_of(options, target)));
    RunProgress progress(false, options.accept_new_hosts);
    const auto report = [&] {
        const StopSignals signals("stopping the probe");
        return probe_target(target, progress, signals.token(), options.quick ? LookFor::trouble : LookFor::speeds);
    }();
    if (!report)
        return fail(report.error());
    if (options.measure && report->good())
        return measure(options, target, *report, progress);
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
    auto* measure = command->add_flag("--measure", options->measure,
        "also measure how fast the ranks are, with the trainer (about a minute), for later predictions");
    measure->excludes(quick);
    command
        ->add_option("--plan", options->plan,
            "with --measure: plan whose model's shapes are measured, and beyond this computer on how many ranks")
        ->type_name("PLAN")
        ->needs(measure);
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
