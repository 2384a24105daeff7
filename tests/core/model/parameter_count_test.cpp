// SPDX-License-Identifier: GPL-3.0-or-later
// Parameter counts against the published ones, and three ways of counting against each other.
#include "core/model/parameters.h"
#include "tests/core/model/preset_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fourfold {
namespace {

double table_sum(const ModelShape& model)
{
    double sum = 0;
    for (const Parameter& parameter : parameter_table(model, model.vocab, 0, model.layers, true, true))
        sum += double(parameter.elements());
    return sum;
}

// Written from the architectures' papers, without the code's structure.
double by_hand(const ModelShape& m)
{
    const double h = double(m.hidden), f = double(m.ffn), V = double(m.vocab), L = m.layers, a = m.heads;
    const double kv = double(m.kv_heads), d = double(m.head_dim);
    const double tables = V * h * (m.tied_embeddings ? 1 : 2);
    if (m.model_type == "gpt2")
        return tables + double(m.max_positions) * h + L * (4 * h * h + 2 * h * f + 9 * h + f) + 2 * h;
    if (m.model_type == "gpt_neox")
        return tables + L * (4 * h * h + 2 * h * f + 9 * h + f) + 2 * h;
    if (m.model_type == "bloom")
        return tables + L * (12 * h * h + 13 * h) + 4 * h;
    if (m.model_type == "deepseek_v3") {
        const LatentAttention& l = *m.latent;
        const Experts& e = *m.experts;
        const double q = double(l.q_rank), c = double(l.kv_rank), n = double(l.nope_head_dim),
                     r = double(l.rope_head_dim), v = double(l.value_head_dim);
        const double attention = h * q + q + q * a * (n + r) + h * (c + r) + c + c * a * (n + v) + a * v * h;
        const double moe = h * e.count + e.count + 3 * h * double(e.ffn) * (e.count + e.shared);
        return tables + L * (attention + 2 * h) + e.dense_layers * 3 * h * f + (L - e.dense_layers) * moe + h;
    }
    const double attention = 2 * h * a * d + 2 * h * kv * d + (m.model_type == "qwen2" ? a * d + 2 * kv * d : 0);
    const double mlp = m.experts ? m.experts->count * (3 * h * f + h) : 3 * h * f;
    return tables + L * (attention + mlp + 2 * h) + h;
}

struct Published {
    const char* id;
    double parameters;
    double tolerance; // relative; 0 = the count of the published weights, to the parameter
};

class ParameterCount : public testing::TestWithParam<Published> { };

TEST_P(ParameterCount, MatchesThePublishedOne)
{
    const ModelShape model = test::preset_model(GetParam().id);
    EXPECT_LE(std::abs(model.parameters() - GetParam().parameters), GetParam().tolerance * GetParam().parameters)
        << std::fixed << model.parameters();
    EXPECT_EQ(model.parameters(), table_sum(model));
    EXPECT_EQ(model.parameters(), by_hand(model));
}

INSTANTIATE_TEST_SUITE_P(Models, ParameterCount,
    testing::Values(Published{"llama-3.1-8b", 8'030'261'248, 0}, Published{"llama-3.1-70b", 70'553'706'496, 0},
        Published{"llama-3.1-405b", 405'853'388'800, 0}, Published{"llama-3.2-1b", 1'235'814'400, 0},
        Published{"llama-3.2-3b", 3'212'749'824, 0}, Published{"llama-2-7b", 6'738'415'616, 0},
        Published{"llama-2-13b", 13'015'864'320, 0}, Published{"llama-2-70b", 68'976'648'192, 0},
        Published{"mistral-7b-v0.1", 7'241'732'096, 0}, Published{"qwen2.5-7b", 7'615'616'512, 0},
        Published{"mixtral-8x7b", 46'702'792'704, 0}, Published{"mixtral-8x22b", 140'620'634'112, 0},
        Published{"deepseek-v3", 671e9, 1e-3}, Published{"gpt2", 124'439'808, 0},
        Published{"gpt2-xl", 1'557'611'200, 0}, Published{"gpt3-175b", 174'600e6, 1e-3},
        Published{"gpt-neox-20b", 20'554'567'680, 0}, Published{"bloom-176b", 176'247'271'424, 0}),
    [](const auto& info) {
        std::string name = info.param.id;
        for (char& c : name)
            c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
        return name;
    });

// Active weights as the table's kinds give them: everything that is multiplied, routed experts by the share used.
double active_from_table(const ModelShape& model)
{
    double sum = 0;
    for (const Parameter& parameter : parameter_table(model, model.vocab, 0, model.layers, true, true)) {
        switch (parameter.kind) {
        case ParameterKind::expert:
            sum += double(parameter.elements()) * model.experts->active / model.experts->count;
            break;
        case ParameterKind::attention:
        case ParameterKind::mlp:
        case ParameterKind::router:
        case ParameterKind::head:
            sum += double(parameter.elements());
            break;
        case ParameterKind::embedding:
            sum += model.tied_embeddings ? double(parameter.elements()) : 0;
            break;
        case ParameterKind::position_embedding:
        case ParameterKind::norm:
        case ParameterKind::bias:
            break;
        }
    }
    return sum;
}

TEST(ActiveParameters, AreTheMultipliedOnesOfTheTable)
{
    for (const char* id : {"llama-3.1-8b", "llama-3.2-1b", "qwen2.5-7b", "mixtral-8x7b", "deepseek-v3", "gpt2",
             "gpt-neox-20b", "bloom-176b"}) {
        const ModelShape model = test::preset_model(id);
        EXPECT_DOUBLE_EQ(model.active_matmul_parameters(), active_from_table(model)) << id;
    }
}

TEST(ActiveParameters, MatchThePublishedOnes)
{
    // The papers count the input embedding too: 37e9 (DeepSeek-V3), 12.9e9 (Mixtral).
    const ModelShape deepseek = test::preset_model("deepseek-v3");
    EXPECT_NEAR(deepseek.active_matmul_parameters() + double(deepseek.vocab * deepseek.hidden), 37e9, 0.02 * 37e9);
    const ModelShape mixtral = test::preset_model("mixtral-8x7b");
    EXPECT_NEAR(mixtral.active_matmul_parameters() + double(mixtral.vocab * mixtral.hidden), 12.9e9, 0.005 * 12.9e9);
    const ModelShape llama = test::preset_model("llama-3.1-8b");
    EXPECT_EQ(llama.active_matmul_parameters(), 8'030'261'248.0 - 128256.0 * 4096 - 65.0 * 4096);
}

} // namespace
} // namespace fourfold
