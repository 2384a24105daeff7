// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a config.json of a family that the trainer does not run into a ModelShape that is described layer by layer
// (core/model/decoder.h). A new family is a row of a table in dense.cpp, mixtures.cpp, latent.cpp or hybrids.cpp: a
// Style where its layers are put together from what there is, else a function.
#pragma once

#include "core/model/family.h"

#include <initializer_list>
#include <span>

namespace fourfold::import {

struct Import {
    const Fields& keys;
    ModelShape& model;
    Decoder& decoder;
};

struct Importer {
    std::string_view family; // model_type of the file
    Expected<void> (*read)(Import& in);
    bool tied = false; // embeddings, where the file says nothing
};
// Null when unknown.
const Importer* find_importer(std::string_view family);
std::span<const Importer> dense_importers();
std::span<const Importer> mixture_importers();
std::span<const Importer> latent_importers();
std::span<const Importer> hybrid_importers();

// A key that may say it, and what holds where it does not.
struct Flag {
    const char* key = nullptr;
    bool otherwise = false;
};

inline constexpr Flag kAttentionBias{"attention_bias", false}, kMlpBias{"mlp_bias", false}, kYes{nullptr, true};

// What a family's layers have without being told.
struct Style {
    QkNorm query_key_norm = QkNorm::none;
    Flag has_query_key_norm{nullptr, true};
    BlockNorms norms = BlockNorms::before;
    Flag qkv_bias{}, output_bias{}, mlp_bias{}, head_bias{};
    bool gated = true, layer_norm = false, weightless_norms = false;
    OutputGate output_gate = OutputGate::none;
    // Windows where the file has no list of layers: each so many-th layer sees all; 0: none does, 1: all do.
    int full_every = 1;
    // Of mixtures.
    Flag routing_bias{};
    bool shared_gate = false, router_bias = false;
    std::int64_t layer_vectors = 0;
};

// The first of these keys that the file has; `fallback` where it has none of them, below 0: a problem.
Expected<std::int64_t> integer_of(
    const Fields& keys, std::initializer_list<const char*> names, std::int64_t fallback, std::int64_t least = 1);
Expected<bool> flag_of(const Fields& keys, const Flag& flag);

// Widths, heads, vocabulary; what the style says; activation.
Expected<void> read_base(Import& in, const Style& style);
// Layers with windows, scans or full attention, by `layer_types` or by the style; the window's tokens.
Expected<void> read_mixers(Import& in, const Style& style);
// Experts, which layers have them, what every token takes.
Expected<void> read_mixture(Import& in, const Style& style);
// Low-rank queries and keys.
Expected<void> read_latents(Import& in);

template <const Style& style>
Expected<void> read_dense(Import& in)
{
    FOURFOLD_CHECK(read_base(in, style));
    return read_mixers(in, style);
}
template <const Style& style>
Expected<void> read_experts(Import& in)
{
    FOURFOLD_CHECK(read_base(in, style));
    FOURFOLD_CHECK(read_mixers(in, style));
    return read_mixture(in, style);
}

} // namespace fourfold::import
