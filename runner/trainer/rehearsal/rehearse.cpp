// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/rehearse.h"

#include "core/base/seconds.h"
#include "core/base/text.h"
#include "core/layout/mesh.h"
#include "core/memory/replay.h"
#include "core/rehearsal/match.h"
#include "core/rehearsal/rehearsal_words.h"
#include "core/rehearsal/step_timeline.h"
#include "core/schedule/chrome_trace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace fourfold::trainer {

namespace {
constexpr double kGiB = double(1u << 30);
constexpr int kAllOf = 8; // ranks that are all rehearsed

// Operations that begin together: as few as the ranks get by with. NCCL promises no number; a few always fit.
constexpr std::array kAtOnce{1, 2, 4, 8, 16};

// Groups that have no dimension of the layout to themselves.
constexpr std::array kInnerGroups{GroupKind::tp_keys, GroupKind::dp_shard, GroupKind::dp_replicate, GroupKind::etp,
    GroupKind::ep, GroupKind::expert_shard, GroupKind::expert_replicate};

Json stage_json(const RankRehearsal& rank, int pp)
{
    Json traffic = Json::array();
    for (const auto& [key, total] : rank.traffic)
        traffic.push_back(
            {{"group", key.first}, {"operation", key.second}, {"count", total.count}, {"bytes", total.bytes}});
    return {{"pp", pp}, {"rank", rank.program.rank}, {"peak_tensors_gib", double(rank.requested) / kGiB},
        {"peak_allocated_gib", double(rank.allocated) / kGiB}, {"reserved_gib", double(rank.reserved) / kGiB},
        {"step_flops", rank.work.flops}, {"launches", rank.work.launches}, {"host_copies", rank.work.host_copies},
        {"host_waits", rank.work.host_waits}, {"operations", rank.program.operations.size()},
        {"traffic", std::move(traffic)}};
}

// What is left of a GPU for tensors; 0: not known.
uint64_t capacity_of(const ResolvedPlan& plan)
{
    return uint64_t(std::max(0.0, plan.cluster.gpu.memory_gib - device_overhead_gib(plan)) * kGiB);
}

struct Verdict {
    std::optional<Problem> problem;
    std::optional<int> at_once;
    Matched matched; // without a problem
};

Verdict judge(const std::vector<RankProgram>& programs)
{
    Verdict verdict;
    for (const int at_once : kAtOnce) {
        auto matched = match_programs(programs, {at_once, /*one_queue=*/true});
        if (matched)
            return {{}, at_once, *std::move(matched)};
        verdict.problem = matched.error();
    }
    // Is it the device, or would they wait for each other on any?
    if (const auto unlimited = match_programs(programs, {std::numeric_limits<int>::max(), false}); !unlimited)
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
    if (plan.gpus <= most)
        return ranks;
    // Within a corner's dp lie the ends of smaller groups, whose members have smaller groups again.
    const DeviceMesh mesh(layout, plan.model.kv_heads);
    std::set<int> chosen(ranks.begin(), ranks.end());
    for (std::size_t next = 0; next < ranks.size(); ++next)
        for (const GroupKind kind : kInnerGroups) {
            const std::vector<int> members = mesh.group(ranks[next], kind);
            for (const int end : {members.front(), members.back()})
                if (chosen.insert(end).second)
                    ranks.push_back(end);
        }
    return {chosen.begin(), chosen.end()};
}

Json to_json(const RehearsalProgress& progress)
{
    return {{"rehearsed", progress.rehearsed}, {"of", progress.of}, {"reserved_gib", progress.reserved_gib}};
}

Expected<Json> rehearse(const ResolvedPlan& plan, const RehearsalSettings& settings)
{
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<int> chosen = ranks_to_rehearse(plan, kAllOf);
    const uint64_t capacity = capacity_of(plan);
    Json stages = Json::array(), problems = Json::array();
    bool fits = true;
    std::vector<RankProgram> programs;
    std::vector<LastStep> steps;
    RehearsalProgress progress{0, chosen.size(), 0};
    const auto tell = [&] {
        if (settings.told)
            settings.told(progress);
    };
    tell();
    for (const int rank : chosen) {
        FOURFOLD_TRY(RankRehearsal rehearsed,
            rehearse_rank(plan, rank, {.capacity = capacity, .expert_imbalance = settings.expert_imbalance}));
        const Coordinates at = plan.layout.coordinates(rank);
        const bool shown = at.tp == 0 && at.cp == 0 && at.dp == 0;
        if (shown)
            stages.push_back(stage_json(rehearsed, at.pp));
        if (!rehearsed.misused.empty())
            problems.push_back(rank_words(rehearsed.program) + ": " + rehearsed.misused);
        if (!rehearsed.ran_out.empty() && std::exchange(fits, false))
            problems.push_back(rank_words(rehearsed.program)
                + text_of(" runs out of memory: the tensors may take %.2f GiB, and there is no room ",
                    double(capacity) / kGiB)
                + rehearsed.ran_out);
        steps.push_back({rehearsed.step_begin, shown ? at.pp : -1});
        programs.push_back(std::move(rehearsed.program));
        ++progress.rehearsed;
        progress.reserved_gib = std::max(progress.reserved_gib, double(rehearsed.reserved) / kGiB);
        tell();
    }
    const Verdict verdict = judge(programs);
    if (verdict.problem)
        problems.push_back(verdict.problem->line());
    Json result{{"fourfold_rehearsal", 1}, {"ranks", plan.gpus}, {"rehearsed", chosen.size()}, {"steps", 2},
        {"verdict", problems.empty() ? "ok" : "failed"}, {"fits", fits}, {"deadlock", verdict.problem.has_value()},
        {"problem", problems.empty() ? Json(nullptr) : problems[0]}, {"problems", problems},
        {"at_once", verdict.at_once ? Json(*verdict.at_once) : Json(nullptr)}, {"step_time_s", nullptr},
        {"capacity_gib", capacity > 0 ? Json(double(capacity) / kGiB) : Json(nullptr)}, {"stages", std::move(stages)}};
    if (verdict.at_once) {
        const Timeline timeline = step_timeline(programs, verdict.matched, steps);
        result["step_time_s"] = timeline.length_s;
        if (settings.timeline)
            result["timeline"] = chrome_trace(timeline, plan.name.empty() ? plan.model.name : plan.name);
    }
    result["wall_s"] = seconds_since(begin);
    return result;
}

} // namespace fourfold::trainer
