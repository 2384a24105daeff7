// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/operation.h"

namespace fourfold {

double flops(const Gemm& product)
{
    return 2 * product.m * product.n * product.k * product.batch;
}

double flops(const Attention& attention, Phase phase)
{
    const double forward = 4 * attention.queries * attention.keys * attention.head_dim * attention.batch
        * (attention.causal ? 0.5 : 1.0);
    if (phase != Phase::backward)
        return forward;
    return forward * (attention.fused ? 2.5 : 2.0);
}

double Operation::flops() const
{
    if (const Gemm* product = as<Gemm>())
        return fourfold::flops(*product);
    const Attention* attention = as<Attention>();
    return attention != nullptr ? fourfold::flops(*attention, phase) : 0;
}

} // namespace fourfold
