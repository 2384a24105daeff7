// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/rehearse.h"

#include "core/predict/prediction.h"
#include "core/rehearsal/match.h"
#include "runner/trainer/rehearsal/counting_memory.h"
#include "runner/trainer/rehearsal/product_flops.h"
#include "runner/trainer/rehearsal/recording_transport.h"
#include "runner/trainer/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>

namespace fourfold::trainer {

namespace {
constexpr double kGiB = double(1u << 30);
constexpr int kMostAlone = 64; // ranks that are all rehearsed

// Operations that begin together: as few as the ranks get by with. NCCL promises no number; a few always fit.
constexpr std::array kAtOnce{1, 2, 4, 8, 16};

Json stage_json(const RankRehearsal& rank, const ResolvedPlan& plan, const Prediction& prediction)
{
    const int pp = plan.layout.coordinates(rank.program.rank).pp;
    Json traffic = Json::array();
    for (const auto& [key, total] : rank.traffic)
        traffic.push_back(
            {{"group", key.first}, {"operation", key.second}, {"count", total.count}, {"bytes", total.bytes}});
    const auto& planned = prediction.memory_by_stage;
    return {{"pp", pp}, {"rank", rank.program.rank}, {"peak_tensors_gib", double(rank.requested) / kGiB},
        {"peak_allocated_gib", double(rank.allocated) / kGiB}, {"reserved_gib", double(rank.reserved) / kGiB},
        {"planned_gib", std::size_t(pp) < planned.size() ? Json(planned[std::size_t(pp)].total()) : Json(nullptr)},
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

// Ranks of one stage that stand for others: the first and the last must do the same.
std::optional<Problem> compare_stages(const std::vector<RankRehearsal>& ranks, const ResolvedPlan& plan)
{
    for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
        const RankProgram &one = ranks[i].program, &other = ranks[i + 1].program;
        if (plan.layout.coordinates(one.rank).pp != plan.layout.coordinates(other.rank).pp)
            continue;
        if (const auto alike = check_alike(one, other); !alike)
            return alike.error();
    }
    return std::nullopt;
}
} // namespace

Expected<RankRehearsal> rehearse_rank(const ResolvedPlan& plan, int rank)
{
    RankRehearsal out;
    out.program.rank = rank;
    CountingMemory memory;
    FOURFOLD_TRY(const auto schedule,
        make_schedule(plan.training.schedule, plan.layout.pp, plan.layout.virtual_stages, plan.training.micro_batches));
    const Mesh mesh = make_mesh(plan.layout, rank, plan.model.kv_heads, pipeline_links(schedule),
        [&](const std::string& name, const std::vector<int>& ranks, int place) {
            return recording_transport(out.program, name, ranks, place);
        });
    out.program.place = mesh.words();
    TrainerOptions options;
    options.rehearsal = true;
    FOURFOLD_TRY(const auto trainer, Trainer::create(plan, mesh, options));
    for (int step = 0; step < 2; ++step) {
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

std::vector<int> ranks_to_rehearse(const ResolvedPlan& plan, int most)
{
    std::vector<int> ranks;
    if (plan.gpus <= most) {
        for (int rank = 0; rank < plan.gpus; ++rank)
            ranks.push_back(rank);
        return ranks;
    }
    const Layout& layout = plan.layout;
    for (int pp = 0; pp < layout.pp; ++pp)
        for (int rank = 0, last = -1; rank < plan.gpus; ++rank) {
            const Coordinates at = layout.coordinates(rank);
            const bool first = at.tp == 0 && at.cp == 0 && at.dp == 0;
            const bool end = at.tp == layout.tp - 1 && at.cp == layout.cp - 1 && at.dp == layout.dp - 1;
            if (at.pp == pp && (first || end) && rank != last)
                ranks.push_back(last = rank);
        }
    return ranks;
}

Expected<Json> rehearse(const ResolvedPlan& plan)
{
    const auto begin = std::chrono::steady_clock::now();
    const Prediction prediction = predict(plan);
    std::vector<RankRehearsal> ranks;
    std::vector<RankProgram> programs;
    const std::vector<int> chosen = ranks_to_rehearse(plan, kMostAlone);
    for (const int rank : chosen) {
        FOURFOLD_TRY(RankRehearsal rehearsed, rehearse_rank(plan, rank));
        programs.push_back(rehearsed.program);
        ranks.push_back(std::move(rehearsed));
    }
    Verdict verdict;
    if (int(chosen.size()) < plan.gpus)
        verdict.problem = compare_stages(ranks, plan);
    if (!verdict.problem)
        verdict = judge(programs);

    Json stages = Json::array();
    for (const RankRehearsal& rank : ranks) {
        const Coordinates at = plan.layout.coordinates(rank.program.rank);
        if (at.tp == 0 && at.cp == 0 && at.dp == 0)
            stages.push_back(stage_json(rank, plan, prediction));
    }
    return Json{{"fourfold_rehearsal", 1}, {"ranks", plan.gpus}, {"rehearsed", chosen.size()}, {"steps", 2},
        {"verdict", verdict.problem ? "failed" : "ok"},
        {"problem", verdict.problem ? Json(verdict.problem->line()) : Json(nullptr)},
        {"at_once", verdict.at_once ? Json(*verdict.at_once) : Json(nullptr)}, {"stages", std::move(stages)},
        {"wall_s", seconds_since(begin)}};
}

} // namespace fourfold::trainer
