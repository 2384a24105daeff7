// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/parameters.h"
#include "tests/core/model/preset_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace fourfold {
namespace {

using Shape = std::vector<int64_t>;

std::vector<Parameter> whole_table(const ModelShape& model)
{
    return parameter_table(model, model.vocab, 0, model.layers, true, true);
}

const Parameter& find(const std::vector<Parameter>& table, const std::string& name)
{
    for (const Parameter& parameter : table) {
        if (parameter.name == name)
            return parameter;
    }
    ADD_FAILURE() << "no parameter " << name;
    static const Parameter kNone;
    return kNone;
}

struct Expectation {
    const char* model;
    const char* name;
    Shape shape;
    int tp_dim;
    ParameterKind kind;
    bool weight_decay;
};

TEST(ParameterTable, HasTheNamesAndShapesOfThePublishedCheckpoints)
{
    using enum ParameterKind;
    const std::vector<Expectation> expectations{
        {"llama-3.1-8b", "model.embed_tokens.weight", {128256, 4096}, 0, embedding, true},
        {"llama-3.1-8b", "model.layers.31.self_attn.q_proj.weight", {4096, 4096}, 0, attention, true},
        {"llama-3.1-8b", "model.layers.0.self_attn.k_proj.weight", {1024, 4096}, 0, attention, true},
        {"llama-3.1-8b", "model.layers.0.self_attn.v_proj.weight", {1024, 4096}, 0, attention, true},
        {"llama-3.1-8b", "model.layers.0.self_attn.o_proj.weight", {4096, 4096}, 1, attention, true},
        {"llama-3.1-8b", "model.layers.0.mlp.gate_proj.weight", {14336, 4096}, 0, mlp, true},
        {"llama-3.1-8b", "model.layers.0.mlp.down_proj.weight", {4096, 14336}, 1, mlp, true},
        {"llama-3.1-8b", "model.layers.0.input_layernorm.weight", {4096}, -1, norm, false},
        {"llama-3.1-8b", "model.layers.0.post_attention_layernorm.weight", {4096}, -1, norm, false},
        {"llama-3.1-8b", "model.norm.weight", {4096}, -1, norm, false},
        {"llama-3.1-8b", "lm_head.weight", {128256, 4096}, 0, head, true},
        {"qwen2.5-7b", "model.layers.0.self_attn.k_proj.bias", {512}, 0, bias, false},
        {"qwen3-8b", "model.layers.0.self_attn.q_norm.weight", {128}, -1, norm, false},
        {"gpt-oss-20b", "model.layers.0.self_attn.sinks", {64}, 0, bias, false},
        {"gpt-oss-20b", "model.layers.0.mlp.router.bias", {32}, -1, bias, false},
        {"llama-4-maverick", "model.layers.0.feed_forward.up_proj.weight", {16384, 5120}, 0, mlp, true},
        {"llama-4-maverick", "model.layers.1.feed_forward.shared_expert.up_proj.weight", {8192, 5120}, 0, mlp, true},
        {"gemma-3-4b", "model.layers.0.post_feedforward_layernorm.weight", {2560}, -1, norm, false},
        {"mixtral-8x7b", "model.layers.3.block_sparse_moe.gate.weight", {8, 4096}, -1, router, true},
        {"mixtral-8x7b", "model.layers.3.block_sparse_moe.experts.7.w1.weight", {14336, 4096}, 0, expert, true},
        {"mixtral-8x7b", "model.layers.3.block_sparse_moe.experts.7.w2.weight", {4096, 14336}, 1, expert, true},
        {"deepseek-v3", "model.layers.0.self_attn.q_a_proj.weight", {1536, 7168}, -1, attention, true},
        {"deepseek-v3", "model.layers.0.self_attn.q_b_proj.weight", {24576, 1536}, 0, attention, true},
        {"deepseek-v3", "model.layers.0.self_attn.kv_a_proj_with_mqa.weight", {576, 7168}, -1, attention, true},
        {"deepseek-v3", "model.layers.0.self_attn.kv_b_proj.weight", {32768, 512}, 0, attention, true},
        {"deepseek-v3", "model.layers.0.self_attn.o_proj.weight", {7168, 16384}, 1, attention, true},
        {"deepseek-v3", "model.layers.2.mlp.gate_proj.weight", {18432, 7168}, 0, mlp, true},
        {"deepseek-v3", "model.layers.3.mlp.experts.255.down_proj.weight", {7168, 2048}, 1, expert, true},
        {"deepseek-v3", "model.layers.3.mlp.shared_experts.up_proj.weight", {2048, 7168}, 0, mlp, true},
        {"deepseek-v3", "model.layers.3.mlp.gate.e_score_correction_bias", {256}, -1, bias, false},
        {"gpt2", "transformer.wte.weight", {50257, 768}, 0, embedding, true},
        {"gpt2", "transformer.wpe.weight", {1024, 768}, -1, position_embedding, true},
        {"gpt2", "transformer.h.11.attn.c_attn.weight", {2304, 768}, 0, attention, true},
        {"gpt2", "transformer.h.11.attn.c_attn.bias", {2304}, 0, bias, false},
        {"gpt2", "transformer.h.11.mlp.c_proj.weight", {768, 3072}, 1, mlp, true},
        {"gpt2", "transformer.h.11.mlp.c_proj.bias", {768}, -1, bias, false},
        {"gpt2", "transformer.ln_f.bias", {768}, -1, norm, false},
        {"gpt-neox-20b", "gpt_neox.layers.0.attention.query_key_value.weight", {18432, 6144}, 0, attention, true},
        {"gpt-neox-20b", "embed_out.weight", {50432, 6144}, 0, head, true},
        {"bloom-176b", "transformer.word_embeddings_layernorm.bias", {14336}, -1, norm, false},
        {"bloom-176b", "transformer.h.69.mlp.dense_h_to_4h.weight", {57344, 14336}, 0, mlp, true},
    };
    std::map<std::string, std::vector<Parameter>> tables;
    for (const Expectation& expected : expectations) {
        auto& table = tables[expected.model];
        if (table.empty())
            table = whole_table(test::preset_model(expected.model));
        const Parameter& parameter = find(table, expected.name);
        EXPECT_EQ(parameter.shape, expected.shape) << expected.name;
        EXPECT_EQ(parameter.tp_dim, expected.tp_dim) << expected.name;
        EXPECT_EQ(parameter.kind, expected.kind) << expected.name;
        EXPECT_EQ(parameter.weight_decay, expected.weight_decay) << expected.name;
    }
}

TEST(ParameterTable, NamesAreUnique)
{
    for (const char* id : {"llama-3.2-1b", "mixtral-8x7b", "deepseek-v3", "gpt2", "gpt-neox-20b", "bloom-176b"}) {
        std::set<std::string> names;
        for (const Parameter& parameter : whole_table(test::preset_model(id)))
            EXPECT_TRUE(names.insert(parameter.name).second) << id << " " << parameter.name;
    }
}

TEST(ParameterTable, PartsJoinToTheWhole)
{
    for (const char* id : {"llama-3.1-8b", "deepseek-v3", "gpt2"}) {
        const ModelShape model = test::preset_model(id);
        std::vector<std::string> joined, whole;
        const int cut = model.layers / 3;
        const auto append = [&joined](const std::vector<Parameter>& part) {
            for (const Parameter& parameter : part)
                joined.push_back(parameter.name);
        };
        append(parameter_table(model, model.vocab, 0, cut, true, false));
        append(parameter_table(model, model.vocab, cut, cut, false, false));
        append(parameter_table(model, model.vocab, cut, model.layers, false, true));
        for (const Parameter& parameter : whole_table(model))
            whole.push_back(parameter.name);
        // A tied head lives with the embedding; a last stage without the embedding holds its own copy.
        if (model.tied_embeddings)
            whole.push_back("lm_head.weight");
        EXPECT_EQ(joined, whole) << id;
    }
}

TEST(ParameterTable, UsesThePaddedVocabulary)
{
    const ModelShape model = test::preset_model("gpt2");
    const auto table = parameter_table(model, 50304, 0, 1, true, true);
    EXPECT_EQ(find(table, "transformer.wte.weight").shape, (Shape{50304, 768}));
    EXPECT_THAT(table, testing::Not(testing::Contains(testing::Field(&Parameter::name, "lm_head.weight"))));
    const auto last = parameter_table(model, 50304, 11, 12, false, true);
    EXPECT_EQ(find(last, "lm_head.weight").shape, (Shape{50304, 768}));
}

TEST(ParameterTable, RecordsTheLayerAndTheInitialisation)
{
    const ModelShape model = test::preset_model("llama-3.2-1b");
    for (const Parameter& parameter : whole_table(model)) {
        const bool inside = parameter.name.starts_with("model.layers.");
        EXPECT_EQ(parameter.layer >= 0, inside) << parameter.name;
        if (inside) {
            EXPECT_TRUE(parameter.name.starts_with("model.layers." + std::to_string(parameter.layer) + "."))
                << parameter.name;
        }
        if (parameter.kind == ParameterKind::norm) {
            EXPECT_EQ(parameter.init_std, 0) << parameter.name;
            EXPECT_EQ(parameter.init_value, 1) << parameter.name;
        } else {
            const bool residual
                = parameter.name.ends_with("o_proj.weight") || parameter.name.ends_with("down_proj.weight");
            EXPECT_DOUBLE_EQ(parameter.init_std, residual ? 0.02 / std::sqrt(2.0 * 16) : 0.02) << parameter.name;
        }
    }
    const auto gpt = whole_table(test::preset_model("gpt2"));
    EXPECT_EQ(find(gpt, "transformer.ln_f.bias").init_value, 0);
    EXPECT_EQ(find(gpt, "transformer.ln_f.weight").init_value, 1);
    EXPECT_EQ(find(gpt, "transformer.h.0.mlp.c_fc.bias").init_std, 0);
}

} // namespace
} // namespace fourfold
