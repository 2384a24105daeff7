// SPDX-License-Identifier: GPL-3.0-or-later
// The planner in a terminal with an answer that no calibration changes, for screens that are compared cell by cell: the
// figures follow from the degrees by simple arithmetic.
#include "app/tui/tui.h"
#include "core/search/pareto.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace {

using namespace fourfold;

Prediction fixed_answer(const ResolvedPlan& plan)
{
    Prediction answer;
    answer.plan = plan;
    answer.feasible = true;
    answer.memory_capacity_gib = 80;
    answer.fit = Fit::fits;
    answer.evidence = Evidence::calibrated;
    const Layout& layout = plan.layout;
    for (int stage = 0; stage < layout.pp; ++stage) {
        const double share = 1.0 / (layout.tp * layout.pp);
        answer.memory_by_stage.push_back(
            {stage, 16 * share, 16 * share, 32 * share, 8.0 * (layout.pp - stage) / layout.tp, 2});
    }
    answer.memory_gib = answer.memory_by_stage.front().total();
    answer.memory_device_gib = *answer.memory_gib + 4;
    answer.step_time_s = 8.0 / layout.dp + 2.0 * layout.tp;
    answer.tps_per_gpu = plan.tokens_per_step() / plan.gpus / *answer.step_time_s;
    answer.mfu = 0.4;
    answer.bubble_fraction = layout.pp > 1 ? 0.25 : 0;
    answer.interval = Interval{0.9, {*answer.step_time_s * 0.9, *answer.step_time_s * 1.1},
        {*answer.tps_per_gpu * 0.9, *answer.tps_per_gpu * 1.1}, {*answer.memory_gib - 1, *answer.memory_gib + 1}};
    answer.time_by_part[Part::compute] = *answer.step_time_s * 0.75;
    answer.time_by_part[Part::tp] = *answer.step_time_s * 0.25;
    answer.time_hidden[Part::dp] = *answer.step_time_s * 0.125;
    answer.timeline.stages = layout.pp;
    answer.timeline.length_s = *answer.step_time_s;
    const double slot = *answer.step_time_s / (2.0 * (4 + layout.pp));
    for (int stage = 0; stage < layout.pp; ++stage) {
        for (int i = 0; i < 4; ++i) {
            const double begin = slot * (stage + 2.0 * i);
            answer.timeline.spans.push_back({stage, SpanKind::forward, i, 0, begin, begin + slot});
            answer.timeline.spans.push_back({stage, SpanKind::backward, i, 0, begin + slot, begin + 2 * slot});
        }
    }
    answer.warnings = {"this answer is simple arithmetic"};
    return answer;
}

// Every tp, pp and micro-batch that the GPUs can be split into, faster the fewer of them communicate.
SearchResult fixed_search(const SearchRequest& request, const SearchObserver& observer, const std::stop_token&)
{
    SearchResult result;
    const int gpus = request.space.gpus.front();
    for (const int tp : {1, 2, 4, 8}) {
        for (const int pp : {1, 2, 4}) {
            for (const int micro_batch : {1, 2}) {
                ++result.counts.enumerated;
                FoundLayout found;
                found.candidate.tp = tp;
                found.candidate.pp = pp;
                found.candidate.dp = gpus / (tp * pp);
                found.candidate.micro_batch = static_cast<std::int16_t>(micro_batch);
                found.candidate.sharding = tp == 1 ? Sharding::parameters : Sharding::optimizer;
                found.candidate.recompute = micro_batch == 2 ? Recompute::full : Recompute::none;
                LayoutFigures& figures = found.figures;
                figures.memory_gib = 96.0 / (tp * pp) + 6.0 * micro_batch;
                figures.memory_device_gib = figures.memory_gib + 4;
                figures.fit = figures.memory_device_gib < 80 ? Fit::fits : Fit::no;
                if (figures.fit == Fit::no) {
                    ++result.counts.does_not_fit;
                    continue;
                }
                figures.step_time_s = 4 + 0.5 * tp + 0.75 * pp - 0.125 * micro_batch;
                found.seconds_per_sequence = figures.step_time_s / request.plan.training.global_batch;
                found.objective = found.weighed = request.plan.tokens_per_step() / gpus / figures.step_time_s;
                result.best.push_back(found);
                ++result.counts.evaluated;
            }
        }
    }
    std::ranges::sort(result.best, std::ranges::greater(), &FoundLayout::weighed);
    ParetoFront front;
    for (std::size_t i = 0; i < result.best.size(); ++i) {
        result.best[i].place = static_cast<int>(i) + 1;
        front.add(result.best[i]);
    }
    result.pareto = front.sorted();
    observer.found(result.best);
    result.seconds = 0.125;
    return result;
}

} // namespace

int main(int argc, char** argv)
{
    tui::TuiOptions options;
    options.predict = fixed_answer;
    options.find = fixed_search;
    options.gives_advice = false; // it would be the engine's
    if (argc > 1)
        options.plan = argv[1];
    const Expected<void> outcome = tui::run_tui(options);
    if (!outcome)
        std::fprintf(stderr, "%s\n", outcome.error().line().c_str());
    return outcome ? 0 : outcome.error().exit_status();
}
