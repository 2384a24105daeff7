// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/prediction.h"
#include "tests/core/plan/schema_checker.h"
#include "tests/core/predict/random_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fourfold::test {
namespace {

const Json& schema()
{
    static const Json json = *read_json_file(FOURFOLD_SOURCE_DIR "/resources/schemas/prediction.schema.json");
    return json;
}

void expect_known_keywords(const Json& node)
{
    for (const auto& [key, value] : node.items()) {
        EXPECT_TRUE(schema_keywords().contains(key)) << key;
        if (key == "properties") {
            for (const auto& [name, child] : value.items())
                expect_known_keywords(child);
        } else if (key == "items") {
            expect_known_keywords(value);
        }
    }
}

TEST(PredictionJson, SchemaUsesOnlyWhatTheCheckerChecks)
{
    expect_known_keywords(schema());
}

TEST(PredictionJson, KeepsToItsSchema)
{
    for (const ResolvedPlan& plan : random_valid_plans(80, 3)) {
        const Json json = to_json(predict(plan));
        EXPECT_TRUE(matches(schema(), json)) << json.dump(1);
        for (const auto& [key, value] : json.items())
            EXPECT_TRUE(schema()["properties"].contains(key)) << key;
    }
}

TEST(PredictionJson, TheSchemaRejectsWhatIsWrong)
{
    const Json good = to_json(predict(example("llama-3.1-8b-tsubame4-16")));
    ASSERT_TRUE(matches(schema(), good));
    const auto broken = [&](const char* path, const Json& value) {
        Json json = good;
        json[nlohmann::ordered_json::json_pointer(path)] = value;
        return !matches(schema(), json);
    };
    EXPECT_TRUE(broken("/fit", "maybe"));
    EXPECT_TRUE(broken("/feasible", nullptr));
    EXPECT_TRUE(broken("/time_by_part/compute", -1));
    EXPECT_TRUE(broken("/time_by_part/surprise", 1));
    EXPECT_TRUE(broken("/interval/step_time_s", Json::array({1})));
    EXPECT_TRUE(broken("/memory_by_stage/0/total", "many"));
    Json missing = good;
    missing.erase("plan");
    EXPECT_FALSE(matches(schema(), missing));
}

// The keys of the contract's example, in its order.
TEST(PredictionJson, HasTheContractsKeys)
{
    const Json json = to_json(predict(example("llama-3.1-8b-tsubame4-16")));
    const std::vector<std::string> keys{"feasible", "fit", "reasons", "warnings", "evidence", "step_time_s",
        "tps_per_gpu", "tflops_per_gpu", "mfu", "interval", "memory_gib", "memory_device_gib", "memory_capacity_gib",
        "memory_by_stage", "time_by_part", "time_hidden", "plan"};
    std::vector<std::string> found;
    for (const auto& [key, value] : json.items()) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end())
            found.push_back(key);
    }
    EXPECT_EQ(found, keys);
    EXPECT_EQ(json["memory_by_stage"][0].size(), 7U);
    EXPECT_EQ(json["plan"]["model"], "llama-3.1-8b");
    EXPECT_EQ(json["plan"]["cluster"], "tsubame4");
    std::vector<std::string> parts;
    for (const auto& [key, value] : json["time_by_part"].items())
        parts.push_back(key);
    EXPECT_THAT(parts,
        testing::ElementsAre("compute", "recompute", "tp", "cp", "pp", "dp", "ep", "bubble", "optimizer", "other"));
}

TEST(PredictionJson, UnknownIsNull)
{
    const Json json = to_json(predict(resolved(
        {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 16}, {"layout", {{"tp", 2}, {"dp", 4}}}})));
    EXPECT_TRUE(matches(schema(), json)) << json.dump(1);
    for (const char* key : {"step_time_s", "tps_per_gpu", "tflops_per_gpu", "mfu", "interval", "memory_gib",
             "memory_device_gib", "time_by_part", "time_hidden", "fit"})
        EXPECT_TRUE(json[key].is_null()) << key;
    EXPECT_FALSE(json["reasons"].empty());
}

TEST(PredictionJson, ReadsBackWhatItWrote)
{
    for (const char* name : {"llama-3.1-8b-tsubame4-16", "llama-3.1-405b-torchtitan-512", "bloom-181b-jean-zay-384"}) {
        const Json json = to_json(predict(example(name)));
        const auto read = prediction_from_json(parse_json(json.dump(), "text").value(), "test");
        ASSERT_TRUE(read.has_value()) << read.error().line();
        EXPECT_EQ(to_json(*read), json);
    }
    const Json infeasible = to_json(predict(resolved(
        {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 12}, {"layout", {{"tp", 3}, {"dp", 4}}}})));
    const auto read = prediction_from_json(infeasible, "test");
    ASSERT_TRUE(read.has_value()) << read.error().line();
    EXPECT_EQ(to_json(*read), infeasible);
}

TEST(PredictionJson, NamesWhatItCannotRead)
{
    const Json good = to_json(predict(example("llama-3.1-8b-tsubame4-16")));
    const auto problem = [&](const char* path, const Json& value) {
        Json json = good;
        json[nlohmann::ordered_json::json_pointer(path)] = value;
        const auto read = prediction_from_json(json, "run 7");
        return read ? std::string("no problem") : read.error().line();
    };
    EXPECT_THAT(problem("/feasible", 1), testing::HasSubstr("feasible"));
    EXPECT_THAT(problem("/fit", "maybe"), testing::HasSubstr("expected one of fits, tight, no"));
    EXPECT_THAT(problem("/step_time_s", "fast"), testing::HasSubstr("step_time_s"));
    EXPECT_THAT(problem("/reasons", 5), testing::HasSubstr("reasons"));
    EXPECT_THAT(problem("/interval", Json::array()), testing::HasSubstr("interval"));
    EXPECT_THAT(problem("/plan", nullptr), testing::HasSubstr("plan"));
    EXPECT_THAT(problem("/time_by_part", "x"), testing::HasSubstr("time_by_part"));
    EXPECT_FALSE(prediction_from_json(Json::array(), "run 7").has_value());
}

} // namespace
} // namespace fourfold::test
