// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/expected_curves.h"

#include <limits>

namespace fourfold::view {

namespace {
constexpr float kNotExpected = std::numeric_limits<float>::quiet_NaN();

// Of the run as far as it got, else as it was predicted; 0 where nobody knows, and nothing stands on an axis of time.
double seconds_per_step(const RunDetail& run)
{
    if (run.steps.size() > 1 && run.steps.back().step > run.steps.front().step && run.steps.back().time_s > 0)
        return run.steps.back().time_s / (run.steps.back().step - run.steps.front().step);
    return run.summary.predicted_step_time_s.value_or(0);
}
} // namespace

std::vector<CurvePoint> loss_over_steps(const LossCurve& curve, const ResolvedPlan& plan)
{
    std::vector<CurvePoint> points;
    for (const LossPoint& point : curve.points)
        points.emplace_back(point.tokens / plan.tokens_per_step(), point.loss);
    return points;
}

std::vector<CurveRun> expected_curves(const RunDetail& run, const Presets& presets)
{
    std::vector<CurveRun> expected;
    const Expected<ResolvedPlan> plan = read_resolved(run.plan, "plan of run " + run.summary.id);
    const std::optional<Recipe> recipe = plan ? recipe_followed(*plan, presets) : std::nullopt;
    if (!recipe)
        return expected;
    const double step_s = seconds_per_step(run);
    for (const LossCurve& curve : recipe->curves) {
        CurveRun line;
        line.id = "recipe " + recipe->id + ": " + curve.name;
        line.name = "Expected: " + curve.name;
        line.plan = line.id;
        line.expected = true;
        line.training = plan->training;
        for (const auto& [step, loss] : loss_over_steps(curve, *plan)) {
            line.step.push_back(step);
            line.tokens.push_back(step * plan->tokens_per_step());
            line.seconds.push_back(step * step_s);
            for (std::size_t i = 0; i < kCurveMetrics; ++i)
                line.values[i].push_back(
                    i == static_cast<std::size_t>(CurveMetric::loss) ? static_cast<float>(loss) : kNotExpected);
        }
        if (step_s == 0)
            line.seconds.assign(line.step.size(), 0);
        expected.push_back(std::move(line));
    }
    return expected;
}

} // namespace fourfold::view
