// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with multi-head latent attention.
#include "core/model/import/import.h"

#include <array>

namespace fourfold::import {

namespace {
constexpr Style kPlainLatent{};
constexpr Style kRoutedLatent{.routing_bias = {nullptr, true}};

template <const Style& style, bool experts>
Expected<void> read_latent(Import& in)
{
    FOURFOLD_CHECK(config_keys::must_be_off(in.keys, "attention_bias", "biases in latent attention"));
    FOURFOLD_CHECK(read_base(in, style));
    FOURFOLD_CHECK(read_latents(in));
    return experts ? read_mixture(in, style) : Expected<void>();
}

// Sparse attention: an indexer in every layer, or in those that `indexer_types` names.
Expected<void> read_indexed(Import& in)
{
    const Fields& keys = in.keys;
    FOURFOLD_CHECK((read_latent<kRoutedLatent, true>(in)));
    FOURFOLD_TRY(in.decoder.index_heads, keys.small_integer("index_n_heads", 1, config_keys::kMostHeads));
    FOURFOLD_TRY(in.decoder.index_head_dim, keys.integer("index_head_dim", 1, config_keys::kMostHeadDim));
    const bool listed = keys.has("indexer_types");
    if (listed
        && (!keys.json()["indexer_types"].is_array()
            || keys.json()["indexer_types"].size() != in.decoder.layers.size()))
        return keys.wrong("indexer_types", "a word for each layer");
    for (std::size_t layer = 0; layer < in.decoder.layers.size(); ++layer)
        in.decoder.layers[layer].indexer = !listed || keys.json()["indexer_types"][layer] == "full";
    return {};
}

constexpr std::array kLatentTable{
    Importer{"deepseek_v2", read_latent<kPlainLatent, true>},
    Importer{"deepseek_v3", read_latent<kRoutedLatent, true>},
    Importer{"sarvam_mla", read_latent<kRoutedLatent, true>},
    Importer{"glm4_moe_lite", read_latent<kRoutedLatent, true>},
    Importer{"deepseek_v32", read_indexed},
    Importer{"glm_moe_dsa", read_indexed},
    Importer{"minicpm3", read_latent<kPlainLatent, false>, true},
    Importer{"youtu", read_latent<kPlainLatent, false>, true},
};
} // namespace

std::span<const Importer> latent_importers()
{
    return kLatentTable;
}

} // namespace fourfold::import
