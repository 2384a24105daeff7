// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/pipeline_advice.h"

#include "core/cost/context.h"
#include "core/plan/stage_layers.h"
#include "core/schedule/schedules.h"

namespace fourfold {

namespace {

bool splits_unequally(const ResolvedPlan& plan)
{
    const int chunks = plan.layout.pp * plan.layout.virtual_stages;
    return plan.layout.pp > 1 && plan.stack.stage_split == StageSplit::equal && plan.model.layers % chunks != 0
        && plan.layout.stage_layers == even_stage_layers(plan.model.layers, chunks);
}

bool is_never_full(const ResolvedPlan& plan)
{
    return plan.layout.pp > 1 && plan.training.micro_batches < plan.layout.pp;
}

bool stops_unless_full(const ResolvedPlan& plan)
{
    return plan.stack.pipeline_rules.fill_1f1b && traits_of(plan.training.schedule).ends == EndsFormula::one_f_one_b;
}

std::string never_full(const ResolvedPlan& plan)
{
    return text_of("%d micro-batches never fill a pipeline of %d stages", plan.training.micro_batches, plan.layout.pp);
}

} // namespace

bool stack_stops(const ResolvedPlan& plan)
{
    return splits_unequally(plan) || (is_never_full(plan) && stops_unless_full(plan));
}

std::vector<std::string> stack_stop_words(const ResolvedPlan& plan)
{
    std::vector<std::string> words;
    if (splits_unequally(plan))
        words.push_back(
            text_of("%s gives every stage the same number of layers and stops where %d chunks do not divide "
                    "%d layers, unless first and last stage are set apart: write layout.stage_layers",
                plan.stack.id.c_str(), plan.layout.pp * plan.layout.virtual_stages, plan.model.layers));
    if (is_never_full(plan) && stops_unless_full(plan))
        words.push_back(never_full(plan) + ", and " + plan.stack.id + "'s 1F1B stops with an error");
    return words;
}

std::vector<std::string> pipeline_advice(const ResolvedPlan& plan, double bubble_fraction)
{
    const Layout& layout = plan.layout;
    const Training& training = plan.training;
    std::vector<std::string> advice = stack_stop_words(plan);
    if (is_never_full(plan) && !stops_unless_full(plan))
        advice.push_back(never_full(plan));
    const int advised = kAdvisedMicroBatchesPerStage * layout.pp;
    if (layout.pp > 1 && bubble_fraction > kLargeBubble && training.micro_batches < advised)
        advice.push_back(
            text_of("the pipeline idles %.0f %% of its time: about %d micro-batches per stage, k ~ 3p = %d "
                    "(global_batch %lld), bring that to a quarter",
                bubble_fraction * 100, kAdvisedMicroBatchesPerStage, advised,
                static_cast<long long>(advised) * training.micro_batch * layout.dp));
    return advice;
}

} // namespace fourfold
