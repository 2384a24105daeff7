// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"

#include <algorithm>

namespace fourfold {

Price price_elementwise(const Operation& operation, const CostContext& context)
{
    const double efficiency = context.constants[operation.efficiency];
    Price price;
    price.seconds = std::max(
        operation.bytes / (context.memory_bytes_s * efficiency), context.constants[Constant::kernel_floor_s]);
    if (context.with_formulas)
        price.formula = text_of("%.4g MB / (%.0f GB/s * %.3f) = %.4g ms", operation.bytes / 1e6,
            context.memory_bytes_s / 1e9, efficiency, price.seconds * 1e3);
    return price;
}

Price price_optimizer(const Operation& operation, const CostContext& context)
{
    const double efficiency = context.constants[Constant::optimizer_efficiency];
    Price price;
    price.seconds = operation.bytes / (context.memory_bytes_s * efficiency);
    if (context.with_formulas)
        price.formula = text_of("%.4g GB of states / (%.0f GB/s * %.3f) = %.4g ms", operation.bytes / 1e9,
            context.memory_bytes_s / 1e9, efficiency, price.seconds * 1e3);
    return price;
}

} // namespace fourfold
