// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with LayerNorm, GELU and biases everywhere: GPT-2 (also GPT-3's shape), GPT-NeoX, BLOOM.
// All three fuse queries, keys and values into one projection; tensor parallelism splits it by heads.
#include "core/model/family.h"

namespace fourfold {

namespace {
using Split = TableBuilder::Split;
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

struct LayerNames {
    std::string prefix, first_norm, qkv, out, second_norm, up, down;
};
void gpt_layer(TableBuilder& b, const LayerNames& names)
{
    const ModelShape& m = b.model;
    const int64_t width = m.heads * m.head_dim;
    b.prefix = names.prefix + std::to_string(b.layer) + ".";
    b.norm(names.first_norm, m.hidden);
    b.linear(names.qkv, 3 * width, m.hidden, Split::columns, ParameterKind::attention, true);
    b.linear(names.out, m.hidden, width, Split::rows, ParameterKind::attention, true, true);
    b.norm(names.second_norm, m.hidden);
    b.linear(names.up, m.ffn, m.hidden, Split::columns, ParameterKind::mlp, true);
    b.linear(names.down, m.hidden, m.ffn, Split::rows, ParameterKind::mlp, true, true);
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
void gpt2_embedding(TableBuilder& b)
{
    b.embedding("transformer.wte.weight");
    b.position_embedding("transformer.wpe.weight");
}
// Hugging Face stores these four weights input first (its Conv1D); the table keeps output features first.
void gpt2_layer(TableBuilder& b)
{
    gpt_layer(b, {"transformer.h.", "ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"});
}
void gpt2_final_norm(TableBuilder& b)
{
    b.norm("transformer.ln_f", b.model.hidden);
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
    FOURFOLD_TRY(const bool attention_bias, config.boolean_or("attention_bias", true));
    if (!attention_bias)
        return Problem{ProblemCode::unsupported, "attention without biases is not supported, expected true", {},
            config.where("attention_bias")};
    FOURFOLD_CHECK(config_keys::check_activation(config, "hidden_act", {"gelu", "gelu_new", "gelu_fast"}));
    FOURFOLD_TRY(const std::string activation, config.text_or("hidden_act", "gelu"));
    model.exact_gelu = activation == "gelu";
    FOURFOLD_CHECK(config_keys::read_rope(config, model));
    // GPT-NeoX's own name for rope_theta.
    FOURFOLD_TRY(model.rope_theta, config.positive_or("rotary_emb_base", model.rope_theta));
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
    config_keys::write_rope(model, config);
}
void gpt_neox_embedding(TableBuilder& b)
{
    b.embedding("gpt_neox.embed_in.weight");
}
void gpt_neox_layer(TableBuilder& b)
{
    gpt_layer(b,
        {"gpt_neox.layers.", "input_layernorm", "attention.query_key_value", "attention.dense",
            "post_attention_layernorm", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"});
}
void gpt_neox_final_norm(TableBuilder& b)
{
    b.norm("gpt_neox.final_layer_norm", b.model.hidden);
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
void bloom_embedding(TableBuilder& b)
{
    b.embedding("transformer.word_embeddings.weight");
    b.norm("transformer.word_embeddings_layernorm", b.model.hidden);
}
void bloom_layer(TableBuilder& b)
{
    gpt_layer(b,
        {"transformer.h.", "input_layernorm", "self_attention.query_key_value", "self_attention.dense",
            "post_attention_layernorm", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"});
}
void bloom_final_norm(TableBuilder& b)
{
    b.norm("transformer.ln_f", b.model.hidden);
}
} // namespace

const Family kGpt2{"gpt2", read_gpt2, write_gpt2, gpt2_embedding, gpt2_layer, gpt2_final_norm, "lm_head.weight", true};
const Family kGptNeox{"gpt_neox", read_gpt_neox, write_gpt_neox, gpt_neox_embedding, gpt_neox_layer,
    gpt_neox_final_norm, "embed_out.weight", false};
const Family kBloom{
    "bloom", read_bloom, write_bloom, bloom_embedding, bloom_layer, bloom_final_norm, "lm_head.weight", true};

} // namespace fourfold
