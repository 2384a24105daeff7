// SPDX-License-Identifier: GPL-3.0-or-later
// Mixtures of experts, under all the spellings of their keys.
#include "core/model/import/import.h"

#include <algorithm>

namespace fourfold::import {

namespace {
// One key that holds a number or a list of them, one a layer (Hunyuan, Ernie): all have to be the same.
Expected<std::int64_t> same_of(
    const Fields& keys, std::initializer_list<const char*> names, std::int64_t fallback, std::int64_t least = 1)
{
    for (const char* const key : names) {
        if (!keys.has(key) || !keys.json()[key].is_array())
            continue;
        const Json& list = keys.json()[key];
        if (list.empty() || !list[0].is_number_integer() || list[0].get<std::int64_t>() < least
            || list[0].get<std::int64_t>() > config_keys::kMostWidth
            || std::ranges::any_of(list, [&](const Json& one) { return one != list[0]; }))
            return Problem{ProblemCode::unsupported, "layers of different sizes are not supported, expected one number",
                "", keys.where(key)};
        return list[0].get<std::int64_t>();
    }
    return integer_of(keys, names, fallback, least);
}

// A list with a word, 0 or 1, or true or false for each layer.
Expected<void> read_list(Import& in, const char* key)
{
    const Json& list = in.keys.json()[key];
    if (list.size() != in.decoder.layers.size())
        return in.keys.wrong(key, "an entry for each of the " + std::to_string(in.model.layers) + " layers");
    for (std::size_t layer = 0; layer < list.size(); ++layer) {
        const bool routed = list[layer] == "sparse" || list[layer] == "moe" || list[layer] == 1 || list[layer] == true;
        in.decoder.layers[layer].mlp = routed ? LayerMlp::experts : LayerMlp::dense;
    }
    return {};
}

// Layers by their numbers.
Expected<void> make_dense(Import& in, const char* key)
{
    for (const Json& layer : in.keys.json()[key]) {
        if (!layer.is_number_integer() || layer.get<std::int64_t>() < 0 || layer.get<std::int64_t>() >= in.model.layers)
            return in.keys.wrong(key, "numbers of layers");
        in.decoder.layers[layer.get<std::size_t>()].mlp = LayerMlp::dense;
    }
    return {};
}

Expected<void> read_expert_layers(Import& in)
{
    const Fields& keys = in.keys;
    for (const char* const key : {"mlp_layer_types", "moe_layer_freq"})
        if (keys.has(key) && keys.json()[key].is_array())
            return read_list(in, key);
    FOURFOLD_TRY(const auto dense,
        integer_of(keys, {"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}, 0, 0));
    FOURFOLD_TRY(const auto every,
        integer_of(keys, {"decoder_sparse_step", "moe_layer_freq", "expert_layer_period", "moe_layer_interval"}, 1));
    // DeepSeek counts from its first layer, the others behind it.
    FOURFOLD_TRY(
        const auto offset, integer_of(keys, {"expert_layer_offset"}, keys.has("moe_layer_freq") ? 0 : every - 1, 0));
    FOURFOLD_TRY(const auto last, integer_of(keys, {"moe_layer_end_index"}, in.model.layers - 1, 0));
    for (std::int64_t layer = 0; layer < in.model.layers; ++layer)
        in.decoder.layers[std::size_t(layer)].mlp
            = layer >= dense && layer <= last && layer % every == offset % every ? LayerMlp::experts : LayerMlp::dense;
    if (keys.has("mlp_only_layers") && keys.json()["mlp_only_layers"].is_array())
        return make_dense(in, "mlp_only_layers");
    return {};
}

Expected<void> read_shared(Import& in, Experts& experts, const Style& style)
{
    const Fields& keys = in.keys;
    FOURFOLD_TRY(const auto count,
        same_of(keys, {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"}, 0, 0));
    // Some files count them, some say how wide they are together.
    FOURFOLD_TRY(in.decoder.shared_ffn,
        integer_of(keys,
            {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"},
            count * experts.ffn, 0));
    experts.shared = in.decoder.shared_ffn > 0 ? std::max(1, int(count)) : 0;
    in.decoder.shared_gate = style.shared_gate && in.decoder.shared_ffn > 0;
    return {};
}
} // namespace

Expected<void> read_mixture(Import& in, const Style& style)
{
    const Fields& keys = in.keys;
    Experts experts;
    FOURFOLD_TRY(const auto count,
        integer_of(keys, {"num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts"}, -1));
    FOURFOLD_TRY(const auto active,
        same_of(keys,
            {"num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk", "top_k_experts", "moe_router_topk"},
            -1));
    if (count > config_keys::kMostExperts || active > count)
        return keys.problem("num_experts_per_tok",
            std::to_string(active) + " of " + std::to_string(count) + " experts, expected at most "
                + std::to_string(std::min<std::int64_t>(count, config_keys::kMostExperts)));
    experts.count = int(count), experts.active = int(active);
    FOURFOLD_TRY(experts.ffn, same_of(keys, {"moe_intermediate_size", "intermediate_size"}, -1));
    FOURFOLD_CHECK(read_shared(in, experts, style));
    FOURFOLD_TRY(const auto groups, integer_of(keys, {"n_group", "num_expert_group"}, 0, 0));
    FOURFOLD_TRY(const auto active_groups, integer_of(keys, {"topk_group"}, 0, 0));
    if (groups > 1 && active_groups > 0 && active_groups <= groups)
        experts.groups = int(groups), experts.active_groups = int(active_groups);
    FOURFOLD_TRY(in.decoder.routing_bias, flag_of(keys, style.routing_bias));
    in.decoder.router_bias = style.router_bias;
    in.model.experts = experts;
    return read_expert_layers(in);
}

} // namespace fourfold::import
