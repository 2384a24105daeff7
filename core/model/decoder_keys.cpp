// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of model_type "decoder", Fourfold's own: what an imported config.json of another family is kept as.
#include "core/model/family.h"

namespace fourfold::config_keys {

Expected<void> read_decoder(const Fields& config, ModelShape& model);
void write_decoder(const ModelShape& model, Json& config);

namespace {
Expected<AttentionShape> read_attention(const Fields& keys)
{
    AttentionShape a;
    FOURFOLD_TRY(a.heads, keys.small_integer("heads", 1, kMostHeads));
    FOURFOLD_TRY(a.kv_heads, keys.small_integer("kv_heads", 1, kMostHeads));
    FOURFOLD_TRY(a.head_dim, keys.integer("head_dim", 1, kMostHeadDim));
    FOURFOLD_TRY(a.value_dim, keys.integer("value_dim", 1, kMostHeadDim));
    FOURFOLD_TRY(a.sinks, keys.boolean_or("sinks", false));
    return a;
}

Expected<Scan> read_scan(const Fields& keys)
{
    Scan s;
    FOURFOLD_TRY(s.kind, keys.word_or("kind", s.kind));
    FOURFOLD_TRY(s.heads, keys.small_integer("heads", 1, kMostHeads));
    FOURFOLD_TRY(s.groups, keys.small_integer("groups", 1, kMostHeads));
    FOURFOLD_TRY(s.head_dim, keys.integer("head_dim", 1, kMostHeadDim));
    FOURFOLD_TRY(s.state, keys.integer("state", 0, kMostHeadDim));
    FOURFOLD_TRY(s.convolution, keys.small_integer("convolution", 0, 1024));
    FOURFOLD_TRY(s.convolution_bias, keys.boolean_or("convolution_bias", false));
    FOURFOLD_TRY(s.projection_bias, keys.boolean_or("projection_bias", false));
    FOURFOLD_TRY(s.norm, keys.boolean_or("norm", true));
    FOURFOLD_TRY(s.rank, keys.integer_or("rank", 0, 0, kMostWidth));
    FOURFOLD_TRY(s.channel_decay, keys.boolean_or("channel_decay", false));
    FOURFOLD_TRY(s.chunk, keys.small_integer_or("chunk", 64, 1, 65536));
    return s;
}

Expected<void> read_layers(const Fields& config, Decoder& d)
{
    if (!config.has("layer_kinds") || !config.json()["layer_kinds"].is_array())
        return config.missing("layer_kinds", "a list of runs of layers");
    for (const Json& run : config.json()["layer_kinds"]) {
        FOURFOLD_TRY(const Fields fields, Fields::of(run, config.where("layer_kinds")));
        LayerKind kind;
        FOURFOLD_TRY(kind.mixer, fields.word_or("mixer", kind.mixer));
        FOURFOLD_TRY(kind.mlp, fields.word_or("mlp", kind.mlp));
        FOURFOLD_TRY(kind.indexer, fields.boolean_or("indexer", false));
        FOURFOLD_TRY(const int count, fields.small_integer("layers", 1, kMostLayers));
        if (d.layers.size() + std::size_t(count) > std::size_t(kMostLayers))
            return config.wrong("layer_kinds", "at most " + std::to_string(kMostLayers) + " layers");
        d.layers.insert(d.layers.end(), std::size_t(count), kind);
    }
    return d.layers.empty() ? Expected<void>(config.missing("layer_kinds", "a list of runs of layers"))
                            : Expected<void>();
}

Expected<void> read_experts(const Fields& keys, Decoder& d, ModelShape& model)
{
    Experts experts;
    FOURFOLD_TRY(experts.count, keys.small_integer("count", 1, kMostExperts));
    FOURFOLD_TRY(experts.active, keys.small_integer("active", 1, kMostExperts));
    if (experts.active > experts.count)
        return keys.problem("active", "is more than count " + std::to_string(experts.count));
    FOURFOLD_TRY(experts.ffn, keys.integer("ffn", 1, kMostWidth));
    FOURFOLD_TRY(experts.shared, keys.small_integer_or("shared", 0, 0, kMostExperts));
    FOURFOLD_TRY(experts.groups, keys.small_integer_or("groups", 0, 0, kMostExperts));
    FOURFOLD_TRY(experts.active_groups, keys.small_integer_or("active_groups", 0, 0, kMostExperts));
    FOURFOLD_TRY(d.shared_ffn, keys.integer_or("shared_ffn", 0, 0, kMostWidth));
    FOURFOLD_TRY(d.shared_gate, keys.boolean_or("shared_gate", false));
    FOURFOLD_TRY(d.routing_bias, keys.boolean_or("routing_bias", false));
    FOURFOLD_TRY(d.router_bias, keys.boolean_or("router_bias", false));
    FOURFOLD_TRY(d.dense_beside, keys.boolean_or("dense_beside", false));
    FOURFOLD_TRY(d.expert_hidden, keys.integer_or("hidden", 0, 0, kMostWidth));
    model.experts = experts;
    return {};
}

Expected<void> read_latent(const Fields& keys, ModelShape& model)
{
    LatentAttention latent;
    FOURFOLD_TRY(latent.q_rank, keys.integer_or("q_rank", 0, 0, kMostWidth));
    FOURFOLD_TRY(latent.kv_rank, keys.integer("kv_rank", 1, kMostWidth));
    FOURFOLD_TRY(latent.nope_head_dim, keys.integer("nope_head_dim", 1, kMostHeadDim));
    FOURFOLD_TRY(latent.rope_head_dim, keys.integer("rope_head_dim", 1, kMostHeadDim));
    FOURFOLD_TRY(latent.value_head_dim, keys.integer("value_head_dim", 1, kMostHeadDim));
    model.latent = latent;
    return {};
}

Expected<void> read_attention_keys(const Fields& config, Decoder& d, ModelShape& model)
{
    FOURFOLD_TRY(d.query_key_norm, config.word_or("query_key_norm", d.query_key_norm));
    model.query_key_norm = d.query_key_norm != QkNorm::none;
    FOURFOLD_TRY(d.output_gate, config.word_or("output_gate", d.output_gate));
    FOURFOLD_TRY(model.qkv_bias, config.boolean_or("qkv_bias", false));
    FOURFOLD_TRY(d.output_bias, config.boolean_or("output_bias", false));
    FOURFOLD_TRY(d.value_dim, config.integer_or("value_dim", 0, 0, kMostHeadDim));
    FOURFOLD_TRY(d.full_values_are_keys, config.boolean_or("values_are_keys", false));
    FOURFOLD_TRY(d.full_sinks, config.boolean_or("sinks", false));
    FOURFOLD_TRY(model.window.tokens, config.integer_or("window", 0, 0, kMostWidth));
    FOURFOLD_TRY(model.window.chunked, config.boolean_or("window_chunked", false));
    FOURFOLD_TRY(d.index_heads, config.small_integer_or("index_heads", 0, 0, kMostHeads));
    FOURFOLD_TRY(d.index_head_dim, config.integer_or("index_head_dim", 0, 0, kMostHeadDim));
    if (config.has("windowed")) {
        FOURFOLD_TRY(const Fields windowed, config.object("windowed"));
        FOURFOLD_TRY(d.windowed, read_attention(windowed));
    }
    if (config.has("latent")) {
        FOURFOLD_TRY(const Fields latent, config.object("latent"));
        return read_latent(latent, model);
    }
    return {};
}

constexpr std::array kActivations{"swiglu", "clamped_swiglu", "geglu", "gelu", "squared_relu"};
} // namespace

Expected<void> read_decoder(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(read_widths(config, model));
    Decoder d;
    FOURFOLD_TRY(d.family, config.name_or("family", ""));
    FOURFOLD_CHECK(read_layers(config, d));
    FOURFOLD_TRY(model.predicted_ahead, read_modules_ahead(config));
    FOURFOLD_CHECK(read_attention_keys(config, d, model));
    FOURFOLD_TRY(const std::string activation, config.text_or("activation", kActivations[0]));
    const auto* const found = std::ranges::find(kActivations, activation);
    if (found == kActivations.end())
        return config.wrong("activation", "swiglu, clamped_swiglu, geglu, gelu or squared_relu");
    model.activation = Activation(found - kActivations.begin());
    FOURFOLD_TRY(d.norms, config.word_or("norms", d.norms));
    FOURFOLD_TRY(const bool layer_norm, config.boolean_or("layer_norm", false));
    model.norm = layer_norm ? Norm::layer : Norm::rms;
    FOURFOLD_TRY(d.weightless_norms, config.boolean_or("weightless_norms", false));
    FOURFOLD_TRY(d.mlp_bias, config.boolean_or("mlp_bias", false));
    FOURFOLD_TRY(d.head_bias, config.boolean_or("head_bias", false));
    FOURFOLD_TRY(d.layer_vectors, config.integer_or("layer_vectors", 0, 0));
    if (config.has("scan")) {
        FOURFOLD_TRY(const Fields scan, config.object("scan"));
        FOURFOLD_TRY(d.scan, read_scan(scan));
    }
    if (config.has("experts")) {
        FOURFOLD_TRY(const Fields experts, config.object("experts"));
        FOURFOLD_CHECK(read_experts(experts, d, model));
    }
    FOURFOLD_TRY(model.rope_theta, config.positive_or("rope_theta", 10000));
    model.decoder = std::move(d);
    return check_decoder(config, model);
}

namespace {
Json layers_as_runs(const ModelShape& model)
{
    Json runs = Json::array();
    LayerKind last;
    for (int layer = 0; layer < model.layers; ++layer) {
        const LayerKind& kind = model.decoder->kind(layer);
        if (layer > 0 && kind == last) {
            runs.back()["layers"] = runs.back()["layers"].get<int>() + 1;
            continue;
        }
        last = kind;
        Json run = {{"mixer", name(kind.mixer)}, {"mlp", name(kind.mlp)}, {"layers", 1}};
        if (kind.indexer)
            run["indexer"] = true;
        runs.push_back(std::move(run));
    }
    return runs;
}

Json of_scan(const Scan& s)
{
    return {{"kind", name(s.kind)}, {"heads", s.heads}, {"groups", s.groups}, {"head_dim", s.head_dim},
        {"state", s.state}, {"convolution", s.convolution}, {"convolution_bias", s.convolution_bias},
        {"projection_bias", s.projection_bias}, {"norm", s.norm}, {"rank", s.rank}, {"channel_decay", s.channel_decay},
        {"chunk", s.chunk}};
}

Json of_experts(const Experts& experts, const Decoder& d)
{
    return {{"count", experts.count}, {"active", experts.active}, {"ffn", experts.ffn}, {"shared", experts.shared},
        {"groups", experts.groups}, {"active_groups", experts.active_groups}, {"shared_ffn", d.shared_ffn},
        {"shared_gate", d.shared_gate}, {"routing_bias", d.routing_bias}, {"router_bias", d.router_bias},
        {"dense_beside", d.dense_beside}, {"hidden", d.expert_hidden}};
}
} // namespace

void write_decoder(const ModelShape& model, Json& config)
{
    const Decoder& d = *model.decoder;
    write_common(model, config);
    config.erase("hidden_act");
    config["family"] = d.family;
    config["layer_kinds"] = layers_as_runs(model);
    if (model.predicted_ahead > 0)
        config["num_nextn_predict_layers"] = model.predicted_ahead;
    config["activation"] = kActivations[std::size_t(model.activation)];
    config["norms"] = name(d.norms);
    config["query_key_norm"] = name(d.query_key_norm);
    config["output_gate"] = name(d.output_gate);
    config["rope_theta"] = model.rope_theta;
    for (const auto& [key, on] : {std::pair{"layer_norm", model.norm == Norm::layer},
             {"weightless_norms", d.weightless_norms}, {"qkv_bias", model.qkv_bias}, {"output_bias", d.output_bias},
             {"mlp_bias", d.mlp_bias}, {"head_bias", d.head_bias}, {"values_are_keys", d.full_values_are_keys},
             {"sinks", d.full_sinks}, {"window_chunked", model.window.chunked}})
        if (on)
            config[key] = true;
    for (const auto& [key, size] : {std::pair{"value_dim", d.value_dim}, {"window", model.window.tokens},
             {"index_heads", std::int64_t(d.index_heads)}, {"index_head_dim", d.index_head_dim},
             {"layer_vectors", d.layer_vectors}})
        if (size > 0)
            config[key] = size;
    if (const auto& w = d.windowed)
        config["windowed"] = {{"heads", w->heads}, {"kv_heads", w->kv_heads}, {"head_dim", w->head_dim},
            {"value_dim", w->value_dim}, {"sinks", w->sinks}};
    if (const auto& l = model.latent)
        config["latent"] = {{"q_rank", l->q_rank}, {"kv_rank", l->kv_rank}, {"nope_head_dim", l->nope_head_dim},
            {"rope_head_dim", l->rope_head_dim}, {"value_head_dim", l->value_head_dim}};
    if (d.scan)
        config["scan"] = of_scan(*d.scan);
    if (model.experts)
        config["experts"] = of_experts(*model.experts, d);
}

Expected<void> check_decoder(const Fields& config, const ModelShape& model)
{
    const Decoder& d = *model.decoder;
    for (const LayerKind& kind : d.layers) {
        if (kind.scans() && !d.scan)
            return config.missing("scan", "the sizes of the layers that scan");
        if (kind.mlp == LayerMlp::experts && !model.experts)
            return config.missing("experts", "the sizes of the layers with experts");
        if (kind.mixer == Mixer::window && model.window.tokens == 0)
            return config.missing("window", "the tokens that a layer with a window sees");
        if (kind.indexer && (d.index_heads == 0 || d.index_head_dim == 0))
            return config.missing("index_heads", "the sizes of the indexer");
    }
    return {};
}

} // namespace fourfold::config_keys
