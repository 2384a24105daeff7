// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/rehearse_rank.h"

#include "core/cost/runtime_switches.h"
#include "core/layout/batch_ramp.h"
#include "core/plan/plan_schedule.h"
#include "core/program/graph_forms.h"
#include "runner/trainer/rehearsal/pass_player.h"
#include "runner/trainer/rehearsal/recording_transport.h"
#include "runner/trainer/rehearsal/rehearsed_device.h"
#include "runner/trainer/start_up.h"
#include "runner/trainer/trainer.h"

#include <c10/util/Exception.h>

#include <optional>

namespace fourfold::trainer {

namespace {

WireTotals traffic_of(const RankProgram& program, std::size_t first_operation)
{
    WireTotals totals;
    for (std::size_t i = first_operation; i < program.operations.size(); ++i) {
        const WireOperation& asked = program.operations[i];
        if (is_own_copy(program, asked))
            continue;
        const Wire& wire = program.wires[std::size_t(asked.wire)];
        const std::string group = wire.name.substr(0, wire.name.find('/'));
        WireTotal& total = totals[{group, asked.own_bytes ? "all_to_all" : asked.kind}];
        ++total.count;
        total.bytes += asked.bytes + asked.own_bytes.value_or(0);
    }
    return totals;
}

DeviceTraits device_of(const ResolvedPlan& plan, const RankSettings& settings)
{
    const Gpu& gpu = plan.cluster.gpu;
    if (settings.on_cpus || gpu.is_cpu())
        return {.cpu = true, .threads = settings.threads > 0 ? settings.threads : threads_of_rank(plan)};
    return {.product_workspace = uint64_t(product_workspace(gpu)),
        .multiprocessors = gpu.multiprocessors,
        .deterministic = plan.run.deterministic};
}

// Empty: equal passes were folded that are not equal.
Expected<std::optional<RankRehearsal>> two_steps(const ResolvedPlan& plan, int rank, const RankSettings& settings)
{
    RankRehearsal out;
    const RehearsalPrices prices(plan);
    Ledger ledger({settings.capacity, runtime_switches(plan.run.environment).expandable_segments});
    ledger.program.rank = rank;
    const RehearsedDevice device(ledger, prices, device_of(plan, settings));
    FOURFOLD_TRY(PlanSchedule schedule, listed_schedule(plan));
    const HostTimes host(plan, schedule.stage_of_chunk);
    const Mesh mesh = make_mesh(
        plan, rank, std::move(schedule), [&](const std::string& name, const std::vector<int>& ranks, int place) {
            auto wire = recording_transport(ledger, prices, name, ranks, place);
            return settings.wire ? settings.wire(std::move(wire), name) : wire;
        });
    ledger.program.place = mesh.words();
    PassPlayer player(ledger, host, settings.fold);
    TrainerOptions options;
    options.rehearsal = true;
    std::optional<RoutingRecord> routing = settings.routing;
    options.routing = {settings.expert_imbalance, routing ? &*routing : nullptr};
    options.perform = [&](const Action& action, const Compute& compute) { return player(action, compute); };
    {
        FOURFOLD_TRY(const auto trainer, Trainer::create(plan, mesh, options));
        const int full = ramp_up_steps(plan.training); // a ramp-up ends with it, and what comes before needs no more
        for (int step = full; step < full + 2; ++step) {
            out.step_begin = {ledger.program.steps.size(), ledger.program.last_work_s};
            const std::size_t first_operation = ledger.program.operations.size();
            const KernelWork before = ledger.total();
            Expected<StepOutcome> outcome = trainer->accumulate_gradients(step);
            if (settings.fold && player.gave_up())
                return std::optional<RankRehearsal>();
            if (!outcome)
                return outcome.error();
            trainer->update(step, *outcome);
            ledger.compute({.seconds = host.of_step()});
            player.end_step();
            out.traffic = traffic_of(ledger.program, first_operation);
            if ((step + 1) % plan.run.log_every == 0) // what is told of the step beside what it does
                (void)trainer->take_expert_load();
            out.work = ledger.total();
            out.work -= before;
        }
        TORCH_CHECK(!routing || routing->at_its_end(), "the recorded routing is not of this plan and rank");
        out.misused = ledger.misused(); // the updated weights may be under way when the trainer goes
    }
    if (settings.fold && player.gave_up())
        return std::optional<RankRehearsal>();
    out.requested = ledger.memory().peak_requested();
    out.allocated = ledger.memory().peak_allocated();
    out.reserved = ledger.memory().peak_reserved();
    out.ran_out = ledger.ran_out();
    out.computed = player.computed();
    out.played = player.played();
    out.program = std::move(ledger.program);
    return std::optional(std::move(out));
}

} // namespace

Expected<RankRehearsal> rehearse_rank(const ResolvedPlan& plan, int rank, RankSettings settings)
{
    // A pass that is played has no graph for the one that is computed beside another.
    // Nor are passes alike that recorded tokens go through, nor where what one micro-batch keeps is on its way to the
    // host until the pass of another.
    const bool on_their_way = plan.training.offload == Offload::activations && plan.layout.pp > 1;
    settings.fold = settings.fold && !passes_side_by_side(plan) && !on_their_way && !settings.routing;
    try {
        FOURFOLD_TRY(auto folded, two_steps(plan, rank, settings));
        if (folded)
            return std::move(*folded);
        settings.fold = false;
        FOURFOLD_TRY(auto whole, two_steps(plan, rank, settings));
        return std::move(whole.value());
    } catch (const c10::Error& error) {
        return Problem{ProblemCode::failed, error.what_without_backtrace(), "", "rank " + std::to_string(rank)};
    }
}

} // namespace fourfold::trainer
