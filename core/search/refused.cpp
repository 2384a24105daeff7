// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/refused.h"

#include "core/plan/trainable.h"
#include "core/predict/pipeline_advice.h"

namespace fourfold {

StackRefusals::StackRefusals(const ResolvedPlan& base)
    : is_trainer_(is_of_trainer(base))
{
    if (is_trainer_) {
        for (const Reason& reason : trainer_limits(base))
            of_base_.insert(reason.code);
    }
}

bool StackRefusals::refuses(const ResolvedPlan& plan) const
{
    return stack_stops(plan) || !trainer_refusal(plan).empty();
}

std::string StackRefusals::why(const ResolvedPlan& plan) const
{
    const std::vector<std::string> words = stack_stop_words(plan);
    return words.empty() ? trainer_refusal(plan) : words.front();
}

std::string StackRefusals::trainer_refusal(const ResolvedPlan& plan) const
{
    if (!is_trainer_)
        return {};
    for (const Reason& reason : trainer_limits(plan)) {
        if (!of_base_.contains(reason.code))
            return reason.message;
    }
    return {};
}

} // namespace fourfold
