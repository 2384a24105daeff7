// SPDX-License-Identifier: GPL-3.0-or-later
// The planner in a terminal with an answer that no calibration changes, for screens that are compared cell by cell: the
// figures follow from the degrees by simple arithmetic.
#include "app/tui/tui.h"

#include <cstdio>

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

} // namespace

int main(int argc, char** argv)
{
    tui::TuiOptions options;
    options.predict = fixed_answer;
    options.gives_advice = false; // it would be the engine's
    if (argc > 1)
        options.plan = argv[1];
    const Expected<void> outcome = tui::run_tui(options);
    if (!outcome)
        std::fprintf(stderr, "%s\n", outcome.error().line().c_str());
    return outcome ? 0 : outcome.error().exit_status();
}
