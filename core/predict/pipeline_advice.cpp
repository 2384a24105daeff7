// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/pipeline_advice.h"

#include "core/cost/context.h"
#include "core/plan/stage_layers.h"
#include "core/schedule/schedules.h"

namespace fourfold {

std::vector<std::string> pipeline_advice(const ResolvedPlan& plan, double bubble_fraction)
{
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    std::vector<std::string> advice;
    if (layout.pp == 1)
        return advice;
    const int chunks = layout.pp * layout.virtual_stages;
    if (plan.stack.stage_split == StageSplit::equal && plan.model.layers % chunks != 0
        && layout.stage_layers == even_stage_layers(plan.model.layers, chunks))
        advice.push_back(
            text_of("%s gives every stage the same number of layers and stops where %d chunks do not divide "
                    "%d layers, unless first and last stage are set apart: write layout.stage_layers",
                plan.stack.id.c_str(), chunks, plan.model.layers));
    if (training.micro_batches < layout.pp) {
        const bool stops
            = plan.stack.pipeline_rules.fill_1f1b && traits_of(training.schedule).ends == EndsFormula::one_f_one_b;
        advice.push_back(text_of("%d micro-batches never fill a pipeline of %d stages%s", training.micro_batches,
            layout.pp, stops ? (", and " + plan.stack.id + "'s 1F1B stops with an error").c_str() : ""));
    }
    const int advised = kAdvisedMicroBatchesPerStage * layout.pp;
    if (bubble_fraction > kLargeBubble && training.micro_batches < advised)
        advice.push_back(
            text_of("the pipeline idles %.0f %% of its time: about %d micro-batches per stage, k ~ 3p = %d "
                    "(global_batch %lld), bring that to a quarter",
                bubble_fraction * 100, kAdvisedMicroBatchesPerStage, advised,
                static_cast<long long>(advised) * training.micro_batch * layout.dp));
    return advice;
}

} // namespace fourfold
