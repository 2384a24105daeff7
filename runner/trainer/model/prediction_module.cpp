// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/prediction_module.h"

#include "runner/trainer/model/recompute.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>

namespace fourfold::trainer {

PredictionModule::PredictionModule(
    const BlockSettings& settings, const Weights& weights, int layer, WordSet<RecomputePart> repeated, bool whole)
    : settings_(settings)
    , layer_(layer)
    , whole_(whole)
    , next_norm_(weights.find(layer, Role::ahead_embedding_norm))
    , stream_norm_(weights.find(layer, Role::ahead_stream_norm))
    , projection_(weights.find(layer, Role::ahead_projection))
    , head_norm_(weights.find(layer, Role::ahead_head_norm))
    , block_(settings, weights, layer, repeated)
{
}

PredictionModule::Output PredictionModule::computed(
    const at::Tensor& stream, const at::Tensor& next, const Block::Attentions& attentions) const
{
    const at::Tensor joined = at::cat({norm(next, next_norm_, settings_), norm(stream, stream_norm_, settings_)}, -1);
    // Row by row: each rank of tensor parallelism projects what it has of the stream.
    const at::Tensor x = block_.forward(at::linear(joined, projection_.weight), attentions);
    return {x, norm(x, head_norm_, settings_)};
}

PredictionModule::Output PredictionModule::forward(
    const at::Tensor& stream, const at::Tensor& next, const Block::Attentions& attentions) const
{
    if (!whole_)
        return computed(stream, next, attentions);
    const auto again = [this, attentions](at::TensorList in) {
        Output out = computed(in[0], in[1], attentions);
        return std::vector{std::move(out.stream), std::move(out.normed)};
    };
    std::vector<at::Tensor> out = recomputed(again, {stream, next});
    return {std::move(out[0]), std::move(out[1])};
}

} // namespace fourfold::trainer
