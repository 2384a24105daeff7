// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/rank_shape.h"

#include <algorithm>

namespace fourfold {
namespace {

double activation_bytes(Precision precision)
{
    // fp8 training keeps activations and weights in bf16; only the operands of products are cast.
    return precision == Precision::fp8 ? 2 : bytes_per_element(precision);
}

} // namespace

RankShape rank_shape(const ResolvedPlan& plan)
{
    return rank_shape(plan, Constants(plan.stack, plan.cluster.gpu.id));
}

RankShape rank_shape(const ResolvedPlan& plan, const Constants& constants)
{
    const ModelShape& model = plan.model;
    const Training& training = plan.training;
    const Layout& layout = plan.layout;
    RankShape rank;
    rank.constants = constants;
    rank.tp = layout.tp;
    rank.cp = layout.cp;
    rank.sequences = training.micro_batch;
    rank.seq_len = training.seq_len;
    rank.tokens = double(training.micro_batch) * training.seq_len / layout.cp;
    rank.sequence_split = training.sequence_parallel ? layout.tp : 1;
    rank.element_bytes = activation_bytes(training.precision);
    rank.gradient_bytes = bytes_per_element(training.grad_dtype);
    rank.state_bytes = bytes_per_element(training.optimizer_state_dtype);

    rank.hidden = double(model.hidden);
    rank.vocab = double(plan.padded_vocab > 0 ? plan.padded_vocab : model.vocab);
    rank.heads = double(model.heads) / layout.tp;
    rank.mlp_inputs = model.gated() ? 2 : 1;
    rank.ffn = double(model.ffn);
    if (model.latent) {
        const double key_dim = double(model.latent->nope_head_dim + model.latent->rope_head_dim);
        const auto value_dim = double(model.latent->value_head_dim);
        rank.query = model.heads * key_dim;
        rank.key = model.heads * key_dim;
        rank.value = model.heads * value_dim;
        rank.output = model.heads * value_dim;
        rank.head_dim = (key_dim + value_dim) / 2;
        rank.key_local = rank.key / layout.tp;
        rank.value_local = rank.value / layout.tp;
    } else {
        rank.head_dim = double(model.head_dim);
        rank.query = rank.output = model.heads * rank.head_dim;
        rank.key = rank.value = model.kv_heads * rank.head_dim;
        rank.key_local = rank.value_local = std::max(double(model.kv_heads) / layout.tp, 1.0) * rank.head_dim;
    }
    if (model.experts) {
        const double sequence_tokens = rank.tokens / rank.sequence_split;
        rank.local_experts = double(model.experts->count) / layout.ep;
        rank.expert_tp = layout.etp;
        rank.expert_ffn = double(model.experts->ffn);
        rank.shared_ffn = double(model.experts->ffn) * model.experts->shared;
        // The work of tp ranks that share the same tokens is spread over their etp x ep experts.
        rank.expert_rows = rank.tokens * model.experts->active * layout.etp / layout.tp / rank.local_experts;
        if (layout.ep > 1) // the busiest rank sets the pace
            rank.expert_rows *= 1 + rank.constants[Constant::expert_imbalance];
        rank.routed_tokens = sequence_tokens * model.experts->active;
    }
    return rank;
}

int key_copies(const ResolvedPlan& plan)
{
    return plan.model.latent ? 1 : std::max(1, plan.layout.tp / std::max(1, plan.model.kv_heads));
}

double attention_parameters(const ModelShape& model, const RankShape& rank)
{
    if (!model.latent) {
        return rank.hidden * (rank.query / rank.tp + rank.key_local + rank.value_local)
            + rank.output / rank.tp * rank.hidden;
    }
    const LatentAttention& latent = *model.latent;
    const auto q_rank = double(latent.q_rank), kv_rank = double(latent.kv_rank);
    const double queries
        = q_rank > 0 ? rank.hidden * q_rank + q_rank * rank.query / rank.tp : rank.hidden * rank.query / rank.tp;
    const double keys = rank.hidden * (kv_rank + double(latent.rope_head_dim))
        + kv_rank * model.heads * double(latent.nope_head_dim + latent.value_head_dim) / rank.tp;
    return queries + keys + rank.output / rank.tp * rank.hidden;
}

double mlp_parameters(const RankShape& rank)
{
    return (rank.mlp_inputs + 1) * rank.hidden * rank.ffn / rank.tp;
}

double expert_parameters(const ModelShape& model, const RankShape& rank)
{
    return model.experts ? rank.local_experts * (rank.mlp_inputs + 1) * rank.hidden * rank.expert_ffn / rank.expert_tp
                         : 0;
}

double shared_expert_parameters(const ModelShape& model, const RankShape& rank)
{
    if (!model.experts)
        return 0;
    return (rank.mlp_inputs + 1) * rank.hidden * rank.shared_ffn / rank.tp + rank.hidden * model.experts->count;
}

double norm_and_bias_parameters(const ModelShape& model, const RankShape& rank, bool moe)
{
    double elements = replicated_parameters(model, rank);
    if (model.qkv_bias || model.linear_bias)
        elements += rank.query / rank.tp + rank.key_local + rank.value_local;
    if (model.linear_bias && !moe)
        elements += rank.mlp_inputs * rank.ffn / rank.tp;
    return elements;
}

double replicated_parameters(const ModelShape& model, const RankShape& rank)
{
    double elements = 2 * rank.hidden * (model.norm == Norm::layer ? 2 : 1);
    if (model.latent)
        elements += double(model.latent->q_rank + model.latent->kv_rank);
    if (model.linear_bias)
        elements += 2 * rank.hidden;
    return elements;
}

double key_value_parameters(const ModelShape& model, const RankShape& rank)
{
    const double inputs = rank.hidden + (model.qkv_bias || model.linear_bias ? 1 : 0);
    return (rank.key_local + rank.value_local) * inputs;
}

double embedding_parameters(const ModelShape& model, const RankShape& rank)
{
    double elements = rank.vocab * rank.hidden / rank.tp;
    if (model.positions == Positions::learned)
        elements += double(model.max_positions) * rank.hidden;
    if (model.embedding_norm)
        elements += 2 * rank.hidden;
    return elements;
}

double head_parameters(const ModelShape& model, const RankShape& rank)
{
    return rank.vocab * rank.hidden / rank.tp + rank.hidden * (model.norm == Norm::layer ? 2 : 1);
}

} // namespace fourfold
