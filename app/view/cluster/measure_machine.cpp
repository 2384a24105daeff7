// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/cluster/measure_machine.h"

#include "runner/preflight/measure.h"
#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold::view {

Expected<MeasuringJob> measuring_job_of(
    const SavedCluster& saved, const FoundNodes& nodes, const std::optional<Plan>& shapes)
{
    constexpr int kMostRanks = 8;
    FOURFOLD_CHECK(machine_file(saved.target));
    FOURFOLD_TRY(Target target, load_target(saved.target));
    const int ranks = std::clamp(nodes.gpus_per_node > 0 ? nodes.gpus_per_node : kMostRanks, 1, kMostRanks);
    target.hosts.resize(std::min<std::size_t>(target.hosts.size(), 1));
    for (TargetHost& host : target.hosts)
        host.ranks = 0;
    if (target.slurm) {
        target.slurm->nodes = 1;
        target.slurm->ranks_per_node = ranks;
    }
    Plan plan;
    if (shapes) {
        plan = *shapes;
    } else {
        FOURFOLD_TRY(const auto file, Presets().file("plans", kThisComputer));
        FOURFOLD_TRY(plan, read_plan(file));
    }
    if (!saved.cluster.empty())
        plan.document["cluster"] = saved.cluster;
    FOURFOLD_TRY(ResolvedPlan job, measuring_job(plan, ranks));
    return MeasuringJob{std::move(job), std::move(target), saved.target};
}

Expected<SavedMachine> measure_machine(const MeasuringJob& job, RunObserver& observer, std::stop_token stop)
{
    MachineMeasurement measurement;
    measurement.date = utc_now().substr(0, std::string_view("2026-01-31").size());
    FOURFOLD_TRY(measurement.figures, measure_target(job.plan, job.target, observer, std::move(stop)));
    const Presets presets;
    FOURFOLD_TRY(const Stack stack, presets.stack("fourfold"));
    FOURFOLD_TRY(MeasuredMachine machine, measured_machine(measurement, job.plan.cluster, stack));
    FOURFOLD_TRY(auto file, save_machine(machine, job.cluster));
    return SavedMachine{std::move(machine), job.cluster, std::move(file)};
}

} // namespace fourfold::view
