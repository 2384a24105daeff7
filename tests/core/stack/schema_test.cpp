// SPDX-License-Identifier: GPL-3.0-or-later
// resources/schemas/stack.schema.json, the shipped stacks and the reader describe the same format.
#include "core/stack/stack.h"
#include "tests/core/plan/schema_checker.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace fourfold {
namespace {

// The schema with its "#/$defs/..." put in place: the checker knows no references.
Json expanded(const Json& schema, const Json& definitions)
{
    if (schema.is_object() && schema.contains("$ref"))
        return expanded(definitions.at(schema["$ref"].get<std::string>().substr(8)), definitions);
    if (!schema.is_structured())
        return schema;
    Json copy = schema;
    for (Json& member : copy)
        member = expanded(member, definitions);
    return copy;
}

const Json& schema()
{
    static const Json kSchema = [] {
        Json json = *read_json_file(FOURFOLD_SOURCE_DIR "/resources/schemas/stack.schema.json");
        const Json definitions = json["$defs"];
        json.erase("$defs");
        return expanded(json, definitions);
    }();
    return kSchema;
}

TEST(StackSchema, TakesTheShippedStacksAndWhatTheCodeWrites)
{
    int stacks = 0;
    for (const auto& entry : std::filesystem::directory_iterator(FOURFOLD_SOURCE_DIR "/presets/stacks")) {
        const auto json = read_json_file(entry.path());
        ASSERT_TRUE(json);
        EXPECT_TRUE(test::matches(schema(), *json)) << entry.path();
        const auto stack = stack_from_json(*json, entry.path().string());
        ASSERT_TRUE(stack) << stack.error().line();
        EXPECT_TRUE(test::matches(schema(), to_json(*stack))) << entry.path();
        ++stacks;
    }
    EXPECT_GE(stacks, 6);
}

TEST(StackSchema, RefusesWhatTheReaderRefuses)
{
    const std::string head = R"({"id": "s", "fit": [{"name": "x", "shared": {"gemm_efficiency": )";
    for (const char* constant : {R"({"prior": 0.5, "bounds": [0.1, 1]})", R"({"width": 0.1, "bounds": [0.1, 1]})",
             R"({"prior": 0.5, "width": 0, "bounds": [0.1, 1]})", R"({"prior": 0.5, "width": 0.1, "bounds": [1]})",
             R"({"prior": "a", "width": 0.1, "bounds": [0.1, 1]})"}) {
        const Json json = Json::parse(head + constant + "}}]}");
        EXPECT_FALSE(test::matches(schema(), json)) << constant;
        EXPECT_FALSE(stack_from_json(json, "s.json")) << constant;
    }
    EXPECT_FALSE(test::matches(schema(), Json::parse(R"({"id": "s", "constant": {}})")));
    const Json negative = Json::parse(R"({"id": "s", "constants": {"step_overhead_s": -1}})");
    EXPECT_FALSE(test::matches(schema(), negative));
    EXPECT_FALSE(stack_from_json(negative, "s.json"));
}

} // namespace
} // namespace fourfold
