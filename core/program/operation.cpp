// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/operation.h"

namespace fourfold {

std::string_view name(Part part)
{
    switch (part) {
    case Part::compute:
        return "compute";
    case Part::recompute:
        return "recompute";
    case Part::tp:
        return "tp";
    case Part::cp:
        return "cp";
    case Part::pp:
        return "pp";
    case Part::dp:
        return "dp";
    case Part::ep:
        return "ep";
    case Part::bubble:
        return "bubble";
    case Part::optimizer:
        return "optimizer";
    case Part::other:
        return "other";
    }
    return "other";
}

double Operation::flops() const
{
    switch (kind) {
    case OperationKind::gemm:
        return 2 * m * n * k * batch;
    case OperationKind::attention: {
        const double forward = 4 * m * k * n * batch * (causal ? 0.5 : 1.0);
        if (phase != Phase::backward)
            return forward;
        return forward * (flash ? 2.5 : 2.0);
    }
    default:
        return 0;
    }
}

} // namespace fourfold
