// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of config.json that several families share.
#include "core/base/text.h"
#include "core/model/family.h"

#include <algorithm>
#include <array>

namespace fourfold::config_keys {

namespace {
// Scaling kinds whose factor and original length the shape keeps.
constexpr std::array<std::string_view, 5> kScalings{"linear", "dynamic", "llama3", "yarn", "longrope"};

bool is_known_scaling(std::string_view type)
{
    return std::find(kScalings.begin(), kScalings.end(), type) != kScalings.end();
}

// One factor for each plane of a head.
Expected<std::vector<double>> read_factors(const Fields& scaling, const std::string& key, int64_t head_dim)
{
    std::vector<double> factors;
    if (scaling.has(key) && scaling.json()[key].is_array())
        for (const Json& factor : scaling.json()[key])
            factors.push_back(factor.is_number() ? factor.get<double>() : 0);
    if (int64_t(factors.size()) != head_dim / 2 || std::ranges::any_of(factors, [](double f) { return !(f > 0); }))
        return scaling.problem(key, "expected " + std::to_string(head_dim / 2) + " numbers above 0");
    return factors;
}

// Its factor is how much longer the context has become.
Expected<void> read_longrope(const Fields& scaling, int64_t positions, int64_t head_dim, RopeScaling& out)
{
    FOURFOLD_TRY(out.short_factors, read_factors(scaling, "short_factor", head_dim));
    FOURFOLD_TRY(out.long_factors, read_factors(scaling, "long_factor", head_dim));
    FOURFOLD_TRY(out.original_positions, scaling.integer_or("original_max_position_embeddings", positions));
    FOURFOLD_TRY(out.factor, scaling.positive_or("factor", double(positions) / double(out.original_positions)));
    FOURFOLD_TRY(out.attention_factor, scaling.positive_or("attention_factor", 0));
    return {};
}

Expected<void> read_scaling(const Fields& scaling, int64_t positions, int64_t head_dim, RopeScaling& out)
{
    // Files older than transformers 4.43 call it "type".
    const std::string key = scaling.has("rope_type") ? "rope_type" : "type";
    FOURFOLD_TRY(const std::string type, scaling.text_or(key, "default"));
    if (type == "default")
        return {};
    if (!is_known_scaling(type))
        return scaling.wrong(key, "default, linear, dynamic, llama3, yarn or longrope");
    out.type = type;
    if (type == "longrope")
        return read_longrope(scaling, positions, head_dim, out);
    FOURFOLD_TRY(out.factor, scaling.positive("factor"));
    if (type == "llama3") {
        FOURFOLD_TRY(out.low_freq_factor, scaling.positive("low_freq_factor"));
        FOURFOLD_TRY(out.high_freq_factor, scaling.positive("high_freq_factor"));
        if (out.high_freq_factor < out.low_freq_factor)
            return scaling.wrong("high_freq_factor", "a number of at least low_freq_factor");
        FOURFOLD_TRY(out.original_positions, scaling.integer("original_max_position_embeddings"));
    } else {
        FOURFOLD_TRY(out.original_positions, scaling.integer_or("original_max_position_embeddings", positions));
    }
    if (type != "yarn")
        return {};
    FOURFOLD_TRY(out.beta_fast, scaling.positive_or("beta_fast", out.beta_fast));
    FOURFOLD_TRY(out.beta_slow, scaling.positive_or("beta_slow", out.beta_slow));
    FOURFOLD_TRY(out.truncate, scaling.boolean_or("truncate", true));
    FOURFOLD_TRY(out.mscale, scaling.non_negative_or("mscale", 0));
    FOURFOLD_TRY(out.mscale_all_dim, scaling.non_negative_or("mscale_all_dim", 0));
    FOURFOLD_TRY(out.attention_factor, scaling.positive_or("attention_factor", 0));
    return {};
}
constexpr const char* kRotaryShare = "partial_rotary_factor";

Expected<void> read_rotary_share(const Fields& config, ModelShape& model)
{
    if (!config.has(kRotaryShare))
        return {};
    FOURFOLD_TRY(model.rotary_share, config.positive(kRotaryShare));
    if (model.rotary_share > 1 || model.rotary_dim() < 2)
        return config.wrong(kRotaryShare, "a share of each head of at least two elements");
    return {};
}
} // namespace

Expected<void> read_routing(const Fields& config, const std::string& count_key, Experts& experts)
{
    FOURFOLD_TRY(experts.count, config.small_integer(count_key, 1, kMostExperts));
    FOURFOLD_TRY(experts.active, config.small_integer("num_experts_per_tok", 1, kMostExperts));
    if (experts.active <= experts.count)
        return {};
    return config.problem("num_experts_per_tok",
        std::to_string(experts.active) + " is more than " + count_key + " " + std::to_string(experts.count));
}

Expected<void> read_balance(const Fields& config, const std::string& key, Experts& experts)
{
    FOURFOLD_TRY(experts.balance, config.non_negative_or(key, 0));
    return {};
}

Expected<void> read_common(const Fields& config, ModelShape& model)
{
    FOURFOLD_CHECK(read_widths(config, model));
    return check_activation(config, "hidden_act", {"silu", "swish"});
}

Expected<int> read_modules_ahead(const Fields& config)
{
    constexpr int kMostAhead = 8;
    FOURFOLD_TRY(const bool used, config.boolean_or("use_mtp", true)); // MiniMax-M2's files
    // Modules of other layers than the last one's kind (Nemotron 3's) are left out, and the import says so.
    for (const char* const key : {"mtp_hybrid_override_pattern", "mtp_layers_block_type"})
        if (config.json().contains(key) && !config.json()[key].empty())
            return 0;
    if (config.has("mtp_transformer_layers") && config.json()["mtp_transformer_layers"] != 1)
        return 0;
    // DeepSeek-V3 and GLM-4.5; MiniMax-M2; Qwen3.5.
    for (const char* const key : {"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"})
        if (used && config.has(key))
            return config.small_integer(key, 0, kMostAhead);
    return 0;
}

Expected<void> read_widths(const Fields& config, ModelShape& model)
{
    FOURFOLD_TRY(model.hidden, config.integer("hidden_size", 1, kMostWidth));
    FOURFOLD_TRY(model.layers, config.small_integer("num_hidden_layers", 1, kMostLayers));
    FOURFOLD_TRY(model.heads, config.small_integer("num_attention_heads", 1, kMostHeads));
    FOURFOLD_TRY(model.kv_heads, config.small_integer_or("num_key_value_heads", model.heads, 1, kMostHeads));
    if (model.heads % model.kv_heads != 0)
        return config.problem("num_key_value_heads",
            std::to_string(model.kv_heads) + " does not divide num_attention_heads " + std::to_string(model.heads));
    if (!config.has("head_dim") && model.hidden % model.heads != 0)
        return config.problem("num_attention_heads",
            std::to_string(model.heads) + " does not divide hidden_size " + std::to_string(model.hidden),
            "give head_dim when the heads are not hidden_size / num_attention_heads wide");
    FOURFOLD_TRY(model.head_dim, config.integer_or("head_dim", model.hidden / model.heads, 1, kMostHeadDim));
    FOURFOLD_TRY(model.ffn, config.integer("intermediate_size", 1, kMostWidth));
    FOURFOLD_TRY(model.vocab, config.integer("vocab_size", 1, kMostVocab));
    FOURFOLD_TRY(model.max_positions, config.integer_or("max_position_embeddings", 2048));
    FOURFOLD_TRY(model.norm_eps, config.positive_or("rms_norm_eps", 1e-6));
    return {};
}

void write_common(const ModelShape& model, Json& config)
{
    config["hidden_size"] = model.hidden;
    config["num_hidden_layers"] = model.layers;
    config["num_attention_heads"] = model.heads;
    config["num_key_value_heads"] = model.kv_heads;
    config["head_dim"] = model.head_dim;
    config["intermediate_size"] = model.ffn;
    config["vocab_size"] = model.vocab;
    config["max_position_embeddings"] = model.max_positions;
    config["rms_norm_eps"] = model.norm_eps;
    config["hidden_act"] = "silu";
}

Expected<void> read_rope(const Fields& config, ModelShape& model)
{
    model.positions = Positions::rope;
    if (config.has("rope_parameters")) {
        FOURFOLD_TRY(const Fields parameters, rope_parameters(config, "full_attention"));
        FOURFOLD_CHECK(read_rotary_share(parameters.has(kRotaryShare) ? parameters : config, model));
        FOURFOLD_TRY(model.rope_theta, parameters.positive_or("rope_theta", 10000));
        return read_scaling(parameters, model.max_positions, model.head_dim, model.rope_scaling);
    }
    FOURFOLD_CHECK(read_rotary_share(config, model));
    FOURFOLD_TRY(model.rope_theta, config.positive_or("rope_theta", 10000));
    if (!config.has("rope_scaling"))
        return {};
    FOURFOLD_TRY(const Fields scaling, config.object("rope_scaling"));
    return read_scaling(scaling, model.max_positions, model.head_dim, model.rope_scaling);
}

Expected<Fields> rope_parameters(const Fields& config, const std::string& layer_type)
{
    FOURFOLD_TRY(const Fields parameters, config.object("rope_parameters"));
    return parameters.has(layer_type) ? parameters.object(layer_type) : Expected<Fields>(parameters);
}

Expected<void> read_latents(const Fields& config, ModelShape& model)
{
    LatentAttention latent;
    FOURFOLD_TRY(latent.q_rank, config.integer_or("q_lora_rank", 0, 1, kMostWidth));
    FOURFOLD_TRY(latent.kv_rank, config.integer("kv_lora_rank", 1, kMostWidth));
    FOURFOLD_TRY(latent.nope_head_dim, config.integer("qk_nope_head_dim", 1, kMostHeadDim));
    FOURFOLD_TRY(latent.rope_head_dim, config.integer("qk_rope_head_dim", 1, kMostHeadDim));
    FOURFOLD_TRY(latent.value_head_dim, config.integer("v_head_dim", 1, kMostHeadDim));
    model.latent = latent;
    model.head_dim = latent.nope_head_dim + latent.rope_head_dim;
    return {};
}

Expected<void> read_window(const Fields& config, ModelShape& model)
{
    FOURFOLD_TRY(model.window.tokens, config.integer_or("sliding_window", 0, 1, kMostWidth));
    model.window.full_every = model.layers + 1;
    return {};
}

void write_window(const ModelShape& model, Json& config)
{
    if (model.window.tokens > 0)
        config["sliding_window"] = model.window.tokens;
}

Expected<void> check_layer_types(const Fields& config, const ModelShape& model)
{
    if (!config.has("layer_types"))
        return {};
    const Json& types = config.json()["layer_types"];
    if (!types.is_array() || types.size() != std::size_t(model.layers))
        return config.wrong("layer_types", "a word for each of the " + std::to_string(model.layers) + " layers");
    for (int layer = 0; layer < model.layers; ++layer) {
        const Json& type = types[std::size_t(layer)];
        const char* const needed = model.windowed(layer) ? "sliding_attention" : "full_attention";
        if (type != needed && (model.window.tokens > 0 || type != "sliding_attention")) // without a window all see all
            return Problem{ProblemCode::unsupported,
                "layer " + std::to_string(layer) + " is " + printable(type.dump()) + ", expected \"" + needed
                    + "\": of every " + std::to_string(model.window.full_every) + " layers the last one sees all",
                "", config.where("layer_types")};
    }
    return {};
}

void write_rope(const ModelShape& model, Json& config)
{
    config["rope_theta"] = model.rope_theta;
    if (model.rotary_share != 1)
        config[kRotaryShare] = model.rotary_share;
    const RopeScaling& scaling = model.rope_scaling;
    if (scaling.type.empty())
        return;
    Json out = {{"rope_type", scaling.type}, {"factor", scaling.factor}};
    if (scaling.type == "llama3") {
        out["low_freq_factor"] = scaling.low_freq_factor;
        out["high_freq_factor"] = scaling.high_freq_factor;
    }
    const RopeScaling usual;
    if (scaling.beta_fast != usual.beta_fast)
        out["beta_fast"] = scaling.beta_fast;
    if (scaling.beta_slow != usual.beta_slow)
        out["beta_slow"] = scaling.beta_slow;
    if (!scaling.truncate)
        out["truncate"] = false;
    if (scaling.mscale > 0)
        out["mscale"] = scaling.mscale;
    if (scaling.mscale_all_dim > 0)
        out["mscale_all_dim"] = scaling.mscale_all_dim;
    if (scaling.attention_factor > 0)
        out["attention_factor"] = scaling.attention_factor;
    if (!scaling.short_factors.empty()) {
        out["short_factor"] = scaling.short_factors;
        out["long_factor"] = scaling.long_factors;
    }
    out["original_max_position_embeddings"] = scaling.original_positions;
    config["rope_scaling"] = std::move(out);
}

Expected<void> check_activation(
    const Fields& config, const std::string& key, std::initializer_list<std::string_view> accepted)
{
    if (!config.has(key))
        return {};
    FOURFOLD_TRY(const std::string activation, config.text(key));
    std::string list;
    for (const std::string_view choice : accepted) {
        if (activation == choice)
            return {};
        list += (list.empty() ? "" : " or ") + std::string(choice);
    }
    Problem problem = config.wrong(key, list);
    problem.code = ProblemCode::unsupported; // it may be described all the same (core/model/import)
    return problem;
}

Expected<void> check_biased_attention(const Fields& config)
{
    FOURFOLD_TRY(const bool biased, config.boolean_or("attention_bias", true));
    if (biased)
        return {};
    return Problem{ProblemCode::unsupported, "attention without biases is not supported, expected true", {},
        config.where("attention_bias")};
}

Expected<void> must_be_off(const Fields& config, const std::string& key, const std::string& what)
{
    FOURFOLD_TRY(const bool on, config.boolean_or(key, false));
    if (!on)
        return {};
    return Problem{ProblemCode::unsupported, what + " are not supported, expected false", {}, config.where(key)};
}

} // namespace fourfold::config_keys
