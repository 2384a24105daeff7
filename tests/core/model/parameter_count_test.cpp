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
    const double grouped = 2 * h * a * d + 2 * h * kv * d;
    if (m.decoder && m.decoder->family == "nemotron_h") { // Mamba-2: arXiv:2405.21060, section 8; else attention or MLP
        const Scan& s = *m.decoder->scan;
        const double inner = double(s.heads * s.head_dim), seen = inner + 2.0 * s.groups * double(s.state);
        const double mamba
            = h * (inner + seen + s.heads) + seen * (s.convolution + 1) + 3.0 * s.heads + inner + inner * h;
        double sum = tables + h;
        for (int layer = 0; layer < m.layers; ++layer) {
            const LayerKind& kind = m.decoder->kind(layer);
            sum += h + (kind.scans() ? mamba : kind.attends() ? grouped : 2 * h * f);
        }
        return sum;
    }
    if (m.model_type == "gpt_oss") {
        const double each = 3 * h * f + 2 * f + h, biases = a * d + 2 * kv * d + h;
        return tables + L * (grouped + biases + a + m.experts->count * (each + h + 1) + 2 * h) + h;
    }
    if (m.model_type == "llama4_text") {
        const double e = double(m.experts->ffn), moe = std::floor(L / m.experts->every);
        return tables + L * (grouped + 2 * h) + moe * (m.experts->count * (3 * h * e + h) + 3 * h * e)
            + (L - moe) * 3 * h * f + h;
    }
    if (m.model_type == "qwen3_moe")
        return tables + L * (grouped + 2 * d + m.experts->count * (3 * h * double(m.experts->ffn) + h) + 2 * h) + h;
    if (m.model_type == "qwen3")
        return tables + L * (grouped + 2 * d + 3 * h * f + 2 * h) + h;
    if (m.model_type == "gemma3_text")
        return tables + L * (grouped + 2 * d + 3 * h * f + 4 * h) + h;
    if (m.model_type == "nemotron")
        return tables + L * (grouped + 2 * h * f + 4 * h) + 2 * h;
    if (m.model_type == "grok-1")
        return tables + L * (grouped + m.experts->count * (3 * h * f + h) + 4 * h) + h;
    const double attention = grouped + (m.model_type == "qwen2" ? a * d + 2 * kv * d : 0);
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
        Published{"gpt-neox-20b", 20'554'567'680, 0}, Published{"bloom-176b", 176'247'271'424, 0},
        Published{"qwen3-0.6b", 596'049'920, 0}, Published{"qwen3-1.7b", 1'720'574'976, 0},
        Published{"qwen3-4b", 4'022'468'096, 0}, Published{"qwen3-8b", 8'190'735'360, 0},
        Published{"qwen3-14b", 14'768'307'200, 0}, Published{"qwen3-32b", 32'762'123'264, 0},
        Published{"qwen3-30b-a3b", 30'532'122'624, 0}, Published{"qwen3-235b-a22b", 235'093'634'560, 0},
        Published{"gpt-oss-20b", 20.91e9, 5e-4}, Published{"gpt-oss-120b", 116.83e9, 5e-4},
        // With the vision encoder "109B" and "400B".
        Published{"llama-4-scout", 109e9, 0.012}, Published{"llama-4-maverick", 400e9, 2e-3},
        Published{"nemotron-4-15b", 15.6e9, 3e-3}, Published{"nemotron-4-340b", 341e9, 1e-3},
        Published{"nemotron-h-8b", 8.1e9, 1e-3}, Published{"nemotron-h-56b", 56'324'350'464, 0},
        // Table 1 of the report: embedding and all others.
        Published{"gemma-3-4b", 675e6 + 3'209e6, 2e-3}, Published{"gemma-3-12b", 1'012e6 + 10'759e6, 1e-3},
        Published{"gemma-3-27b", 1'416e6 + 25'600e6, 1e-3}, Published{"grok-1", 314e9, 6e-3}),
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
        case ParameterKind::projection:
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
             "gpt-neox-20b", "bloom-176b", "qwen3-4b", "qwen3-30b-a3b", "gpt-oss-20b", "llama-4-scout",
             "llama-4-maverick", "nemotron-4-15b", "nemotron-h-8b", "gemma-3-4b", "grok-1"}) {
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
    const auto with_table = [](const char* id) {
        const ModelShape model = test::preset_model(id);
        const bool counted = model.tied_embeddings;
        return model.active_matmul_parameters() + (counted ? 0 : double(model.vocab * model.hidden));
    };
    EXPECT_NEAR(with_table("qwen3-30b-a3b"), 3.3e9, 0.02 * 3.3e9);
    EXPECT_NEAR(with_table("qwen3-235b-a22b"), 22e9, 0.02 * 22e9);
    EXPECT_NEAR(with_table("gpt-oss-20b") - 201088.0 * 2880, 3.61e9, 0.01 * 3.61e9);
    EXPECT_NEAR(with_table("gpt-oss-120b") - 201088.0 * 2880, 5.13e9, 0.01 * 5.13e9);
    EXPECT_NEAR(with_table("llama-4-scout"), 17e9, 0.02 * 17e9);
    EXPECT_NEAR(with_table("llama-4-maverick"), 17e9, 0.02 * 17e9);
    const ModelShape llama = test::preset_model("llama-3.1-8b");
    EXPECT_EQ(llama.active_matmul_parameters(), 8'030'261'248.0 - 128256.0 * 4096 - 65.0 * 4096);
}

} // namespace
} // namespace fourfold
