// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/shape_rules.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr int kRowsPerBlock = 4, kTensorCoreMultiple = 8;

} // namespace

bool fused_softmax_fits(const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    if (layout.tp < 1 || layout.cp < 1 || plan.model.heads % layout.tp != 0)
        return false;
    const auto rows = std::int64_t(plan.model.heads / layout.tp) * plan.training.micro_batch;
    return rows % kRowsPerBlock == 0 && plan.training.seq_len / layout.cp % kRowsPerBlock == 0;
}

std::vector<std::string> shape_warnings(const ResolvedPlan& plan)
{
    std::vector<std::string> warnings;
    const Layout& layout = plan.layout;
    if (plan.training.attention == AttentionKernel::fused_softmax && !fused_softmax_fits(plan) && layout.tp > 0)
        warnings.push_back(
            "the fused softmax kernel needs heads / tp x micro_batch and seq_len / cp to be multiples of "
            "4, found "
            + std::to_string(plan.model.heads / layout.tp * plan.training.micro_batch) + " and "
            + std::to_string(plan.training.seq_len / std::max(1, layout.cp))
            + ": the slower unfused one runs, which this prediction does not count");
    if (plan.model.head_dim % kTensorCoreMultiple != 0)
        warnings.push_back("the head dimension " + std::to_string(plan.model.head_dim)
            + " is not a multiple of 8: attention cannot use tensor cores well");
    return warnings;
}

} // namespace fourfold
