// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/plan.h"
#include "core/stack/constants.h"

namespace fourfold {

// Of the plan's stack, on its GPU, with its kernel.
inline Constants constants_of(const ResolvedPlan& plan)
{
    // Of a link's bandwidth; 25 of 32 GB/s on PCIe 4, 375 of 450 from the host on NVLink-C2C (arXiv:2408.11556).
    constexpr double kReached = 0.8;
    const Gpu& gpu = plan.cluster.gpu;
    Constants constants{plan.stack, gpu.id, gpu.generation, plan.training.attention};
    if (gpu.host_link_gb_s > 0 && !plan.stack.said_constant("host_transfer_s_per_gb", gpu.id))
        constants.set(Constant::host_transfer_s_per_gb, 1 / (kReached * gpu.host_link_gb_s));
    return constants;
}

} // namespace fourfold
