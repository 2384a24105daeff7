// SPDX-License-Identifier: GPL-3.0-or-later
// What occupies a GPU's memory, and for how long. Number: double, or Formula where the sizes are explained.
#pragma once

#include "core/program/build.h"
#include "core/program/formula.h"
#include "core/program/operation.h"
#include "core/program/rank_shape.h"
#include "core/program/sharding_operations.h"

namespace fourfold {

// Whether a stack is the bundled trainer, of which more is known than of others: theirs is in what their constants were
// fitted to.
inline bool is_our_trainer(const Constants& constants)
{
    return constants[Constant::gradient_buffers] > 0;
}

// Whether products keep no input of their own where it follows from what is kept anyway, outputs of norms and
// activations: the bundled trainer makes them again on CPUs (runner/trainer/model/fused_products.h).
inline bool makes_inputs_again(const ResolvedPlan& plan, const RankShape& rank)
{
    return is_our_trainer(rank.constants) && plan.cluster.gpu.is_cpu() && plan.training.compile && plan.layout.tp == 1
        && plan.training.precision == Precision::fp32;
}

// Of a layer on one rank, per token: what its rows keep between their products.
template <typename Number = double>
struct LayerWidths {
    Number attention = 0.0; // queries, keys, values and output
    Number norms = 0.0; // inputs of norms beyond the two of every layer
    struct Mlp {
        bool routed = false; // per token that an expert gets
        Number width = 0.0; // of each input, and of the output
        double inputs = 1;
    };
    std::vector<Mlp> mlps;
};
template <typename Number>
LayerWidths<Number> layer_widths(const ResolvedPlan& plan, const RankShape& rank, bool moe);

// Lifetime::step: weights, gradients, optimizer states, buffers of fully sharded units, library workspaces.
template <typename Number = double>
std::vector<AllocationOf<Number>> state_allocations(
    const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters);

// One micro-batch of a chunk: kept activations, recomputation workspace, logits, and the operands of weight gradients
// (core/program/weight_gradient_memory.h).
template <typename Number = double>
std::vector<AllocationOf<Number>> chunk_allocations(
    const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape);

// Bytes of activations that one layer keeps without recomputation (Korthikanti et al., arXiv:2205.05198, table 2, with
// GQA, gated MLP and fused attention: 2 M (4 h / sp + (2 q + 2 kv + 3 f) / tp)).
template <typename Number = double>
Number layer_activation_bytes(const ResolvedPlan& plan, const RankShape& rank, bool moe);

// Of these `layer` bytes, those that selective recomputation frees.
template <typename Number = double>
Number freed_selectively(const ResolvedPlan& plan, const RankShape& rank, bool moe, const Number& layer);

// Bytes of the logits at the loss, with their copy and gradient.
template <typename Number = double>
Number logits_bytes(const ResolvedPlan& plan, const RankShape& rank);

// Bytes of what passes from layer to layer.
template <typename Number = double>
Number layer_input_bytes(const RankShape& rank);

} // namespace fourfold
