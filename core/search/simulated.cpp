// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/prediction.h"
#include "core/search/evaluator.h"

namespace fourfold {

Evaluation evaluate_by_simulation(const ResolvedPlan& plan)
{
    Evaluation evaluation;
    const Prediction prediction = predict(plan);
    if (prediction.memory_gib)
        evaluation.figures.memory_gib = *prediction.memory_gib;
    if (prediction.memory_device_gib)
        evaluation.figures.memory_device_gib = *prediction.memory_device_gib;
    evaluation.figures.fit = prediction.fit;
    for (const Reason& reason : prediction.reasons) {
        if (reason.code == "memory")
            continue;
        evaluation.code = reason.code;
        evaluation.message = reason.message;
        return evaluation;
    }
    if (prediction.step_time_s)
        evaluation.figures.step_time_s = *prediction.step_time_s;
    evaluation.outcome = prediction.fit == Fit::no ? Outcome::does_not_fit : Outcome::evaluated;
    return evaluation;
}

} // namespace fourfold
