// SPDX-License-Identifier: GPL-3.0-or-later
// A module that predicts one token further than the one before it (multi-token prediction: DeepSeek-V3,
// arXiv:2412.19437, section 2.2, equations 21 to 23): the stream that predicted so far and the embedding of the token
// that it predicted, each normed and side by side, through a projection and one more layer.
#pragma once

#include "runner/trainer/model/block.h"

namespace fourfold::trainer {

class PredictionModule {
public:
    // `layer`: its number, counted on from the model's last. `repeated`: as in Block; `whole`: the backward pass
    // computes all of it once more. `settings` and `weights` must outlive the module and its graphs.
    PredictionModule(
        const BlockSettings& settings, const Weights& weights, int layer, WordSet<RecomputePart> repeated, bool whole);

    struct Output {
        at::Tensor stream; // for the next module
        at::Tensor normed; // for the head
    };
    // stream, next: [rows, b, h], where `next` is the embedding of the tokens that `stream` predicts.
    [[nodiscard]] Output forward(
        const at::Tensor& stream, const at::Tensor& next, const Block::Attentions& attentions) const;
    [[nodiscard]] int layer() const { return layer_; }

private:
    [[nodiscard]] Output computed(
        const at::Tensor& stream, const at::Tensor& next, const Block::Attentions& attentions) const;

    const BlockSettings& settings_;
    int layer_;
    bool whole_;
    Affine next_norm_, stream_norm_, projection_, head_norm_;
    Block block_;
};

} // namespace fourfold::trainer
