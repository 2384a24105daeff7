// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"

namespace fourfold {

Price price_host(const HostCost& cost, const CostContext& context)
{
    const double value = context.constants[cost.constant];
    Price price;
    price.seconds = value * cost.times;
    if (!context.with_formulas)
        return price;
    price.source = price_source("", {cost.constant});
    const std::string name(info(cost.constant).name);
    if (cost.rule == HostRule::share)
        price.formula = text_of("%s %.4g * %.4g of the pass", name.c_str(), value, cost.times);
    else
        price.formula = text_of("%s %.4g s * %.4g = %.4g ms", name.c_str(), value, cost.times, price.seconds * 1e3);
    return price;
}

std::string price_source(std::string_view data, std::initializer_list<Constant> constants)
{
    std::string source(data);
    source += source.empty() ? "stack constant" : "; stack constant";
    source += constants.size() > 1 ? "s" : "";
    const char* before = " ";
    for (const Constant constant : constants) {
        source += before;
        source += info(constant).name;
        before = ", ";
    }
    return source;
}

namespace {

// By all cores of the rank, where that takes less.
void share_among_cores(Price& price, const CostContext& context)
{
    const double start = context.constants[Constant::thread_start_s];
    const double shared = price.seconds / context.core_speedup + start;
    if (shared >= price.seconds)
        return;
    price.seconds = shared;
    if (context.with_formulas)
        price.formula += text_of(", by several cores / %.3g + thread_start_s %.3g us = %.4g ms", context.core_speedup,
            start * 1e6, shared * 1e3);
}

// Work that OpenMP deals out to a rank's cores.
bool is_dealt_out(const Operation& operation)
{
    return operation.is<Gemm>() || operation.is<Attention>() || operation.is<Elementwise>()
        || operation.is<OptimizerUpdate>();
}

} // namespace

Price price(const Operation& operation, const CostContext& context)
{
    Price result = std::visit(PriceOfWork{operation.phase, context}, operation.work);
    if (context.core_speedup > 1 && is_dealt_out(operation))
        share_among_cores(result, context);
    const double scale = context.constants[operation.scale];
    result.seconds *= scale;
    if (context.with_formulas && scale != 1)
        result.formula += text_of(", times %s %.4g", std::string(info(operation.scale).name).c_str(), scale);
    return result;
}

} // namespace fourfold
