// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/rank_shape.h"
#include "core/plan/plan_constants.h"
#include "core/program/allocations.h"

#include <algorithm>
#include <limits>

namespace fourfold {
namespace {

double activation_bytes(Precision precision)
{
    return is_of_products(precision) ? 2 : bytes_per_element(precision);
}

// Where layers attend differently, the mean of those that attend.
void set_attention(RankShape& rank, const ModelShape& model)
{
    double weights = 0, heads = 0;
    for_each_kind(model, [&](double layers, const Rows& rows) {
        for (const Row& row : rows) {
            const auto* attention = std::get_if<AttentionRow>(&row);
            if (attention == nullptr)
                continue;
            const double weight = layers * attention->share;
            const double key_heads = std::min(rank.tp, double(attention->kv_heads));
            weights += weight;
            heads += weight * attention->heads;
            rank.query += weight * double(attention->query);
            rank.output += weight * double(attention->output);
            rank.key_local += weight * double(attention->key) / key_heads;
            rank.value_local += weight * double(attention->value) / key_heads;
        }
    });
    if (weights == 0)
        return;
    for (double* const mean : {&rank.query, &rank.output, &rank.key_local, &rank.value_local, &heads})
        *mean /= weights;
    rank.head_dim = (rank.query + rank.output) / (2 * heads);
}

} // namespace

RankShape rank_shape(const ResolvedPlan& plan)
{
    return rank_shape(plan, constants_of(plan));
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
    rank.seq_len = training.seq_len;
    rank.sequence_split = training.sequence_parallel ? layout.tp : 1;
    rank.element_bytes = activation_bytes(training.precision);
    rank.gradient_bytes = bytes_per_element(training.grad_dtype);
    rank.state_bytes = bytes_per_element(training.optimizer_state_dtype);

    rank.hidden = double(model.hidden);
    rank.vocab = double(plan.padded_vocab > 0 ? plan.padded_vocab : model.vocab);
    rank.heads = double(model.heads) / layout.tp;
    rank.mlp_inputs = model.gated() ? 2 : 1;
    rank.ffn = double(model.ffn);
    rank.cut = {rank.tp, std::min(rank.tp, double(std::max(1, model.kv_heads))), double(layout.etp)};
    set_attention(rank, model);
    if (model.experts)
        rank.moe_layer = layer_parameters(model, layer_rows(model, true), rank.cut);
    if (model.moe_layers() < model.layers)
        rank.dense_layer = layer_parameters(model, layer_rows(model, false), rank.cut);
    if (model.predicted_ahead > 0)
        rank.module_ahead = layer_parameters(model, rows_of_module(model), rank.cut);
    if (model.experts) {
        rank.local_experts = double(model.experts->count) / layout.ep;
        rank.expert_ffn = double(model.experts->ffn);
    }
    set_micro_batch(rank, plan);
    return rank;
}

void set_micro_batch(RankShape& rank, const ResolvedPlan& plan)
{
    const Layout& layout = plan.layout;
    rank.sequences = plan.training.micro_batch;
    rank.tokens = rank.sequences * plan.training.seq_len / layout.cp;
    if (const auto& experts = plan.model.experts) {
        // The work of tp ranks that share the same tokens is spread over their etp x ep experts.
        // An expert with a capacity takes no more than its places: the busiest one's tokens beyond them are dropped.
        const double places = plan.training.experts.capacity > 0 ? plan.training.experts.capacity
                                                                 : std::numeric_limits<double>::infinity();
        const double busiest = layout.ep > 1 ? 1 + rank.constants[Constant::expert_imbalance] : 1; // sets the pace
        rank.expert_rows
            = rank.tokens * experts->active * layout.etp / layout.tp / rank.local_experts * std::min(busiest, places);
        // The bundled trainer's ranks with slices of the same experts gather each other's tokens before they send them.
        const bool gathers = is_our_trainer(rank.constants) && (plan.training.sequence_parallel || layout.tp == 1);
        const double senders = gathers ? layout.etp : 1;
        rank.routed_tokens = rank.tokens / rank.sequence_split * experts->active * std::min(1.0, places) * senders;
    }
}

double normed_elements(const NormRow& norm, const RankShape& rank)
{
    switch (norm.role) {
    case Role::query_norm:
        return rank.query / rank.tp;
    case Role::key_norm:
        return rank.key_local;
    case Role::attention_post_norm:
    case Role::mlp_post_norm:
        return rank.hidden / rank.sequence_split;
    default:
        return 0;
    }
}

int key_copies(const ResolvedPlan& plan)
{
    return std::max(1, plan.layout.tp / std::max(1, plan.model.kv_heads));
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
