// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/weight_gradient_memory.h"

namespace fourfold {

double layer_weight_operand_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe)
{
    const double hidden = rank.hidden / rank.sequence_split; // inputs of the first and gradients of the second product
    const double up_products = plan.model.gated() ? 2 : 1;
    const double attention
        = 2 * hidden + (rank.query + rank.output) / rank.tp + rank.key_local + rank.value_local; // q k v gradients
    const auto mlp = [&](double width) { return (1 + up_products) * width; };
    double elements = rank.tokens * attention;
    if (moe) {
        const double rows = rank.expert_rows * rank.local_experts;
        elements += rows * (2 * rank.hidden + mlp(rank.expert_ffn / rank.expert_tp));
        if (rank.shared_ffn > 0)
            elements += rank.tokens * (2 * hidden + mlp(rank.shared_ffn / rank.tp));
    } else {
        elements += rank.tokens * (2 * hidden + mlp(rank.ffn / rank.tp));
    }
    return elements * rank.element_bytes;
}

std::vector<Allocation> weight_gradient_allocations(
    const ResolvedPlan& plan, const RankShape& rank, int dense_layers, int moe_layers, bool head)
{
    std::vector<Allocation> list;
    if (!traits_of(plan.training.schedule).splits_backward || plan.layout.pp == 1)
        return list;
    const double layers = dense_layers * layer_weight_operand_bytes(plan, rank, false)
        + moe_layers * layer_weight_operand_bytes(plan, rank, true);
    if (layers > 0)
        list.push_back({MemoryKind::activations, Lifetime::weight_gradient, layers, "operands of weight gradients",
            "inputs and output gradients of every product, until the weight gradient has run"});
    if (head)
        list.push_back({MemoryKind::activations, Lifetime::weight_gradient,
            rank.tokens * (rank.hidden / rank.sequence_split + rank.vocab / rank.tp) * rank.element_bytes,
            "operands of the head's weight gradient", "its input and the gradient of the logits"});
    return list;
}

} // namespace fourfold
