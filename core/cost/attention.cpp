// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/prices.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

// FlashAttention-2 issues Ampere's matrix instructions. An H100 runs those at 0.65 of its peak: per multiprocessor
// their rate is what it is on an H100, and the share of the peak rises towards 1 / 0.65 on slower multiprocessors.
constexpr double kAmpereInstructionShare = 0.65;

// FlashAttention and its Triton version over FlashAttention-2: "around 2x" slower (Dao, arXiv:2307.08691, abstract).
constexpr double kFirstFlashShare = 0.5;

// Matrix rate of the kernel as a share of the peak, over that of FlashAttention-2 on an H100.
double kernel_gain(const CostContext& context)
{
    const double old = std::min(1 / kAmpereInstructionShare, 1 / context.multiprocessor_ratio);
    if (context.attention == AttentionKernel::flash1)
        return old * kFirstFlashShare;
    if (context.attention == AttentionKernel::flash2)
        return old;
    return std::max(old, std::min(context.constants[Constant::attention_hopper_gain], 1 / kAmpereInstructionShare));
}

Price price_fused(const Attention& attention, Phase phase, const CostContext& context)
{
    const Constants& c = context.constants;
    const bool backward = phase == Phase::backward;
    const double half = c[Constant::attention_half_head_dim];
    // The softmax's time depends on the scores alone: the faster the products, the larger its share (special function
    // units a multiprocessor are the same from Volta to Blackwell; Blackwell Ultra has twice as many). 1 for
    // FlashAttention-2, head dimension 128, on an H100.
    const double gain = kernel_gain(context);
    const double softmax = half * gain * context.multiprocessor_ratio / context.exponential_ratio;
    const double size = gain * attention.head_dim / (attention.head_dim + softmax) * (128 + half) / 128;
    const double direction = backward ? c[Constant::attention_backward_efficiency] : 1;
    const double loss = 1 + c[Constant::attention_context_loss] * (attention.blocks - 1) / attention.blocks;
    const double share = std::min(1.0, c[Constant::attention_efficiency] * direction * size);
    const double rate = context.peak_flops * share;
    Price price;
    price.seconds = std::max(flops(attention, phase) * loss / rate, c[Constant::kernel_floor_s]);
    if (!context.with_formulas)
        return price;
    price.source = price_source("data sheet", {Constant::attention_efficiency, Constant::attention_half_head_dim});
    price.formula = text_of("%s4 s^2 d%s = %.4g TFLOP%s / (%.0f TFLOP/s * %.3f * kernel and head size %.3f) = %.4g ms",
        backward ? "2.5 * " : "", attention.causal ? " / 2" : "", flops(attention, phase) / 1e12,
        attention.blocks > 1 ? text_of(" * ring %.3f", loss).c_str() : "", context.peak_flops / 1e12,
        c[Constant::attention_efficiency] * direction, size, price.seconds * 1e3);
    return price;
}

// Two batched products forward and four backward, and the softmax's passes over the scores.
Price price_in_memory(const Attention& attention, Phase phase, const CostContext& context)
{
    const Constants& c = context.constants;
    const bool backward = phase == Phase::backward;
    const double half = c[Constant::batched_gemm_half_head_dim];
    double efficiency = c[Constant::batched_gemm_efficiency] * attention.head_dim / (attention.head_dim + half);
    const char* rule = "";
    if (std::fmod(attention.head_dim, 8) != 0) {
        efficiency = std::min(efficiency, c[Constant::unaligned_head_efficiency]);
        rule = " (head dimension not divisible by 8)";
    } else if (attention.head_dim == 128 && c[Constant::head_dim_128_efficiency] > 0) {
        efficiency = c[Constant::head_dim_128_efficiency];
        rule = " (head dimension 128)";
    }
    const double products = flops(attention, phase) / (context.peak_flops * efficiency);
    const double passes = c[Constant::softmax_passes] * (backward ? 1.5 : 1.0);
    const double scores = attention.score_bytes * passes / (context.memory_bytes_s * c[Constant::stream_efficiency]);
    Price price;
    price.seconds = std::max(products + scores, c[Constant::kernel_floor_s]);
    if (!context.with_formulas)
        return price;
    price.source = price_source("data sheet", {Constant::batched_gemm_efficiency, Constant::softmax_passes});
    price.formula = text_of("%.4g TFLOP / (%.0f TFLOP/s * %.4f%s) + %.1f passes * %.4g MB / %.0f GB/s = %.4g ms",
        flops(attention, phase) / 1e12, context.peak_flops / 1e12, efficiency, rule, passes,
        attention.score_bytes / 1e6, context.memory_bytes_s * c[Constant::stream_efficiency] / 1e9,
        price.seconds * 1e3);
    return price;
}

} // namespace

Price price_attention(const Attention& attention, Phase phase, const CostContext& context)
{
    return attention.fused ? price_fused(attention, phase, context) : price_in_memory(attention, phase, context);
}

Usage usage_of_attention(const Attention& attention, Phase phase, const CostContext& context)
{
    Usage usage;
    Attention half = attention;
    half.causal = true;
    usage[Limit::compute] = flops(half, phase) / context.limit_flops;
    // Queries and output, backward with their gradients; heads may share keys and values.
    usage[Limit::memory] = (phase == Phase::backward ? 4 : 2) * attention.queries * attention.head_dim * attention.batch
        * context.operand_bytes / context.limit_bytes_s;
    return usage;
}

} // namespace fourfold
