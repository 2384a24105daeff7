// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"

#include <algorithm>

namespace fourfold {

Price price_elementwise(const Elementwise& pass, const CostContext& context)
{
    const double efficiency = context.constants[pass.efficiency];
    Price price;
    price.seconds
        = std::max(pass.bytes / (context.memory_bytes_s * efficiency), context.constants[Constant::kernel_floor_s]);
    if (!context.with_formulas)
        return price;
    price.source = price_source("memory bandwidth of the data sheet", {pass.efficiency});
    price.formula = text_of("%.4g MB / (%.0f GB/s * %.3f) = %.4g ms", pass.bytes / 1e6, context.memory_bytes_s / 1e9,
        efficiency, price.seconds * 1e3);
    return price;
}

Price price_optimizer(const OptimizerUpdate& update, const CostContext& context)
{
    const double efficiency = context.constants[Constant::optimizer_efficiency];
    Price price;
    price.seconds = update.bytes / (context.memory_bytes_s * efficiency);
    if (!context.with_formulas)
        return price;
    price.source = price_source(
        "", {Constant::optimizer_shard_bytes, Constant::optimizer_local_bytes, Constant::optimizer_efficiency});
    price.formula = text_of("%.4g GB of states / (%.0f GB/s * %.3f) = %.4g ms", update.bytes / 1e9,
        context.memory_bytes_s / 1e9, efficiency, price.seconds * 1e3);
    return price;
}

Usage usage_of_optimizer(const OptimizerUpdate& update, const CostContext& context)
{
    Usage usage;
    usage[Limit::memory] = update.least_bytes / context.limit_bytes_s;
    return usage;
}

} // namespace fourfold
