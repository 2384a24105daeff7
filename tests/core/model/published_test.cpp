// SPDX-License-Identifier: GPL-3.0-or-later
// Configurations of decoders of 2024 to 2026 as people have them: each has as many parameters as Hugging Face's
// transformers builds (count_published.py makes the numbers).
#include "core/base/json.h"
#include "core/model/config_file.h"
#include "core/model/flops.h"
#include "core/model/import_report.h"
#include "core/model/layer.h"
#include "core/model/model_shape.h"
#include "core/model/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

namespace fourfold {
namespace {

class PublishedConfigs : public ::testing::Test {
protected:
    static const Json& table()
    {
        static const Json json = [] {
            auto read = read_json_file(std::string(FOURFOLD_SOURCE_DIR) + "/tests/core/model/published_configs.json");
            return read ? *std::move(read) : Json::object();
        }();
        return json;
    }
    template <typename Each>
    static void for_each_model(Each&& each)
    {
        ASSERT_TRUE(table().contains("models"));
        for (const Json& row : table()["models"]) {
            SCOPED_TRACE(row["model"].get<std::string>() + " (" + row["config"]["model_type"].get<std::string>() + ")");
            const auto model = model_from_config(row["config"], "config.json");
            if (!model)
                ADD_FAILURE() << model.error().line();
            else
                each(row, *model);
        }
    }
};

TEST_F(PublishedConfigs, AreAtLeastAHundredRealOnes)
{
    int published = 0;
    for (const Json& row : table()["models"])
        published += int(row["kind"] == "published");
    EXPECT_GE(published, 100);
}

TEST_F(PublishedConfigs, HaveTheParametersThatTransformersBuilds)
{
    for_each_model([](const Json& row, const ModelShape& model) {
        EXPECT_EQ(std::int64_t(model.parameters()), row["parameters"].get<std::int64_t>());
    });
}

TEST_F(PublishedConfigs, TheirTensorsAreThatMany)
{
    for_each_model([](const Json&, const ModelShape& model) {
        if (model.experts && model.experts->count * model.layers > 8000)
            return; // a tensor an expert: the largest take seconds
        ModelShape alone = model;
        alone.predicted_ahead = 0; // the published count leaves out what serves the training alone
        double elements = 0;
        for (const Parameter& one : parameter_table(alone, model.vocab, 0, model.layers, true, true))
            elements += double(one.elements());
        EXPECT_EQ(elements, model.parameters());
    });
}

TEST_F(PublishedConfigs, SurviveBeingKeptAsAPreset)
{
    for_each_model([](const Json&, const ModelShape& model) {
        const Json kept = config_from_model(model);
        const auto again = model_from_config(kept, "again");
        ASSERT_TRUE(again) << again.error().line();
        EXPECT_EQ(config_from_model(*again), kept);
        EXPECT_EQ(again->parameters(), model.parameters());
        EXPECT_DOUBLE_EQ(model_flops_per_token(*again, 8192, true), model_flops_per_token(model, 8192, true));
    });
}

// Modules of multi-token prediction are read by each name that files have for them.
TEST_F(PublishedConfigs, HaveTheModulesThatTheirFilesName)
{
    const std::map<std::string, int> modules{{"MiniMaxAI/MiniMax-M2.5", 3}, {"deepseek-ai/DeepSeek-V3", 1},
        {"Qwen/Qwen3.5-35B-A3B", 1}, {"zai-org/GLM-5", 1}, {"nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", 0}};
    std::size_t seen = 0;
    for_each_model([&](const Json& row, const ModelShape& model) {
        const auto known = modules.find(row["model"].get<std::string>());
        if (known == modules.end())
            return;
        ++seen;
        EXPECT_EQ(model.predicted_ahead, known->second);
        ImportReport report;
        ASSERT_TRUE(model_from_config(row["config"], "config.json", &report));
        const bool told = std::ranges::any_of(
            report.ignored, [](const auto& one) { return one.key.find("num_nextn") != std::string::npos; });
        EXPECT_EQ(told, known->second == 0) << "of layers unlike the last one: left out, and said so";
    });
    EXPECT_EQ(seen, modules.size());
}

// A module is a layer of the last one's kind, beside what joins its inputs.
TEST_F(PublishedConfigs, TheirModulesAreLikeTheLastLayer)
{
    const auto config = [](const char* more) {
        Json json = Json::parse(R"({"model_type": "qwen3_next", "hidden_size": 64, "num_hidden_layers": 8,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "intermediate_size": 96,
            "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24, "num_experts": 8,
            "num_experts_per_tok": 2, "vocab_size": 128, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
            "linear_key_head_dim": 16, "linear_value_head_dim": 16})");
        json.update(Json::parse(more));
        return *model_from_config(json, "config.json");
    };
    const auto elements = [](const ModelShape& model, const Rows& rows) {
        const LayerParameters one = layer_parameters(model, rows, {});
        return one.matrices(model.experts->count) + one.vectors + one.ruled;
    };
    const ModelShape qwen = config(R"({"mtp_num_hidden_layers": 2})");
    EXPECT_EQ(qwen.predicted_ahead, 2);
    const double joined = 2 * 64 * 64 + 3 * 64; // projection and three norms
    EXPECT_EQ(elements(qwen, rows_of_module(qwen)), joined + elements(qwen, rows_of_layer(qwen, 7)))
        << "the last layer attends to all tokens, three of four do not";
    EXPECT_NE(elements(qwen, rows_of_module(qwen)), joined + elements(qwen, layer_rows(qwen, true)));
    EXPECT_EQ(
        config(R"({"use_mtp": true, "num_mtp_modules": 3, "num_nextn_predict_layers": null})").predicted_ahead, 3);
    EXPECT_EQ(config(R"({"num_mtp_modules": 3, "mtp_transformer_layers": 2})").predicted_ahead, 0);
    EXPECT_EQ(config(R"({"use_mtp": false, "num_mtp_modules": 3})").predicted_ahead, 0);
    // The first layer is dense, the module has experts as the last one has.
    const ModelShape dense_first = config(R"({"mtp_num_hidden_layers": 1, "mlp_only_layers": [0]})");
    EXPECT_FALSE(dense_first.is_moe_layer(0));
    EXPECT_TRUE(dense_first.is_moe_layer(8));
}

// Of a family that the trainer runs without modules, a file that has them is described and planned.
TEST_F(PublishedConfigs, ModulesOfAFamilyThatTrainsWithoutThemAreDescribed)
{
    Json config = Json::parse(R"({"model_type": "qwen3", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "head_dim": 16, "intermediate_size": 96, "vocab_size": 128})");
    const ModelShape plain = *model_from_config(config, "config.json");
    EXPECT_EQ(plain.model_type, "qwen3");
    config["num_nextn_predict_layers"] = 1;
    const ModelShape ahead = *model_from_config(config, "config.json");
    EXPECT_EQ(ahead.model_type, "decoder");
    EXPECT_EQ(ahead.predicted_ahead, 1);
    EXPECT_EQ(ahead.parameters(), plain.parameters());
    EXPECT_GT(model_flops_per_token(ahead, 64), model_flops_per_token(plain, 64));
}

TEST_F(PublishedConfigs, ComputeNoMoreThanTheirParametersAndScores)
{
    for_each_model([](const Json&, const ModelShape& model) {
        const double products = 6 * model.active_matmul_parameters();
        EXPECT_LE(model.active_matmul_parameters(), model.parameters() + double(model.vocab * model.hidden));
        EXPECT_GE(model_flops_per_token(model, 4096, true), products);
        // Longer sequences cost more where a layer sees all of them, and never less.
        EXPECT_GE(model_flops_per_token(model, 1 << 20, true), model_flops_per_token(model, 1 << 18, true));
    });
}

TEST_F(PublishedConfigs, NumbersThatAreNoneAreRead)
{
    const auto config = parse_config(R"({"a": [0.0, Infinity], "b": -Infinity, "c": NaN, "d": "\" Infinity \""})", "c");
    ASSERT_TRUE(config) << config.error().line();
    EXPECT_EQ(*config, Json::parse(R"({"a": [0.0, "Infinity"], "b": "-Infinity", "c": "NaN", "d": "\" Infinity \""})"));
    EXPECT_FALSE(parse_config(R"({"a": Infinitely})", "c"));
    const auto eps
        = parse_config(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 61,
        "num_attention_heads": 4, "intermediate_size": 176, "rms_norm_eps": NaN})",
            "c");
    const auto model = model_from_config(*eps, "c");
    ASSERT_FALSE(model) << "no default takes its place";
    EXPECT_EQ(model.error().line(), R"(c: rms_norm_eps: expected a number above 0, found "NaN")");
}

TEST_F(PublishedConfigs, WhatIsLeftOutHasItsCost)
{
    ImportReport report;
    const Json config = {{"model_type", "gemma2"}, {"hidden_size", 64}, {"num_hidden_layers", 2},
        {"num_attention_heads", 4}, {"intermediate_size", 64}, {"vocab_size", 64}, {"final_logit_softcapping", 30.0},
        {"attn_logit_softcapping", nullptr}, {"eos_token_id", 1}, {"warp_drive", 9}};
    ASSERT_TRUE(model_from_config(config, "config.json", &report));
    EXPECT_EQ(report.family, "gemma2");
    EXPECT_FALSE(report.trained);
    ASSERT_EQ(report.ignored.size(), 2U);
    EXPECT_EQ(report.ignored[0].key, "final_logit_softcapping");
    EXPECT_TRUE(report.ignored[0].known);
    EXPECT_EQ(report.ignored[1].key, "warp_drive");
    EXPECT_FALSE(report.ignored[1].known);
    EXPECT_EQ(report.without_effect, (std::vector<std::string>{"attn_logit_softcapping", "eos_token_id"}));
    const std::vector<std::string> lines = lines_of(report);
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_TRUE(lines[0].starts_with("used: model_type, hidden_size, "));
}

TEST_F(PublishedConfigs, SayWhatOfThemWasUsed)
{
    for (const Json& row : table()["models"]) {
        SCOPED_TRACE(row["model"].get<std::string>());
        ImportReport report;
        ASSERT_TRUE(model_from_config(row["config"], "config.json", &report));
        EXPECT_GE(report.used.size(), 8U);
        for (const ImportReport::Ignored& one : report.ignored)
            EXPECT_FALSE(one.cost.empty()) << one.key;
    }
}

// A few keys by name, then how many more.
std::string some_of(const std::vector<std::string>& keys)
{
    constexpr std::size_t kFew = 2;
    std::string text;
    for (std::size_t i = 0; i < std::min(keys.size(), kFew); ++i)
        text += (i == 0 ? "`" : ", `") + keys[i] + "`";
    return keys.size() > kFew ? text + " and " + std::to_string(keys.size() - kFew) + " more" : text;
}

// The table of the report, from what an import says of each. FOURFOLD_UPDATE_REPORT=1 writes it anew.
TEST_F(PublishedConfigs, StandInTheReport)
{
    std::string made = "| model | family | parameters | import | left out |\n| --- | --- | --- | --- | --- |\n";
    int equal = 0, all = 0;
    for (const Json& row : table()["models"]) {
        if (row["kind"] != "published")
            continue;
        ImportReport report;
        const auto model = model_from_config(row["config"], "config.json", &report);
        const bool same = model && std::int64_t(model->parameters()) == row["parameters"].get<std::int64_t>();
        std::vector<std::string> left_out;
        for (const ImportReport::Ignored& one : report.ignored)
            left_out.push_back(one.key);
        ++all;
        equal += int(same);
        made += "| " + row["model"].get<std::string>() + " | `" + report.family + "` | "
            + std::to_string(row["parameters"].get<std::int64_t>()) + " | "
            + (!same                 ? "another number"
                    : report.trained ? "equal, trained"
                                     : "equal, predicted")
            + " | " + some_of(left_out) + " |\n";
    }
    made = std::to_string(equal) + " of " + std::to_string(all) + " have exactly that many parameters.\n\n" + made;
    const std::string file = std::string(FOURFOLD_SOURCE_DIR) + "/resources/reports/imported-models.md";
    auto report = read_text_file(file);
    ASSERT_TRUE(report) << report.error().line();
    const std::string begin = "<!-- published models: begin -->\n", end = "<!-- published models: end -->";
    const std::size_t from = report->find(begin), to = report->find(end);
    ASSERT_TRUE(from != std::string::npos && to != std::string::npos);
    const std::size_t first = from + begin.size();
    if (std::getenv("FOURFOLD_UPDATE_REPORT") != nullptr)
        std::ofstream(file) << report->replace(first, to - first, made);
    else
        EXPECT_EQ(report->substr(first, to - first), made) << "FOURFOLD_UPDATE_REPORT=1 test_model writes it anew";
}

} // namespace
} // namespace fourfold
