// SPDX-License-Identifier: GPL-3.0-or-later
// A decoder described layer by layer: what the families of today's config.json files have beyond those that the trainer
// runs. core/model/import reads such files; the planner predicts them, their tensors have names of Fourfold's own.
#pragma once

#include "core/base/words.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// What mixes the tokens of a sequence. parallel: full attention and a scan of the same input, added.
enum class Mixer : std::uint8_t { none, full, window, scan, parallel };
template <>
inline constexpr auto kWords<Mixer> = std::to_array<std::string_view>({"none", "full", "window", "scan", "parallel"});
enum class LayerMlp : std::uint8_t { none, dense, experts };
template <>
inline constexpr auto kWords<LayerMlp> = std::to_array<std::string_view>({"none", "dense", "experts"});

struct LayerKind {
    Mixer mixer = Mixer::full;
    LayerMlp mlp = LayerMlp::dense;
    bool indexer = false; // chooses the keys of this layer and of those behind it without one
    auto operator<=>(const LayerKind&) const = default;
    [[nodiscard]] bool attends() const { return mixer != Mixer::none && mixer != Mixer::scan; }
    [[nodiscard]] bool scans() const { return mixer == Mixer::scan || mixer == Mixer::parallel; }
};

struct AttentionShape {
    int heads = 0, kv_heads = 0;
    std::int64_t head_dim = 0, value_dim = 0;
    bool values_are_keys = false; // one projection for both (Gemma 4)
    bool sinks = false;
    bool operator==(const AttentionShape&) const = default;
};

// mamba: arXiv:2312.00752; mamba2: arXiv:2405.21060; delta: gated delta rule, arXiv:2412.06464, per channel in Kimi
// Linear, arXiv:2510.26692; convolution: gated short ones (LFM2); lightning: arXiv:2401.04658.
enum class ScanKind : std::uint8_t { mamba, mamba2, delta, convolution, lightning };
template <>
inline constexpr auto kWords<ScanKind> = std::to_array<std::string_view>(
    {"mamba", "mamba2", "delta", "convolution", "lightning"});

struct Scan {
    ScanKind kind = ScanKind::mamba2;
    int heads = 1; // each with a state of `state` x `head_dim` elements
    int groups = 1; // of heads that share keys (mamba2: B and C)
    std::int64_t head_dim = 0, state = 0;
    int convolution = 0; // how many tokens its convolution sees; 0 = none
    bool convolution_bias = false, projection_bias = false;
    bool norm = true; // mamba: of the step, B and C; else of what it gives
    std::int64_t rank = 0; // mamba: of the steps; delta: of the gates, 0 = whole
    bool channel_decay = false; // delta: each channel forgets at its own rate
    int chunk = 64; // tokens that are computed together
    bool operator==(const Scan&) const = default;

    [[nodiscard]] std::int64_t inner() const { return heads * head_dim; }
    [[nodiscard]] std::int64_t keys() const { return groups * state; } // of B, of C; of keys, of queries
    [[nodiscard]] std::int64_t convolved() const; // channels
};

// Norms of queries and keys: with a weight for each element of a head, or of all heads.
enum class QkNorm : std::uint8_t { none, head, whole };
template <>
inline constexpr auto kWords<QkNorm> = std::to_array<std::string_view>({"none", "head", "whole"});
// Norms of attention and of the MLP: before each, behind each, both; one: a single one before both, of the same input.
enum class BlockNorms : std::uint8_t { before, behind, both, one };
template <>
inline constexpr auto kWords<BlockNorms> = std::to_array<std::string_view>({"before", "behind", "both", "one"});
// What attention's output is multiplied with: nothing, a value for each element or for each head.
enum class OutputGate : std::uint8_t { none, element, head };
template <>
inline constexpr auto kWords<OutputGate> = std::to_array<std::string_view>({"none", "element", "head"});

struct Decoder {
    std::string family; // model_type of the file
    std::vector<LayerKind> layers; // goes round where the model has more
    std::optional<AttentionShape> windowed; // of layers with a window, where not the model's own
    bool full_values_are_keys = false, full_sinks = false;
    std::int64_t value_dim = 0; // of a head; 0: head_dim
    std::optional<Scan> scan;
    QkNorm query_key_norm = QkNorm::none;
    BlockNorms norms = BlockNorms::before;
    bool weightless_norms = false;
    bool output_bias = false, mlp_bias = false, head_bias = false;
    OutputGate output_gate = OutputGate::none;
    // Experts: the MLP that every token takes, whether a gate weighs it; whether a dense MLP runs beside them; the
    // width of what they see where it is not the model's.
    std::int64_t shared_ffn = 0;
    bool shared_gate = false, routing_bias = false, router_bias = false, dense_beside = false;
    std::int64_t expert_hidden = 0;
    std::int64_t layer_vectors = 0; // trained elements of each layer beyond these
    int index_heads = 0; // of the indexer of sparse attention (DeepSeek-V3.2)
    std::int64_t index_head_dim = 0;

    [[nodiscard]] const LayerKind& kind(int layer) const { return layers[std::size_t(layer) % layers.size()]; }
};

} // namespace fourfold
