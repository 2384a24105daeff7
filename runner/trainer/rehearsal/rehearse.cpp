// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/rehearse.h"

#include "core/rehearsal/match.h"

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
        {"step_flops", rank.work.flops}, {"launches", rank.work.launches},
        {"operations", rank.program.operations.size()}, {"traffic", std::move(traffic)}};
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

} // namespace

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
        {"wall_s", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()}};
}

} // namespace fourfold::trainer
