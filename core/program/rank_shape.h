// SPDX-License-Identifier: GPL-3.0-or-later
// The sizes that one rank sees after tensor, context and expert parallelism have cut the model.
#pragma once

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
    double key = 0, value = 0; // width of all keys / values, whole model
    double key_local = 0, value_local = 0; // on this rank (KV heads are copied when TP exceeds them)
    double output = 0; // width of the attention output, whole model
    double head_dim = 0; // mean of query-key and value head size
    double ffn = 0;
    double mlp_inputs = 2; // 2 for a gated MLP (gate and up), 1 otherwise

    // MoE: rows of tokens that the local experts process in a micro-batch, per local expert.
    double local_experts = 0, expert_rows = 0, expert_ffn = 0, expert_tp = 1;
    double routed_tokens = 0; // token copies that this rank sends to experts
    double shared_ffn = 0;
};

RankShape rank_shape(const ResolvedPlan& plan);
// How many tp ranks hold the same key and value heads.
int key_copies(const ResolvedPlan& plan);
// `constants`: of the plan's stack on its GPU, looked up already.
RankShape rank_shape(const ResolvedPlan& plan, const Constants& constants);

// Parameters of parts of the model on one rank.
double attention_parameters(const ModelShape& model, const RankShape& rank); // matrices only
double mlp_parameters(const RankShape& rank); // dense MLP, matrices only
double expert_parameters(const ModelShape& model, const RankShape& rank); // all local routed experts of a layer
double shared_expert_parameters(const ModelShape& model, const RankShape& rank); // shared experts and router
double norm_and_bias_parameters(const ModelShape& model, const RankShape& rank, bool moe); // of one layer
// Of a layer's, those that every tp rank holds whole: norms, and the biases of what is summed over tp.
double replicated_parameters(const ModelShape& model, const RankShape& rank);
// Of a layer's, keys and values with their biases.
double key_value_parameters(const ModelShape& model, const RankShape& rank);
double embedding_parameters(const ModelShape& model, const RankShape& rank); // input side
double head_parameters(const ModelShape& model, const RankShape& rank); // output matrix and final norm

} // namespace fourfold
