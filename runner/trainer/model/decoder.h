// SPDX-License-Identifier: GPL-3.0-or-later
// One chunk of a decoder: some of its layers, and the embedding or the head where the chunk is the first or the last.
#pragma once

#include "runner/trainer/data_parallel/parameter_units.h"
#include "runner/trainer/model/layer_graphs.h"
#include "runner/trainer/model/prediction_module.h"
#include "runner/trainer/model/shard.h"
#include "runner/trainer/model/targets.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace fourfold::trainer {

// What every chunk of a rank needs to know. `positions`: of this rank's tokens in the sequence, in its order.
// `options`: fp32 (fp64 for fp64 weights), for what is never computed in bf16. `later`: for weight gradients; it must
// outlive the settings and all graphs, and so must `fp8`, which is null where the plan has none, and `turns`, of passes
// that run beside each other, null where none does.
BlockSettings block_settings(const ResolvedPlan& plan, const Mesh& mesh, const std::vector<int64_t>& positions,
    const at::TensorOptions& options, WeightGradients& later, const Fp8Products* fp8, PassTurns* turns = nullptr);

class Decoder {
public:
    // `settings`, `weights` and `units` must outlive the decoder and its graphs. `layers_before`: of chunks that come
    // first on this rank.
    Decoder(const ResolvedPlan& plan, const ModelChunk& chunk, const Weights& weights, const ParameterUnits& units,
        const BlockSettings& settings, const std::vector<int64_t>& positions, int layers_before);

    // The chunk's layers. tokens: [seq_len / cp, sequences] int64, for the first chunk; x: [rows, sequences, hidden],
    // the residual stream of the chunk before, for all others. `documents`: of the micro-batch. `seen`: of a text that
    // goes on, without a graph, on a rank that has all layers; the tokens are those of its next positions, and what
    // they leave there is added.
    [[nodiscard]] at::Tensor forward(
        const at::Tensor& tokens_or_x, const DocumentMask& documents, KeyValueCache* seen = nullptr) const;
    // Of the last chunk, after forward(): [seq_len / cp, sequences, padded vocabulary / tp], this rank's part.
    [[nodiscard]] at::Tensor logits(const at::Tensor& x) const;
    struct Loss {
        at::Tensor of_labels; // sum over the labels of the cross-entropy in nats
        at::Tensor whole; // with what the modules add: what is trained
    };
    // Of the last chunk, after forward().
    [[nodiscard]] Loss loss_sum(const at::Tensor& x, const Targets& targets, const DocumentMask& documents) const;

    // Records the training passes of the layers that graphs can have, in so many sets; `stream`: the shape of x,
    // `options`: of the weights. Throws where the device cannot.
    void record_graphs(const ResolvedPlan& plan, GraphRecorder& recorder, const Weights& weights,
        const GradientBuckets& gradients, const std::vector<int64_t>& stream, const at::TensorOptions& options,
        int sets);
    void forget_graphs() { graphs_.clear(); }
    [[nodiscard]] int64_t replays() const; // of graphs, since they were recorded

    [[nodiscard]] const ModelChunk& chunk() const { return chunk_; }

private:
    // The stream behind the layers from this one on that one graph has, and how many these are; else empty.
    [[nodiscard]] std::optional<std::pair<at::Tensor, int>> replayed(int layer, const at::Tensor& x) const;
    // Of a micro-batch, with the positions of its tokens where documents begin anew, else undefined.
    [[nodiscard]] std::pair<std::shared_ptr<LayerAttentions>, at::Tensor> attentions_of(
        const DocumentMask& documents) const;
    // Of the tokens that a module takes: the table is this chunk's or, on the same rank, the first one's.
    [[nodiscard]] at::Tensor embed_ahead(const at::Tensor& tokens) const;
    [[nodiscard]] at::Tensor cross_entropy(const at::Tensor& normed, const at::Tensor& labels, bool all_count) const;
    // `positions`: of each token, or undefined: those that this rank's tokens have in every sequence.
    // `first`: of this rank's positions, that of the first token.
    [[nodiscard]] at::Tensor embed(const at::Tensor& tokens, const at::Tensor& positions, int64_t first = 0) const;

    const BlockSettings& settings_;
    const ParameterUnits& units_;
    ModelChunk chunk_;
    at::Tensor embedding_, head_;
    at::Tensor position_embedding_, positions_; // undefined: the family has no learned positions
    Affine embedding_norm_, final_norm_;
    struct Layer {
        Block block;
        Recompute repeated; // in the backward pass; selective: its parts, by the block itself
    };
    std::vector<Layer> layers_;
    std::vector<std::shared_ptr<const LayerGraphs>> graphs_; // of layers that follow each other; rising
    std::vector<PredictionModule> modules_;
    double ahead_weight_; // of a module's loss
    bool by_operation_;
};

// One Decoder a chunk of this pipeline rank.
std::vector<Decoder> make_decoders(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights,
    const ParameterUnits& units, const BlockSettings& settings, const std::vector<int64_t>& positions);

} // namespace fourfold::trainer
