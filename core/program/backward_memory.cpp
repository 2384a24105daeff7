// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/backward_memory.h"

#include "core/program/allocations.h"
#include "core/program/recompute.h"

namespace fourfold {

// Moments of a layer's backward pass, from its end, in elements of a token on this rank.
template <typename Number>
Number backward_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    const Number hidden = input<Number>("hidden", rank.hidden), element = input<Number>("bytes", rank.element_bytes);
    const Number stream = hidden / input<Number>("TP", rank.sequence_split); // the gradient that passes all layers
    const bool gathers = rank.sequence_split > 1;
    const bool pieces = in_pieces(plan);
    Number entering = 0.0, leaving = 0.0; // of the MLP: into its activation, out of it
    for (const auto& [routed, width, inputs] : layer_widths<Number>(plan, rank, moe).mlps) {
        const Number own = routed
            ? input<Number>("rows per token", rank.expert_rows * rank.local_experts / rank.tokens) * width
            : width;
        entering += inputs * own;
        leaving += own;
    }
    const Number gathered = gathers ? hidden : Number(0.0);
    const auto rounded = [&](const Number& elements) -> Number {
        return is_of_products(plan.training.precision) ? elements / element : Number(0.0);
    };
    // The last product: the gradient of its output as a whole (and in pieces, as it came: of two ranks there is one,
    // which comes where it belongs), that of its input, and both operands of the weight's gradient.
    const Number last
        = gathered + leaving + larger(rounded(hidden + leaving), pieces && rank.tp > 2 ? gathered : Number(0.0));
    // The activation: its output is gone, the gradients of its inputs come, or take their place.
    const bool in_place = makes_inputs_again(plan, rank);
    const Number activation = in_place ? Number(0.0) : entering;
    // The first products: the activation's inputs are gone; their input is gathered once more, and its gradient is
    // summed up over the ranks.
    const Number sums = rank.tp > 1 ? hidden + stream : (rank.mlp_inputs > 1 ? 2.0 : 1.0) * hidden;
    // Repeated operation by operation, what was gathered for both of a layer's first products stays until their turn.
    const bool stays = gathers && !pieces && plan.training.recompute == Recompute::selective
        && plan.training.recompute_parts.contains(RecomputePart::operations);
    const Number first
        = (stays ? Number(0.0) : gathered) + sums + rounded(hidden + entering) - (in_place ? Number(0.0) : leaving);
    Number most = larger(last, larger(activation, first));
    if (stays)
        most += 2 * (hidden - stream);
    if (moe) { // what multiplies the experts' outputs by the router's weights gives two gradients in fp32
        constexpr double kExact = 4;
        most = larger(most,
            2 * kExact / element * input<Number>("routed tokens", rank.routed_tokens)
                / input<Number>("tokens", rank.tokens) * hidden);
    }
    const Number slopes = input<Number>("tokens", rank.tokens) * element * (stream + most);
    if (plan.cluster.gpu.is_cpu() && !reduced_each_micro_batch(plan) && !plan.training.optimizer_in_backward)
        return slopes; // products add to the sums of gradients
    return slopes + element * input<Number>("one matrix of a layer", rank.hidden * rank.ffn / rank.tp);
}

template double backward_bytes(const ResolvedPlan&, const RankShape&, bool);
template Formula backward_bytes(const ResolvedPlan&, const RankShape&, bool);

} // namespace fourfold
