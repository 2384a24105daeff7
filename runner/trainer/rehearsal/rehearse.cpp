// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/rehearse.h"

#include "core/layout/batch_ramp.h"
#include "core/rehearsal/match.h"
#include "runner/trainer/rehearsal/counting_memory.h"
#include "runner/trainer/rehearsal/product_flops.h"
#include "runner/trainer/rehearsal/recording_transport.h"
#include "runner/trainer/trainer.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>

namespace fourfold::trainer {

namespace {
constexpr double kGiB = double(1u << 30);
constexpr int kAllOf = 8; // ranks that are all rehearsed

// Operations that begin together: as few as the ranks get by with. NCCL promises no number; a few always fit.
constexpr std::array kAtOnce{1, 2, 4, 8, 16};

Json stage_json(const RankRehearsal& rank, int pp)
{
    Json traffic = Json::array();
    for (const auto& [key, total] : rank.traffic)
        traffic.push_back(
            {{"group", key.first}, {"operation", key.second}, {"count", total.count}, {"bytes", total.bytes}});
    return {{"pp", pp}, {"rank", rank.program.rank}, {"peak_tensors_gib", double(rank.requested) / kGiB},
        {"peak_allocated_gib", double(rank.allocated) / kGiB}, {"reserved_gib", double(rank.reserved) / kGiB},
        {"step_flops", rank.flops}, {"operations", rank.program.operations.size()}, {"traffic", std::move(traffic)}};
}

struct Verdict {
    std::optional<Problem> problem;
    std::optional<int> at_once;
};

Verdict judge(const std::vector<RankProgram>& programs)
{
    Verdict verdict;
    for (const int at_once : kAtOnce) {
        const auto matched = match_programs(programs, {at_once, /*one_queue=*/true});
        if (matched) {
            verdict.problem.reset();
            verdict.at_once = at_once;
            return verdict;
        }
        verdict.problem = matched.error();
    }
    // Is it the device, or would they wait for each other on any?
    const auto unlimited = match_programs(programs, {std::numeric_limits<int>::max(), false});
    if (!unlimited)
        verdict.problem = unlimited.error();
    return verdict;
}

Expected<RankRehearsal> two_steps(const ResolvedPlan& plan, int rank)
{
    RankRehearsal out;
    out.program.rank = rank;
    CountingMemory memory;
    FOURFOLD_TRY(PlanSchedule schedule, listed_schedule(plan));
    const Mesh mesh = make_mesh(plan.layout, rank, plan.model.kv_heads, std::move(schedule),
        [&](const std::string& name, const std::vector<int>& ranks, int place) {
            return recording_transport(out.program, name, ranks, place);
        });
    out.program.place = mesh.words();
    TrainerOptions options;
    options.rehearsal = true;
    FOURFOLD_TRY(const auto trainer, Trainer::create(plan, mesh, options));
    const int full = ramp_up_steps(plan.training); // a ramp-up ends with it, and what comes before needs no more
    for (int step = full; step < full + 2; ++step) {
        const auto before = mesh.recorder->totals();
        const ProductFlops products;
        FOURFOLD_TRY(StepOutcome outcome, trainer->accumulate_gradients(step));
        trainer->update(step, outcome);
        out.flops = products.total();
        out.traffic = mesh.recorder->totals();
        for (auto& [key, total] : out.traffic)
            if (const auto known = before.find(key); known != before.end()) {
                total.count -= known->second.count;
                total.bytes -= known->second.bytes;
            }
    }
    out.requested = memory.model().peak_requested();
    out.allocated = memory.model().peak_allocated();
    out.reserved = memory.model().reserved();
    return out;
}

} // namespace

Expected<RankRehearsal> rehearse_rank(const ResolvedPlan& plan, int rank)
{
    try {
        return two_steps(plan, rank);
    } catch (const c10::Error& error) {
        return Problem{ProblemCode::failed, error.what_without_backtrace(), "", "rank " + std::to_string(rank)};
    }
}

std::vector<int> ranks_to_rehearse(const ResolvedPlan& plan, int most)
{
    const Layout& layout = plan.layout;
    const auto at_an_end = [](int place, int size) { return place == 0 || place == size - 1; };
    std::vector<int> ranks;
    for (int rank = 0; rank < plan.gpus; ++rank) {
        const Coordinates at = layout.coordinates(rank);
        if (plan.gpus <= most
            || (at_an_end(at.tp, layout.tp) && at_an_end(at.cp, layout.cp) && at_an_end(at.dp, layout.dp)))
            ranks.push_back(rank);
    }
    return ranks;
}

Expected<Json> rehearse(const ResolvedPlan& plan)
{
    const auto begin = std::chrono::steady_clock::now();
    Json stages = Json::array();
    std::vector<RankProgram> programs;
    const std::vector<int> chosen = ranks_to_rehearse(plan, kAllOf);
    for (const int rank : chosen) {
        FOURFOLD_TRY(RankRehearsal rehearsed, rehearse_rank(plan, rank));
        const Coordinates at = plan.layout.coordinates(rank);
        if (at.tp == 0 && at.cp == 0 && at.dp == 0)
            stages.push_back(stage_json(rehearsed, at.pp));
        programs.push_back(std::move(rehearsed.program));
    }
    const Verdict verdict = judge(programs);
    return Json{{"fourfold_rehearsal", 1}, {"ranks", plan.gpus}, {"rehearsed", chosen.size()}, {"steps", 2},
        {"verdict", verdict.problem ? "failed" : "ok"},
        {"problem", verdict.problem ? Json(verdict.problem->line()) : Json(nullptr)},
        {"at_once", verdict.at_once ? Json(*verdict.at_once) : Json(nullptr)}, {"stages", std::move(stages)},
        {"wall_s", seconds_since(begin)}};
}

} // namespace fourfold::trainer
