// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/model_shape.h"
#include "core/model/parameters.h"
#include "tests/core/model/hugging_face_configs.h"
#include "tests/core/model/preset_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

namespace fourfold {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ModelShape import(const char* text)
{
    auto model = model_from_config(Json::parse(text), "config.json");
    if (!model) {
        ADD_FAILURE() << model.error().line();
        return {};
    }
    return *std::move(model);
}

// Every field, so that a round trip that loses one shows it.
std::string all_fields(const ModelShape& m)
{
    Json json = {{"id", m.id}, {"name", m.name}, {"type", m.model_type}, {"layers", m.layers}, {"hidden", m.hidden},
        {"heads", m.heads}, {"kv_heads", m.kv_heads}, {"head_dim", m.head_dim}, {"ffn", m.ffn}, {"vocab", m.vocab},
        {"positions", m.max_positions}, {"activation", int(m.activation)}, {"norm", int(m.norm)},
        {"position_kind", int(m.positions)}, {"theta", m.rope_theta}, {"eps", m.norm_eps},
        {"rope",
            {m.rope_scaling.type, m.rope_scaling.factor, m.rope_scaling.low_freq_factor,
                m.rope_scaling.high_freq_factor, m.rope_scaling.original_positions}},
        {"tied", m.tied_embeddings}, {"qkv_bias", m.qkv_bias}, {"bias", m.linear_bias},
        {"embedding_norm", m.embedding_norm}};
    if (m.experts)
        json["experts"]
            = {m.experts->count, m.experts->active, m.experts->ffn, m.experts->shared, m.experts->dense_layers};
    if (m.latent)
        json["latent"] = {m.latent->q_rank, m.latent->kv_rank, m.latent->nope_head_dim, m.latent->rope_head_dim,
            m.latent->value_head_dim};
    return json.dump();
}

// Keys that make another model of the same shapes: read, or refused.
class Keys : public ::testing::Test {
protected:
    static Json config(const std::string& family, const Json& more = Json::object())
    {
        Json json = {{"model_type", family}, {"hidden_size", 64}, {"num_hidden_layers", 4}, {"num_attention_heads", 4},
            {"intermediate_size", 64}, {"vocab_size", 64}, {"num_local_experts", 4}, {"num_experts_per_tok", 2},
            {"sliding_window", 8}};
        json.update(more);
        return json;
    }
    static ModelShape read(const std::string& family, const Json& more)
    {
        return import(config(family, more).dump().c_str());
    }
    static std::string refused(const std::string& family, const Json& more)
    {
        const auto model = model_from_config(config(family, more), "config.json");
        return model ? "" : model.error().line();
    }
};

TEST_F(Keys, TypesOfLayersAreThoseOfTheFamily)
{
    const Json full = "full_attention", window = "sliding_attention";
    EXPECT_EQ(refused("gpt_oss", {{"layer_types", {window, full, window, full}}}), "");
    EXPECT_THAT(refused("gpt_oss", {{"layer_types", {full, window, full, window}}}),
        HasSubstr("layer_types: layer 0 is \"full_attention\", expected \"sliding_attention\": of every 2 layers"));
    EXPECT_THAT(refused("gpt_oss", {{"layer_types", {window, window, window, window}}}), HasSubstr("layer 1 is"));
    EXPECT_THAT(refused("gpt_oss", {{"layer_types", {window}}}), HasSubstr("a word for each of the 4 layers"));
    EXPECT_THAT(refused("gpt_oss", {{"layer_types", 5}}), HasSubstr("layer_types"));
    EXPECT_EQ(read("gemma3_text", {{"layer_types", {full, full, full, full}}}).windowed_share(), 0);
    EXPECT_EQ(read("gemma3_text", {{"layer_types", {full, full, window, full}}}).windowed_share(), 0.25);
    EXPECT_EQ(refused("gemma3_text", {{"layer_types", {window, window, window, window}}}), "");
    EXPECT_EQ(refused("gpt_oss", {{"layer_types", {window, window, window, full}}, {"sliding_window", nullptr}}), "");
    for (const char* family : {"mistral", "mixtral"}) { // every layer has it
        const ModelShape near = read(family, Json::object());
        EXPECT_EQ(near.model_type, family);
        EXPECT_EQ(near.windowed_share(), 1) << family;
        EXPECT_EQ(near.window.tokens, 8) << family;
        EXPECT_EQ(config_from_model(near)["sliding_window"], 8) << family;
        const ModelShape far = read(family, {{"sliding_window", nullptr}});
        EXPECT_EQ(far.windowed_share(), 0) << family;
        EXPECT_FALSE(config_from_model(far).contains("sliding_window")) << family;
    }
    const ModelShape behind = read("qwen2", {{"use_sliding_window", true}, {"max_window_layers", 3}});
    EXPECT_FALSE(behind.windowed(2));
    EXPECT_TRUE(behind.windowed(3));
}

TEST_F(Keys, RotaryPositionsOfEachTypeOfLayer)
{
    const Json types = {{"full_attention", {{"rope_type", "linear"}, {"rope_theta", 1e6}, {"factor", 8.0}}},
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 2e4}}}};
    const ModelShape gemma = read("gemma3_text", {{"rope_parameters", types}});
    EXPECT_EQ(gemma.rope_theta, 1e6);
    EXPECT_EQ(gemma.rope_scaling.type, "linear");
    EXPECT_EQ(gemma.rope_scaling.factor, 8);
    EXPECT_EQ(gemma.window_rope_theta, 2e4);
    EXPECT_THAT(refused("gemma3_text", {{"rope_parameters", {{"full_attention", 5}}}}), HasSubstr("full_attention"));
}

TEST_F(Keys, AShareOfEachHeadMayTurn)
{
    const ModelShape half = read("llama", {{"partial_rotary_factor", 0.5}});
    EXPECT_EQ(half.rotary_dim(), 8);
    EXPECT_EQ(import(config_from_model(half).dump().c_str()).rotary_dim(), 8);
    EXPECT_EQ(
        read("llama", {{"rope_parameters", {{"rope_theta", 1e4}, {"partial_rotary_factor", 0.25}}}}).rotary_dim(), 4);
    EXPECT_EQ(read("llama", Json::object()).rotary_dim(), 16);
    EXPECT_FALSE(config_from_model(read("llama", Json::object())).contains("partial_rotary_factor"));
    // GPT-NeoX turns a quarter where nothing is said, and all of it where that is said.
    const auto neox_share = [this](const Json& keys) { return read("gpt_neox", keys).rotary_share; };
    EXPECT_EQ(neox_share(Json::object()), 0.25);
    EXPECT_EQ(neox_share({{"rotary_pct", 1.0}}), 1);
    EXPECT_EQ(neox_share({{"partial_rotary_factor", 1.0}}), 1);
    EXPECT_EQ(neox_share({{"rope_parameters", {{"rope_theta", 1e4}, {"partial_rotary_factor", 1.0}}}}), 1);
    for (const double share : {0.0, -1.0, 1.5, 0.01})
        EXPECT_THAT(refused("llama", {{"partial_rotary_factor", share}}), HasSubstr("partial_rotary_factor"));
}

TEST_F(Keys, WhatTheTrainerDoesNotRunIsDescribed)
{
    EXPECT_EQ(read("gemma3_text", {{"final_logit_softcapping", nullptr}}).model_type, "gemma3_text");
    const ModelShape capped = read("gemma3_text", {{"final_logit_softcapping", 30.0}});
    EXPECT_EQ(capped.model_type, "decoder");
    EXPECT_EQ(capped.parameters(), read("gemma3_text", Json::object()).parameters());
    const double plain = read("llama", Json::object()).parameters();
    const ModelShape biased = read("llama", {{"attention_bias", true}, {"mlp_bias", true}});
    EXPECT_EQ(biased.model_type, "decoder");
    EXPECT_EQ(biased.parameters(), plain + 4 * (4 * 64 + 3 * 64));
    EXPECT_EQ(biased.name, "llama with 4 layers");
    EXPECT_EQ(read("llama", {{"hidden_act", "gelu"}}).activation, Activation::geglu);
    Json config = Json::parse(test::kDeepseekConfig);
    config["moe_layer_freq"] = 2;
    EXPECT_EQ(import(config.dump().c_str()).moe_layers(), 29); // each second one of the 58 behind the dense ones
}

TEST_F(Keys, WhatIsNotComputedIsRefused)
{
    EXPECT_THAT(refused("gpt_oss", {{"attention_bias", false}}), HasSubstr("attention without biases"));
}

TEST(HuggingFace, ReadsLlama31)
{
    const ModelShape m = import(test::kLlama31Config);
    EXPECT_EQ(m.layers, 32);
    EXPECT_EQ(m.kv_heads, 8);
    EXPECT_EQ(m.head_dim, 128);
    EXPECT_EQ(m.ffn, 14336);
    EXPECT_EQ(m.rope_theta, 500000);
    EXPECT_EQ(m.rope_scaling.type, "llama3");
    EXPECT_EQ(m.rope_scaling.factor, 8);
    EXPECT_EQ(m.rope_scaling.original_positions, 8192);
    EXPECT_EQ(m.norm, Norm::rms);
    EXPECT_TRUE(m.gated());
    EXPECT_FALSE(m.tied_embeddings);
    EXPECT_EQ(m.parameters(), 8'030'261'248);
    EXPECT_EQ(m.name, "llama with 32 layers");
}

TEST(HuggingFace, KeyValueHeadsDefaultToAllHeads)
{
    const ModelShape m = import(test::kLlama2Config);
    EXPECT_EQ(m.kv_heads, 32);
    EXPECT_TRUE(m.rope_scaling.type.empty());
    EXPECT_EQ(m.rope_theta, 10000);
    EXPECT_EQ(m.parameters(), 6'738'415'616);
}

TEST(HuggingFace, HeadWidthMayDifferFromHiddenOverHeads)
{
    const ModelShape m = import(test::kMistralConfig); // Mistral NeMo 12B: 32 heads of 128 on a width of 5120
    EXPECT_EQ(m.head_dim, 128);
    EXPECT_EQ(m.parameters(), 12'247'782'400);
}

TEST(HuggingFace, Qwen2HasBiasesAndMayTieItsEmbeddings)
{
    const ModelShape m = import(test::kQwen2Config); // Qwen2.5 0.5B
    EXPECT_TRUE(m.qkv_bias);
    EXPECT_TRUE(m.tied_embeddings);
    EXPECT_EQ(m.parameters(), 494'032'768);
}

TEST(HuggingFace, ReadsExperts)
{
    const ModelShape m = import(test::kMixtralConfig);
    ASSERT_TRUE(m.experts);
    EXPECT_EQ(m.experts->count, 8);
    EXPECT_EQ(m.experts->active, 2);
    EXPECT_EQ(m.experts->ffn, 14336);
    EXPECT_TRUE(m.is_moe_layer(0));
    EXPECT_FALSE(m.latent);
}

TEST(HuggingFace, ReadsDeepseekV3)
{
    const ModelShape m = import(test::kDeepseekConfig);
    ASSERT_TRUE(m.experts);
    ASSERT_TRUE(m.latent);
    EXPECT_EQ(m.head_dim, 192);
    EXPECT_EQ(m.latent->value_head_dim, 128);
    EXPECT_EQ(m.experts->shared, 1);
    EXPECT_FALSE(m.is_moe_layer(2));
    EXPECT_TRUE(m.is_moe_layer(3));
    EXPECT_EQ(m.rope_scaling.type, "yarn");
    EXPECT_EQ(m.rope_scaling.original_positions, 4096);
}

TEST(HuggingFace, ReadsGpt2sOwnKeyNames)
{
    const ModelShape m = import(test::kGpt2Config);
    EXPECT_EQ(m.hidden, 768);
    EXPECT_EQ(m.ffn, 3072); // n_inner is absent
    EXPECT_EQ(m.positions, Positions::learned);
    EXPECT_TRUE(m.tied_embeddings); // the family's default
    EXPECT_EQ(m.parameters(), 124'439'808);
}

TEST(HuggingFace, ReadsGptNeox)
{
    const ModelShape m = import(test::kGptNeoxConfig); // Pythia 1.4B
    EXPECT_FALSE(m.tied_embeddings);
    EXPECT_EQ(m.positions, Positions::rope);
    EXPECT_EQ(m.parameters(), 1'414'647'808);
}

TEST(HuggingFace, ReadsBothSpellingsOfBloom)
{
    const ModelShape large = import(test::kBloomConfig);
    EXPECT_EQ(large.parameters(), 176'247'271'424);
    EXPECT_EQ(large.ffn, 57344);
    EXPECT_TRUE(large.embedding_norm);
    EXPECT_EQ(import(test::kBloomSmallConfig).parameters(), 559'214'592);
}

TEST(HuggingFace, ReadsRopeParametersOfNewFiles)
{
    Json config = Json::parse(test::kLlama31Config);
    Json parameters = config["rope_scaling"];
    parameters["rope_theta"] = 250000.0;
    config.erase("rope_scaling");
    config.erase("rope_theta");
    config["rope_parameters"] = parameters;
    const auto model = model_from_config(config, "config.json");
    ASSERT_TRUE(model) << model.error().line();
    EXPECT_EQ(model->rope_theta, 250000);
    EXPECT_EQ(model->rope_scaling.factor, 8);
}

TEST(HuggingFace, RoundTripKeepsEveryField)
{
    for (const char* text : {test::kLlama31Config, test::kLlama2Config, test::kMistralConfig, test::kQwen2Config,
             test::kMixtralConfig, test::kDeepseekConfig, test::kGpt2Config, test::kGptNeoxConfig, test::kBloomConfig,
             test::kBloomSmallConfig}) {
        const ModelShape model = import(text);
        const auto again = model_from_config(config_from_model(model), "again");
        ASSERT_TRUE(again) << again.error().line();
        EXPECT_EQ(all_fields(*again), all_fields(model));
    }
    const ModelShape preset = test::preset_model("deepseek-v3");
    const auto again = model_from_config(config_from_model(preset), "again");
    ASSERT_TRUE(again) << again.error().line();
    EXPECT_EQ(all_fields(*again), all_fields(preset));
}

TEST(HuggingFace, UntiedGpt2SurvivesTheRoundTrip)
{
    Json config = Json::parse(test::kGpt2Config);
    config["tie_word_embeddings"] = false;
    const auto model = model_from_config(config, "config.json");
    ASSERT_TRUE(model);
    EXPECT_EQ(model->parameters(), 124'439'808.0 + 50257.0 * 768);
    EXPECT_FALSE(config_from_model(*model)["tie_word_embeddings"].get<bool>());
}

struct Malformed {
    const char* what;
    const char* base;
    std::function<void(Json&)> damage;
    const char* key; // named in the place
    const char* message; // part of the text
};

TEST(HuggingFace, NamesTheMissingOrContradictoryKey)
{
    const auto drop = [](const char* key) { return [key](Json& c) { c.erase(key); }; };
    const auto set = [](const char* key, Json value) { return [key, value](Json& c) { c[key] = value; }; };
    const std::vector<Malformed> cases{
        {"no family", test::kLlama31Config, drop("model_type"), "model_type", "as llama, qwen3 or deepseek_v3"},
        {"unknown family", test::kLlama31Config, set("model_type", "wav2vec"), "model_type",
            "families of decoders are known"},
        {"misspelt family", test::kLlama31Config, set("model_type", "lama"), "model_type", "did you mean llama"},
        {"family is a number", test::kLlama31Config, set("model_type", 3), "model_type", "expected a string, found 3"},
        {"no width", test::kLlama31Config, drop("hidden_size"), "hidden_size", "missing key"},
        {"null width", test::kLlama31Config, set("hidden_size", nullptr), "hidden_size", "missing key"},
        {"no layers", test::kLlama31Config, drop("num_hidden_layers"), "num_hidden_layers", "missing key"},
        {"no vocabulary", test::kLlama31Config, drop("vocab_size"), "vocab_size", "missing key"},
        {"no MLP width", test::kLlama31Config, drop("intermediate_size"), "intermediate_size", "missing key"},
        {"text width", test::kLlama31Config, set("hidden_size", "4096"), "hidden_size", "found \"4096\""},
        {"fraction", test::kLlama31Config, set("num_hidden_layers", 32.5), "num_hidden_layers", "whole number"},
        {"no heads", test::kLlama31Config, set("num_attention_heads", 0), "num_attention_heads", "found 0"},
        {"negative", test::kLlama31Config, set("vocab_size", -1), "vocab_size", "found -1"},
        {"huge", test::kLlama31Config, set("num_hidden_layers", 18446744073709551615ull), "num_hidden_layers",
            "found 18446744073709551615"},
        {"too many layers", test::kLlama31Config, set("num_hidden_layers", 1000000), "num_hidden_layers",
            "from 1 to 4096"},
        {"uneven heads", test::kLlama31Config, set("num_attention_heads", 33), "num_key_value_heads",
            "8 does not divide num_attention_heads 33"},
        {"uneven width", test::kLlama2Config, set("num_attention_heads", 33), "num_attention_heads",
            "33 does not divide hidden_size 4096"},
        {"uneven groups", test::kLlama31Config, set("num_key_value_heads", 5), "num_key_value_heads",
            "5 does not divide"},
        {"wide head", test::kLlama2Config, set("hidden_size", 1 << 22), "num_attention_heads", "65536 wide at most"},
        {"odd head", test::kMistralConfig, set("head_dim", 127), "head_dim", "even head width"},
        {"tie is text", test::kLlama31Config, set("tie_word_embeddings", "no"), "tie_word_embeddings", "true or false"},
        {"scaling is a list", test::kLlama31Config, set("rope_scaling", Json::array()), "rope_scaling",
            "expected an object"},
        {"unknown scaling", test::kLlama31Config, set("rope_scaling", {{"rope_type", "su"}}), "rope_scaling: rope_type",
            "yarn"},
        {"scaling without factor", test::kLlama31Config, set("rope_scaling", {{"type", "linear"}}),
            "rope_scaling: factor", "missing key"},
        {"zero epsilon", test::kLlama31Config, set("rms_norm_eps", 0), "rms_norm_eps", "above 0"},
        {"no experts", test::kMixtralConfig, drop("num_local_experts"), "num_local_experts", "missing key"},
        {"no active experts", test::kMixtralConfig, drop("num_experts_per_tok"), "num_experts_per_tok", "missing key"},
        {"more active than there are", test::kMixtralConfig, set("num_experts_per_tok", 9), "num_experts_per_tok",
            "9 is more than num_local_experts 8"},
        {"no latent rank", test::kDeepseekConfig, drop("kv_lora_rank"), "kv_lora_rank", "missing key"},
        {"no value width", test::kDeepseekConfig, drop("v_head_dim"), "v_head_dim", "missing key"},
        {"no expert width", test::kDeepseekConfig, drop("moe_intermediate_size"), "moe_intermediate_size",
            "missing key"},
        {"dense beyond the end", test::kDeepseekConfig, set("first_k_dense_replace", 62), "first_k_dense_replace",
            "62 is more than num_hidden_layers 61"},
        {"GPT-2 with Llama's keys", test::kLlama31Config, set("model_type", "gpt2"), "n_embd", "missing key"},
        {"GPT-2 heads", test::kGpt2Config, set("n_head", 7), "n_head", "7 does not divide n_embd 768"},
        {"GPT-2 activation", test::kGpt2Config, set("activation_function", "relu"), "activation_function", "gelu_new"},
        {"GPT-2 positions", test::kGpt2Config,
            [](Json& c) {
                c.erase("n_positions");
                c.erase("n_ctx");
            },
            "n_positions", "missing key"},
        {"NeoX heads", test::kGptNeoxConfig, set("num_attention_heads", 5), "num_attention_heads",
            "5 does not divide hidden_size 2048"},
        {"NeoX without biases", test::kGptNeoxConfig, set("attention_bias", false), "attention_bias", "not supported"},
        {"BLOOM heads", test::kBloomConfig, set("n_head", 100), "n_head", "100 does not divide hidden_size 14336"},
        {"BLOOM layers", test::kBloomConfig, drop("n_layer"), "n_layer", "missing key"},
    };
    for (const Malformed& malformed : cases) {
        Json config = Json::parse(malformed.base);
        malformed.damage(config);
        const auto model = model_from_config(config, "config.json");
        ASSERT_FALSE(model) << malformed.what;
        EXPECT_EQ(model.error().where, std::string("config.json: ") + malformed.key) << malformed.what;
        EXPECT_THAT(model.error().line(), HasSubstr(malformed.message)) << malformed.what;
        EXPECT_EQ(model.error().exit_status(), 2) << malformed.what;
        EXPECT_THAT(model.error().line(), testing::Not(HasSubstr("\n"))) << malformed.what;
    }
}

TEST(HuggingFace, RejectsWhatIsNoObject)
{
    for (const char* text : {"[]", "null", "3", "\"llama\""}) {
        const auto model = model_from_config(Json::parse(text), "config.json");
        ASSERT_FALSE(model) << text;
        EXPECT_THAT(model.error().line(), AllOf(HasSubstr("config.json"), HasSubstr("expected an object")));
    }
}

// Whatever one value becomes, reading gives a shape or a Problem, and a shape can be counted.
TEST(HuggingFace, SurvivesDamagedValues)
{
    const std::vector<Json> values{nullptr, true, -1, 0, 1, 3, 1e300, -0.5, 9223372036854775807ll,
        18446744073709551615ull, "", "x", Json::array(), Json::array({1}), Json::object(), Json{{"type", 1}}};
    for (const char* text : {test::kLlama31Config, test::kDeepseekConfig, test::kGpt2Config, test::kBloomConfig}) {
        const Json config = Json::parse(text);
        int shapes = 0, problems = 0;
        for (const auto& [key, original] : config.items()) {
            for (const Json& value : values) {
                Json damaged = config;
                damaged[key] = value;
                const auto model = model_from_config(damaged, "config.json");
                if (model) {
                    ++shapes;
                    EXPECT_GT(model->parameters(), 0);
                    EXPECT_TRUE(std::isfinite(model->parameters()));
                } else {
                    ++problems;
                    EXPECT_FALSE(model.error().where.empty());
                }
            }
        }
        EXPECT_GT(shapes, 0);
        EXPECT_GT(problems, 0);
    }
}

} // namespace
} // namespace fourfold
