// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/plan.h"
#include "core/stack/constants.h"

namespace fourfold {

// Of the plan's stack, on its GPU, with its kernel.
inline Constants constants_of(const ResolvedPlan& plan)
{
    const Gpu& gpu = plan.cluster.gpu;
    return {plan.stack, gpu.id, gpu.generation, plan.training.attention};
}

} // namespace fourfold
