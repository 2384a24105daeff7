// SPDX-License-Identifier: GPL-3.0-or-later
// The model's ends: embedding, vocabulary head and loss.
#include "core/program/layer_operations.h"

#include "core/program/plain_forms.h"

namespace fourfold {
namespace {

// A collective over the tp ranks outside the layers.
Operation tp_operation(const char* name, Phase phase, CollectiveKind kind, double bytes)
{
    return {.name = name,
        .phase = phase,
        .part = Part::tp,
        .in_layer = false,
        .work = Collective{.kind = kind, .group = GroupKind::tp, .bytes = bytes}};
}

Operation traffic(const char* name, Phase phase, double bytes, const char* note)
{
    return {.name = name, .phase = phase, .in_layer = false, .note = note, .work = Elementwise{.bytes = bytes}};
}

// How the hidden states of a micro-batch are summed over the ranks that each hold a part of the vocabulary.
CollectiveKind tp_sum(const ResolvedPlan& plan)
{
    return plan.training.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce;
}

} // namespace

void add_embedding_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank)
{
    const double hidden_bytes = rank.tokens * rank.hidden * rank.element_bytes;
    const double bytes = 2 * rank.tokens * rank.hidden * rank.element_bytes;
    list.push_back(traffic("embedding lookup", Phase::forward, bytes, ""));
    list.push_back(traffic("embedding gradient", Phase::backward, bytes, ""));
    if (plan.layout.tp <= 1)
        return;
    list.push_back(
        tp_operation("tp sum of the vocabulary-parallel embedding", Phase::forward, tp_sum(plan), hidden_bytes));
    if (plan.training.sequence_parallel && rank.constants[Constant::tp_embedding_gathers] > 0.5)
        list.push_back(tp_operation(
            "tp all-gather of the embedding's gradient", Phase::backward, Collective::all_gather, hidden_bytes));
}

void add_head_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank)
{
    add_product(list, plan, "vocabulary head", rank.tokens, rank.vocab / rank.tp, rank.hidden, 1, 1, 0, false, false);
    const Constants& constants = rank.constants;
    const double bytes
        = rank.tokens * rank.vocab / rank.tp * constants[Constant::cross_entropy_bytes] * rank.element_bytes / 2;
    const char* note = "logits, their fp32 copy, softmax and gradient";
    PlainForm::Of more; // than the fused form
    if (has_plain_forms(plan, rank)) {
        more = plain_forms::kLoss.of(rank.element_bytes);
        note = "not compiled: an operation for each term, over all rows at once";
    }
    const double logits = rank.tokens * rank.vocab / rank.tp;
    list.push_back(traffic("cross-entropy", Phase::forward, bytes * 0.4 + logits * more.forward, note));
    list.push_back(traffic("cross-entropy gradient", Phase::backward, bytes * 0.6 + logits * more.backward, note));
    add_gradient_accumulation(
        list, head_parameters(plan.model, rank), 1, "gradient accumulation of the head", constants, false);
    if (plan.layout.tp <= 1)
        return;
    const double hidden_bytes = rank.tokens * rank.hidden * rank.element_bytes;
    list.push_back(tp_operation("tp sum of the head's input gradient", Phase::backward, tp_sum(plan), hidden_bytes));
    if (plan.training.sequence_parallel)
        list.push_back(
            tp_operation("tp all-gather before the head", Phase::forward, Collective::all_gather, hidden_bytes));
    if (const double values = constants[Constant::tp_loss_values]; values > 0) {
        list.push_back(tp_operation(
            "tp sums of the vocabulary-parallel loss", Phase::forward, Collective::all_reduce, 4 * rank.tokens));
        list.back().note = "largest logit, sum of exponentials and the label's logit of each token, in fp32";
        list.back().repeat = values;
    }
}

} // namespace fourfold
