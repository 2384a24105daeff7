// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"

namespace fourfold {

Price price_host(const Operation& operation, const CostContext& context)
{
    const double value = context.constants[operation.constant];
    Price price;
    price.seconds = value * operation.m;
    if (!context.with_formulas)
        return price;
    const std::string name(info(operation.constant).name);
    if (operation.host_rule == HostRule::share)
        price.formula = text_of("%s %.4g * %.4g of the pass", name.c_str(), value, operation.m);
    else
        price.formula = text_of("%s %.4g s * %.4g = %.4g ms", name.c_str(), value, operation.m, price.seconds * 1e3);
    return price;
}

Price price(const Operation& operation, const CostContext& context)
{
    Price result;
    switch (operation.kind) {
    case OperationKind::gemm:
        result = price_gemm(operation, context);
        break;
    case OperationKind::attention:
        result = price_attention(operation, context);
        break;
    case OperationKind::elementwise:
        result = price_elementwise(operation, context);
        break;
    case OperationKind::collective:
        result = price_collective(operation, context);
        break;
    case OperationKind::send_receive:
        result = price_send_receive(operation, context);
        break;
    case OperationKind::optimizer:
        result = price_optimizer(operation, context);
        break;
    case OperationKind::host:
        result = price_host(operation, context);
        break;
    }
    const double scale = context.constants[operation.scale];
    result.seconds *= scale;
    if (context.with_formulas && scale != 1)
        result.formula += text_of(", times %s %.4g", std::string(info(operation.scale).name).c_str(), scale);
    return result;
}

} // namespace fourfold
