// SPDX-License-Identifier: GPL-3.0-or-later
// Configurations of decoders of 2024 to 2026 as people have them: each has as many parameters as Hugging Face's
// transformers builds (count_published.py makes the numbers).
#include "core/base/json.h"
#include "core/model/flops.h"
#include "core/model/import_report.h"
#include "core/model/model_shape.h"
#include "core/model/parameters.h"

#include <gtest/gtest.h>

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
        double elements = 0;
        for (const Parameter& one : parameter_table(model, model.vocab, 0, model.layers, true, true))
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

} // namespace
} // namespace fourfold
