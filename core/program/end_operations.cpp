// SPDX-License-Identifier: GPL-3.0-or-later
// The model's ends: embedding, vocabulary head and loss.
#include "core/program/layer_operations.h"

namespace fourfold {
namespace {

// The hidden states of a micro-batch, summed over the ranks that each hold a part of the vocabulary.
Operation tp_sum(const ResolvedPlan& plan, const RankShape& rank)
{
    Operation join;
    join.kind = OperationKind::collective;
    join.part = Part::tp;
    join.group = GroupKind::tp;
    join.in_layer = false;
    join.bytes = rank.tokens * rank.hidden * rank.element_bytes;
    join.collective = plan.training.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce;
    return join;
}

} // namespace

void add_embedding_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank)
{
    Operation op;
    op.kind = OperationKind::elementwise;
    op.name = "embedding lookup";
    op.in_layer = false;
    op.bytes = 2 * rank.tokens * rank.hidden * rank.element_bytes;
    op.phase = Phase::forward;
    list.push_back(op);
    op.phase = Phase::backward;
    op.name = "embedding gradient";
    list.push_back(op);
    if (plan.layout.tp > 1) {
        Operation join = tp_sum(plan, rank);
        join.name = "tp sum of the vocabulary-parallel embedding";
        join.phase = Phase::forward;
        list.push_back(join);
        if (plan.training.sequence_parallel && rank.constants[Constant::tp_embedding_gathers] > 0.5) {
            join.collective = Collective::all_gather;
            join.name = "tp all-gather of the embedding's gradient";
            join.phase = Phase::backward;
            list.push_back(join);
        }
    }
}

void add_head_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank)
{
    add_product(list, plan, "vocabulary head", rank.tokens, rank.vocab / rank.tp, rank.hidden, 1, 1, 0, false, false);
    const Constants& constants = rank.constants;
    Operation loss;
    loss.kind = OperationKind::elementwise;
    loss.name = "cross-entropy";
    loss.note = "logits, their fp32 copy, softmax and gradient";
    loss.in_layer = false;
    const double bytes
        = rank.tokens * rank.vocab / rank.tp * constants[Constant::cross_entropy_bytes] * rank.element_bytes / 2;
    loss.phase = Phase::forward;
    loss.bytes = bytes * 0.4;
    list.push_back(loss);
    loss.phase = Phase::backward;
    loss.bytes = bytes * 0.6;
    loss.name = "cross-entropy gradient";
    list.push_back(loss);
    add_gradient_accumulation(
        list, head_parameters(plan.model, rank), 1, "gradient accumulation of the head", constants, false);
    if (plan.layout.tp > 1) {
        Operation join = tp_sum(plan, rank);
        join.phase = Phase::backward;
        join.name = "tp sum of the head's input gradient";
        list.push_back(join);
        if (plan.training.sequence_parallel) {
            join.phase = Phase::forward;
            join.collective = Collective::all_gather;
            join.name = "tp all-gather before the head";
            list.push_back(join);
        }
        if (const double values = constants[Constant::tp_loss_values]; values > 0) {
            join.phase = Phase::forward;
            join.collective = Collective::all_reduce;
            join.name = "tp sums of the vocabulary-parallel loss";
            join.note = "largest logit, sum of exponentials and the label's logit of each token, in fp32";
            join.bytes = 4 * rank.tokens;
            join.repeat = values;
            list.push_back(join);
        }
    }
}

} // namespace fourfold
