// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/shape_rules.h"

#include "core/base/text.h"
#include "core/program/block_attention.h"

#include <algorithm>
#include <cmath>

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
    if (std::string warning = capacity_warning(plan); !warning.empty())
        warnings.push_back(std::move(warning));
    return warnings;
}

std::string attention_warning(const ResolvedPlan& plan)
{
    const char* const what = without_fused_attention(plan);
    if (what == nullptr)
        return {};
    return std::string("no fused attention of LibTorch takes ") + what
        + ": the trainer computes it block by block, which takes several times as long and is counted so";
}

std::string capacity_warning(const ResolvedPlan& plan)
{
    const ExpertSettings& settings = plan.training.experts;
    if (!plan.model.experts || !(settings.capacity > 0) || plan.layout.cp < 1 || plan.layout.tp < 1)
        return {};
    const Experts& experts = *plan.model.experts;
    const double split = plan.layout.cp * (plan.training.sequence_parallel ? plan.layout.tp : 1.0);
    const double tokens = settings.capacity_of == CapacityOf::sequence
        ? plan.training.seq_len
        : double(plan.training.seq_len) * plan.training.micro_batch / split;
    const double choices = tokens * experts.active, places = std::ceil(settings.capacity * choices / experts.count);
    const double dropped = 1 - places * experts.count / choices;
    constexpr double kWorthSaying = 0.005, kNearlyAll = 0.9;
    if (!(dropped > kWorthSaying))
        return {};
    return text_of(
        "training.experts.capacity %g: an expert has %.0f place%s where even routing sends it %.1f tokens of "
        "a %s: %s%.1f %% of the tokens' choices are dropped at least",
        settings.capacity, places, places == 1 ? "" : "s", choices / experts.count,
        settings.capacity_of == CapacityOf::sequence ? "sequence" : "rank", dropped > kNearlyAll ? "nearly all, " : "",
        dropped * 100);
}

} // namespace fourfold
