// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with LayerNorm, GELU and biases everywhere: GPT-2 (also GPT-3's shape), GPT-NeoX, BLOOM.
// All three fuse queries, keys and values into one projection; tensor parallelism splits it by heads.
#include "core/model/blocks.h"
#include "core/model/family.h"

namespace fourfold {

namespace {
using config_keys::kMostHeads;
using config_keys::kMostLayers;
using config_keys::kMostVocab;
using config_keys::kMostWidth;

void set_gpt_defaults(ModelShape& model)
{
    model.activation = Activation::gelu;
    model.norm = Norm::layer;
    model.linear_bias = true;
}

// The families have no key for the width of a head.
Expected<void> set_heads(
    const Fields& config, const std::string& heads_key, const std::string& hidden_key, ModelShape& model)
{
    model.kv_heads = model.heads;
    if (model.hidden % model.heads != 0)
        return config.problem(heads_key,
            std::to_string(model.heads) + " does not divide " + hidden_key + " " + std::to_string(model.hidden));
    model.head_dim = model.hidden / model.heads;
    return {};
}

// GPT-NeoX adds attention and MLP to the same residual; its weights are the same.
struct LayerNames {
    std::string_view first_norm;
    FusedNames attention;
    std::string_view second_norm;
    MlpNames mlp;
};
template <const LayerNames& names>
void gpt_layer(Rows& rows, const ModelShape& m, bool /*experts*/)
{
    rows.emplace_back(NormRow{Role::attention_norm, names.first_norm, m.hidden});
    add_fused_attention(rows, m, names.attention);
    rows.emplace_back(NormRow{Role::mlp_norm, names.second_norm, m.hidden});
    add_mlp(rows, m, names.mlp);
}

Expected<void> read_gpt2(const Fields& config, ModelShape& model)
{
    set_gpt_defaults(model);
    model.positions = Positions::learned;
    FOURFOLD_TRY(model.hidden, config.integer("n_embd", 1, kMostWidth));
    FOURFOLD_TRY(model.layers, config.small_integer("n_layer", 1, kMostLayers));
    FOURFOLD_TRY(model.heads, config.small_integer("n_head", 1, kMostHeads));
    FOURFOLD_CHECK(set_heads(config, "n_head", "n_embd", model));
    FOURFOLD_TRY(model.ffn, config.integer_or("n_inner", 4 * model.hidden, 1, kMostWidth));
    FOURFOLD_TRY(model.vocab, config.integer("vocab_size", 1, kMostVocab));
    const bool has_positions = config.has("n_positions") || !config.has("n_ctx");
    FOURFOLD_TRY(model.max_positions, config.integer(has_positions ? "n_positions" : "n_ctx", 1, kMostWidth));
    FOURFOLD_TRY(model.norm_eps, config.positive_or("layer_norm_epsilon", 1e-5));
    FOURFOLD_CHECK(
        config_keys::check_activation(config, "activation_function", {"gelu_new", "gelu", "gelu_pytorch_tanh"}));
    FOURFOLD_TRY(const std::string activation, config.text_or("activation_function", "gelu_new"));
    model.exact_gelu = activation == "gelu";
    return {};
}
void write_gpt2(const ModelShape& model, Json& config)
{
    config["n_embd"] = model.hidden;
    config["n_layer"] = model.layers;
    config["n_head"] = model.heads;
    config["n_inner"] = model.ffn;
    config["vocab_size"] = model.vocab;
    config["n_positions"] = model.max_positions;
    config["layer_norm_epsilon"] = model.norm_eps;
    config["activation_function"] = model.exact_gelu ? "gelu" : "gelu_new";
}

Expected<void> read_gpt_neox(const Fields& config, ModelShape& model)
{
    set_gpt_defaults(model);
    FOURFOLD_TRY(model.hidden, config.integer("hidden_size", 1, kMostWidth));
    FOURFOLD_TRY(model.layers, config.small_integer("num_hidden_layers", 1, kMostLayers));
    FOURFOLD_TRY(model.heads, config.small_integer("num_attention_heads", 1, kMostHeads));
    FOURFOLD_CHECK(set_heads(config, "num_attention_heads", "hidden_size", model));
    FOURFOLD_TRY(model.ffn, config.integer("intermediate_size", 1, kMostWidth));
    FOURFOLD_TRY(model.vocab, config.integer("vocab_size", 1, kMostVocab));
    FOURFOLD_TRY(model.max_positions, config.integer_or("max_position_embeddings", 2048));
    FOURFOLD_TRY(model.norm_eps, config.positive_or("layer_norm_eps", 1e-5));
    FOURFOLD_CHECK(config_keys::check_biased_attention(config));
    FOURFOLD_CHECK(config_keys::check_activation(config, "hidden_act", {"gelu", "gelu_new", "gelu_fast"}));
    FOURFOLD_TRY(const std::string activation, config.text_or("hidden_act", "gelu"));
    model.exact_gelu = activation == "gelu";
    model.rotary_share = 0.25;
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    // GPT-NeoX's own name for rope_theta.
    FOURFOLD_TRY(model.rope_theta, config.positive_or("rotary_emb_base", model.rope_theta));
    FOURFOLD_TRY(model.rotary_share, config.positive_or("rotary_pct", model.rotary_share));
    if (model.rotary_share > 1 || model.rotary_dim() < 2)
        return config.wrong("rotary_pct", "a share of each head of at least two elements");
    FOURFOLD_TRY(model.parallel_residual, config.boolean_or("use_parallel_residual", true));
    return {};
}
void write_gpt_neox(const ModelShape& model, Json& config)
{
    config["hidden_size"] = model.hidden;
    config["num_hidden_layers"] = model.layers;
    config["num_attention_heads"] = model.heads;
    config["intermediate_size"] = model.ffn;
    config["vocab_size"] = model.vocab;
    config["max_position_embeddings"] = model.max_positions;
    config["layer_norm_eps"] = model.norm_eps;
    config["hidden_act"] = model.exact_gelu ? "gelu" : "gelu_new";
    config["rotary_emb_base"] = model.rope_theta;
    config["rotary_pct"] = model.rotary_share;
    config["use_parallel_residual"] = model.parallel_residual;
    config_keys::write_rope(model, config);
    config.erase("partial_rotary_factor"); // rotary_pct says it
}

Expected<void> read_bloom(const Fields& config, ModelShape& model)
{
    set_gpt_defaults(model);
    model.positions = Positions::alibi;
    model.embedding_norm = true;
    // The published files mix old and new spellings: "n_embed" and "hidden_size", "n_head" and
    // "num_attention_heads".
    const std::string hidden = !config.has("hidden_size") && config.has("n_embed") ? "n_embed" : "hidden_size";
    const std::string heads
        = !config.has("n_head") && config.has("num_attention_heads") ? "num_attention_heads" : "n_head";
    const std::string layers
        = !config.has("n_layer") && config.has("num_hidden_layers") ? "num_hidden_layers" : "n_layer";
    FOURFOLD_TRY(model.hidden, config.integer(hidden, 1, kMostWidth));
    FOURFOLD_TRY(model.layers, config.small_integer(layers, 1, kMostLayers));
    FOURFOLD_TRY(model.heads, config.small_integer(heads, 1, kMostHeads));
    FOURFOLD_CHECK(set_heads(config, heads, hidden, model));
    model.ffn = 4 * model.hidden; // fixed in the architecture
    FOURFOLD_TRY(model.vocab, config.integer("vocab_size", 1, kMostVocab));
    FOURFOLD_TRY(model.max_positions, config.integer_or("seq_length", 2048));
    FOURFOLD_TRY(model.norm_eps, config.positive_or("layer_norm_epsilon", 1e-5));
    return config_keys::must_be_off(config, "apply_residual_connection_post_layernorm", "residuals after the norm");
}
void write_bloom(const ModelShape& model, Json& config)
{
    config["hidden_size"] = model.hidden;
    config["n_layer"] = model.layers;
    config["n_head"] = model.heads;
    config["vocab_size"] = model.vocab;
    config["seq_length"] = model.max_positions;
    config["layer_norm_epsilon"] = model.norm_eps;
}

// Hugging Face stores the four matrices input first (its Conv1D); the table keeps output features first.
constexpr LayerNames kGpt2Layer{
    "ln_1", {"attn.c_attn", "attn.c_proj"}, "ln_2", {.up = "mlp.c_fc", .down = "mlp.c_proj"}};
constexpr LayerNames kGptNeoxLayer{"input_layernorm", {"attention.query_key_value", "attention.dense"},
    "post_attention_layernorm", {.up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h"}};
constexpr LayerNames kBloomLayer{"input_layernorm", {"self_attention.query_key_value", "self_attention.dense"},
    "post_attention_layernorm", {.up = "mlp.dense_h_to_4h", .down = "mlp.dense_4h_to_h"}};
} // namespace

const Family kGpt2{"gpt2", read_gpt2, write_gpt2, gpt_layer<kGpt2Layer>,
    {.layers = "transformer.h.",
        .embedding = "transformer.wte",
        .position_embedding = "transformer.wpe",
        .final_norm = "transformer.ln_f",
        .head = "lm_head"},
    true, true, true, "GPT2LMHeadModel"};
const Family kGptNeox{"gpt_neox", read_gpt_neox, write_gpt_neox, gpt_layer<kGptNeoxLayer>,
    {.layers = "gpt_neox.layers.",
        .embedding = "gpt_neox.embed_in",
        .final_norm = "gpt_neox.final_layer_norm",
        .head = "embed_out"},
    false, true, false, "GPTNeoXForCausalLM"};
const Family kBloom{"bloom", read_bloom, write_bloom, gpt_layer<kBloomLayer>,
    {.layers = "transformer.h.",
        .embedding = "transformer.word_embeddings",
        .embedding_norm = "transformer.word_embeddings_layernorm",
        .final_norm = "transformer.ln_f",
        .head = "lm_head"},
    true, true, false, "BloomForCausalLM"};

} // namespace fourfold
