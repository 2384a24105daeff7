// SPDX-License-Identifier: GPL-3.0-or-later
// The modules that predict further ahead (DeepSeek-V3, arXiv:2412.19437, section 2.2): on the last stage, each a
// projection of the stream beside the embedding of the next token, a layer, and the head once more.
#include "core/program/modules_ahead.h"
#include "core/program/layer_operations.h"
#include "core/program/muon.h"

#include <algorithm>

namespace fourfold {

bool repeats_modules(const Training& training)
{
    return training.recompute != Recompute::none && !training.recompute_layers && training.recompute_every == 1;
}

void add_module_operations(std::vector<Operation>& list, const ResolvedPlan& plan, const RankShape& rank)
{
    const ModelShape& model = plan.model;
    const double modules = model.predicted_ahead, rows = rank.tokens / rank.sequence_split;
    const double again = repeats_modules(plan.training) && plan.training.recompute == Recompute::full ? 1 : 0;
    add_product(list, plan, "projection of a prediction module", rows, rank.hidden, 2 * rank.hidden, 1, modules, again,
        /*narrow=*/false, /*in_layer=*/true);
    constexpr double kPasses = 2 * 3 + 2 * 2; // three norms read and write; two streams are joined
    add_passes(list,
        {.name = "norms of a prediction module",
            .repeat = modules,
            .note = "of both inputs, which are laid side by side, and of the output",
            .work = Elementwise{.bytes = kPasses * rows * rank.hidden * rank.element_bytes}},
        again);
    const bool moe = model.is_moe_layer(model.layers);
    add_layer_operations(list, plan, rank, {model.predicted_ahead, moe}, repeats_modules(plan.training) ? modules : 0);
    for (int module = 0; module < model.predicted_ahead; ++module) {
        add_embedding_operations(list, plan, rank);
        add_head_operations(list, plan, rank);
    }
}

void add_module_parameters(StageParameters& sum, const ResolvedPlan& plan, const RankShape& rank)
{
    const ModelShape& model = plan.model;
    const int modules = model.predicted_ahead;
    const bool moe = model.is_moe_layer(model.layers);
    const LayerParameters& one = rank.module_ahead;
    const double dense = one.matrices(0) + one.vectors, experts = moe ? rank.experts() : 0;
    sum.layers += modules * dense;
    sum.dense += modules * dense;
    sum.experts += modules * experts;
    sum.replicated += modules * one.replicated;
    sum.keys += modules * one.keys;
    sum.layer_count += modules;
    (moe ? sum.moe_layers : sum.dense_layers) += modules;
    sum.muon += modules * muon_elements(plan, one);
    if (moe)
        sum.expert_muon += modules * muon_elements_of_experts(plan, rank);
    sum.largest_unit = std::max(sum.largest_unit, dense + experts);
    sum.largest_layer = std::max(sum.largest_layer, dense + experts);
    sum.largest_tensor = std::max(sum.largest_tensor, 2 * rank.hidden * rank.hidden);
    // The next token's embedding is looked up here as well.
    const double table = rank.vocab * rank.hidden / rank.tp;
    if (plan.layout.pp > 1 && !model.tied_embeddings)
        sum.dense += table;
}

} // namespace fourfold
