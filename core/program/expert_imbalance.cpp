// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/expert_imbalance.h"

#include "core/plan/plan_constants.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace fourfold {

double expert_imbalance_at(const ResolvedPlan& plan, double quantile)
{
    if (!plan.model.experts || plan.layout.ep <= 1)
        return 0;
    double most = plan.layout.ep - 1.0;
    if (const double capacity = plan.training.experts.capacity; capacity > 0)
        most = std::clamp(capacity - 1, 0.0, most);
    return std::min(most, -constants_of(plan)[Constant::expert_imbalance] * std::log1p(-quantile));
}

ResolvedPlan with_expert_imbalance(ResolvedPlan plan, double imbalance)
{
    const std::string name(info(Constant::expert_imbalance).name);
    for (auto& [gpu, constants] : plan.stack.gpu_constants)
        constants.erase(name);
    plan.stack.constants[name] = imbalance;
    return plan;
}

} // namespace fourfold
