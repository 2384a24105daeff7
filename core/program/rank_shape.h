// SPDX-License-Identifier: GPL-3.0-or-later
// The sizes that one rank sees after tensor, context and expert parallelism have cut the model.
#pragma once

#include "core/model/layer.h"
#include "core/plan/plan.h"
#include "core/stack/constants.h"

namespace fourfold {

// Elements unless said otherwise. Quotients stay real numbers: a layout that does not divide still has a memory.
struct RankShape {
    Constants constants; // of the plan's stack on its GPU
    double tokens = 0; // of one micro-batch on this rank (after CP, before sequence parallelism)
    double sequences = 0; // of one micro-batch
    double seq_len = 0; // whole sequence
    double tp = 1, cp = 1;
    double sequence_split = 1; // sequence parallelism divides norms and residuals by this
    double element_bytes = 2; // of activations and weights in compute
    double gradient_bytes = 4; // of the accumulated gradients
    double state_bytes = 4; // of one optimizer state

    double hidden = 0, vocab = 0; // vocab padded, whole
    double heads = 0; // per rank
    double query = 0; // width of all queries, whole model
    double key_local = 0, value_local = 0; // width of the keys / values on this rank (copied when TP exceeds KV heads)
    double output = 0; // width of the attention output, whole model
    double head_dim = 0; // mean of query-key and value head size
    double ffn = 0;
    double mlp_inputs = 2; // 2 for a gated MLP (gate and up), 1 otherwise

    // MoE: rows of tokens that the local experts process in a micro-batch, per local expert.
    double local_experts = 0, expert_rows = 0, expert_ffn = 0;
    double routed_tokens = 0; // token copies that this rank sends to experts

    Cut cut; // of the layers
    LayerParameters dense_layer, moe_layer; // of those that the model has
    LayerParameters module_ahead; // of a module that predicts further ahead, its own experts apart as in a layer
    [[nodiscard]] const LayerParameters& layer(bool moe) const { return moe ? moe_layer : dense_layer; }
    // Matrices of a layer: all local experts, the router and the shared ones among them.
    [[nodiscard]] double matrices(bool moe) const { return layer(moe).matrices(local_experts); }
    [[nodiscard]] double experts() const { return local_experts * (moe_layer.expert + moe_layer.expert_vectors); }
};

RankShape rank_shape(const ResolvedPlan& plan);
// Elements of a token that a norm beyond the two of every layer sees on this rank; 0 for those two.
double normed_elements(const NormRow& norm, const RankShape& rank);
// How many tp ranks hold the same key and value heads.
int key_copies(const ResolvedPlan& plan);
// `constants`: of the plan's stack on its GPU, looked up already.
RankShape rank_shape(const ResolvedPlan& plan, const Constants& constants);
// The same layout with the plan's micro-batch.
void set_micro_batch(RankShape& rank, const ResolvedPlan& plan);

// Parameters of the model's ends on one rank.
double embedding_parameters(const ModelShape& model, const RankShape& rank); // input side
double head_parameters(const ModelShape& model, const RankShape& rank); // output matrix and final norm

} // namespace fourfold
