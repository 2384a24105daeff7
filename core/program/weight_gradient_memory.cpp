// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/weight_gradient_memory.h"

namespace fourfold {

template <typename Number>
Number layer_weight_operand_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    const Number tokens = input<Number>("tokens", rank.tokens), hidden = input<Number>("hidden", rank.hidden);
    const LayerWidths<Number> widths = layer_widths<Number>(plan, rank, moe);
    // Inputs of the first and gradients of the second product: what sequence parallelism shares out is gathered then.
    Number elements = tokens * (2 * hidden + widths.attention);
    for (const auto& [routed, width, inputs] : widths.mlps) {
        const Number rows = routed
            ? input<Number>("rows per expert", rank.expert_rows) * input<Number>("experts", rank.local_experts)
            : tokens;
        elements += rows * (2 * hidden + (1 + inputs) * width);
    }
    return elements * input<Number>("bytes", rank.element_bytes);
}

template <typename Number>
void add_weight_gradient_allocations(std::vector<AllocationOf<Number>>& list, const ResolvedPlan& plan,
    const RankShape& rank, int dense_layers, int moe_layers, bool head)
{
    if (!traits_of(plan.training.schedule).splits_backward || plan.layout.pp == 1)
        return;
    Number layers = 0.0;
    if (dense_layers > 0)
        layers += double(dense_layers)
            * part("operands of one layer", layer_weight_operand_bytes<Number>(plan, rank, false));
    if (moe_layers > 0)
        layers += double(moe_layers)
            * part("operands of one layer with experts", layer_weight_operand_bytes<Number>(plan, rank, true));
    if (value_of(layers) > 0)
        list.push_back({MemoryKind::activations, Lifetime::weight_gradient, layers, "operands of weight gradients",
            "inputs and output gradients of every product, until the weight gradient has run: Qi et al., "
            "arXiv:2401.10241"});
    if (head) {
        const Number width = input<Number>("hidden", rank.hidden)
            + input<Number>("vocabulary", rank.vocab) / input<Number>("TP", rank.tp);
        list.push_back({MemoryKind::activations, Lifetime::weight_gradient,
            input<Number>("tokens", rank.tokens) * width * input<Number>("bytes", rank.element_bytes),
            "operands of the head's weight gradient", "its input and the gradient of the logits"});
    }
}

template double layer_weight_operand_bytes(const ResolvedPlan&, const RankShape&, bool);
template Formula layer_weight_operand_bytes(const ResolvedPlan&, const RankShape&, bool);
template void add_weight_gradient_allocations(
    std::vector<Allocation>&, const ResolvedPlan&, const RankShape&, int, int, bool);
template void add_weight_gradient_allocations(
    std::vector<AllocationOf<Formula>>&, const ResolvedPlan&, const RankShape&, int, int, bool);

} // namespace fourfold
