// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/fields.h"
#include "example_plans.h"
#include "support.h"

namespace fourfold::test {
namespace {

// The dotted patterns of all keys in a document that the table describes.
void collect(const Json& json, const std::string& pattern, std::set<std::string>& out)
{
    for (const auto& [key, value] : json.items()) {
        const std::string at = pattern.empty() ? key : pattern + "." + key;
        const Field* field = find_field(at);
        if (!field)
            continue;
        out.insert(at);
        if (value.is_object())
            collect(value, at, out);
        if (field->type == FieldType::object_list) {
            for (const Json& entry : value)
                collect(entry, at + "[]", out);
        }
    }
}

TEST(Parse, ExampleOfTheReference)
{
    const Plan plan = must(parse_plan(kExample, "example.plan.json"));
    EXPECT_TRUE(plan.unknown_keys.empty()) << testing::PrintToString(plan.unknown_keys);
    EXPECT_EQ(plan.where, "example.plan.json");
    EXPECT_EQ(plan.document["layout"]["dp"], 8);
    EXPECT_EQ(must(parse_plan(to_text(plan), "again")).document, plan.document);
}

TEST(Parse, EveryKeyIsKnown)
{
    const Plan plan = must(parse_plan(kEverything, "all.plan.json"));
    EXPECT_EQ(plan.unknown_keys, std::vector<std::string>{});
    std::set<std::string> seen;
    collect(plan.document, "", seen);
    for (const Field& field : plan_fields()) {
        // Where a figure comes from may stand in every part of a cluster; one part is enough here.
        const bool remark = field.type == FieldType::open_object && field.path.starts_with("cluster.");
        EXPECT_TRUE(remark || seen.contains(field.path)) << field.path << " is missing in this test";
    }
}

// Each key changes the resolved plan, and the resolved plan writes it back as it was.
TEST(Parse, EveryKeyArrivesInTheResolvedPlan)
{
    const Plan plan = must(parse_plan(kEverything, "all.plan.json"));
    const ResolvedPlan resolved_plan = resolved(plan);
    const Json written = to_json(resolved_plan, PresetStyle::inlined);
    for (const char* section : {"layout", "training"}) {
        for (const auto& [key, value] : plan.document[section].items())
            EXPECT_EQ(written[section][key], value) << section << "." << key;
    }
    for (const auto& [key, value] : plan.document["run"].items()) {
        if (key != "data") {
            EXPECT_EQ(written["run"][key], value) << key;
        }
    }
    ASSERT_EQ(resolved_plan.run.data.size(), 2u);
    EXPECT_EQ(resolved_plan.run.data[0].path, "a.bin");
    EXPECT_EQ(resolved_plan.run.data[0].weight, 2);
    EXPECT_EQ(resolved_plan.run.data[0].dtype, "uint32");
    EXPECT_EQ(resolved_plan.run.data[0].begin, 0.1);
    EXPECT_EQ(resolved_plan.run.data[0].end, 0.8);
    EXPECT_EQ(resolved_plan.run.data[1].weight, 1);
    EXPECT_EQ(resolved_plan.run.seed, 18446744073709551615ull);
    for (const char* key : {"gpus_per_node", "intra_node", "inter_node", "rack"})
        EXPECT_EQ(written["cluster"][key], plan.document["cluster"][key]) << key;
    EXPECT_EQ(written["cluster"]["gpu"]["peak_tflops"], plan.document["cluster"]["gpu"]["peak_tflops"]);
    EXPECT_EQ(written["gpus"], 16);
    EXPECT_EQ(written["name"], "all keys");
}

TEST(Parse, UnknownKeysAreReportedAndKept)
{
    const Plan plan = must(parse_plan(R"({"model": "m", "cluster": {"gpu": {"memory": 1}, "nodes": 2}, "gpus": 1,
        "layout": {"tpp": 2}, "training": {"seq_length": 5, "fsdp": {"unit": 1}}, "colour": {"a": {"b": 1}},
        "run": {"data": [{"path": "x"}, {"file": "y"}], "environment": {"FREE": "1"}}})",
        "p"));
    EXPECT_EQ(plan.unknown_keys,
        (std::vector<std::string>{"cluster.gpu.memory", "cluster.nodes", "layout.tpp", "training.seq_length",
            "training.fsdp.unit", "colour", "run.data.1.file"}));
    const std::string text = to_text(plan);
    for (const char* key : {"\"memory\"", "\"tpp\"", "\"colour\"", "\"file\"", "\"unit\""})
        EXPECT_NE(text.find(key), std::string::npos) << key;
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(text.find("  \"model\""), 2u) << text;
}

TEST(Parse, KeysOfAModelConfigAreNotReported)
{
    const Plan plan = must(parse_plan(
        R"({"model": {"model_type": "llama", "torch_dtype": "bfloat16", "x": [1]}, "cluster": "c", "gpus": 1})", "p"));
    EXPECT_TRUE(plan.unknown_keys.empty());
}

TEST(Parse, NullCountsAsAbsent)
{
    Plan plan = base_plan();
    Json document = plan.document;
    document["layout"] = {{"tp", nullptr}, {"dp", 16}};
    document["training"] = nullptr;
    document["run"] = {{"data", nullptr}, {"eval", nullptr}, {"environment", {{"A", "b"}}}};
    const ResolvedPlan out = resolved(must(plan_from_json(document, "p")));
    EXPECT_EQ(out.layout.tp, 1);
    EXPECT_EQ(out.run.environment.at("A"), "b");
}

struct BadRow {
    const char* path;
    const char* value;
    const char* found; // parts of the message
    const char* expected;
};

class BadValue : public testing::TestWithParam<BadRow> { };

TEST_P(BadValue, NamesFileFieldFoundAndExpected)
{
    const BadRow& row = GetParam();
    Json document = must(parse_plan(kEverything, "x")).document;
    std::string pointer = std::string(1, '/').append(row.path);
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    document[Json::json_pointer(pointer)] = Json::parse(row.value);
    const Expected<Plan> plan = plan_from_json(document, "bad.plan.json");
    const Expected<ResolvedPlan> out = plan ? resolve(*plan, presets()) : Expected<ResolvedPlan>(plan.error());
    ASSERT_FALSE(out) << row.path << " = " << row.value;
    const std::string line = out.error().line();
    EXPECT_EQ(out.error().exit_status(), 2) << line;
    EXPECT_NE(line.find(std::string("bad.plan.json: ") + row.path), std::string::npos) << line;
    EXPECT_NE(line.find(row.found), std::string::npos) << line;
    EXPECT_NE(line.find(row.expected), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(Values, BadValue,
    testing::Values(BadRow{"gpus", "\"16\"", "found \"16\"", "an integer"},
        BadRow{"gpus", "16.0", "found 16.0", "an integer"}, BadRow{"gpus", "0", "found 0", "at least 1"},
        BadRow{"gpus", "-4", "found -4", "at least 1"}, BadRow{"gpus", "1e300", "found 1e+300", "an integer"},
        BadRow{"gpus", "18446744073709551615", "found 18446744073709551615", "at most 1048576"},
        BadRow{"gpus", "99999999999999999999999", "found 9.99", "an integer"},
        BadRow{"gpus", "null", "missing", "number of GPUs"}, BadRow{"gpus", "[1]", "found a list", "an integer"},
        BadRow{"model", "7", "found 7", "a preset's id or an object"},
        BadRow{"model", "null", "missing", "config.json"}, BadRow{"cluster", "true", "found true", "object"},
        BadRow{"cluster.gpu", "[]", "found a list", "a preset's id or an object"},
        BadRow{"cluster.gpus_per_node", "4.5", "found 4.5", "an integer"},
        BadRow{"cluster.intra_node.topology", "\"mesh\"", "found \"mesh\"", "one of switch, pairs, torus"},
        BadRow{"cluster.gpu.peak_tflops.bf16", "\"fast\"", "found \"fast\"", "a number"},
        BadRow{"cluster.gpu.memory_gib", "0", "found 0", "more than 0"},
        BadRow{"stack", "3", "found 3", "a preset's id or an object"},
        BadRow{"stack", "\"megatron\"", "no stack preset \"megatron\"", "megatron-lm"},
        BadRow{"layout", "[1,2]", "found a list", "an object"}, BadRow{"layout.tp", "0", "found 0", "at least 1"},
        BadRow{"layout.tp", "true", "found true", "an integer"},
        BadRow{"layout.dp", "9223372036854775807", "found 9223372036854775807", "at most"},
        BadRow{"layout.virtual_stages", "-1", "found -1", "at least 1"},
        BadRow{"layout.stage_layers", "[1,\"2\"]", "found a list", "a list of integers"},
        BadRow{"layout.stage_layers", "4", "found 4", "a list of integers"},
        BadRow{"layout.stage_layers.1", "-2", "found -2", "at least 0"},
        BadRow{"layout.order", "[\"tp\",\"tp\",\"pp\",\"dp\"]", "found a list", "four dimensions"},
        BadRow{"layout.order", "[\"tp\",\"cp\",\"pp\"]", "found a list", "four dimensions"},
        BadRow{"training.seq_len", "0", "found 0", "at least 1"},
        BadRow{"training.schedule", "\"1f1\"", "found \"1f1\"", "did you mean 1f1b?"},
        BadRow{"training.schedule", "\"dualpipe\"", "gpipe, 1f1b, interleaved, zb-h1, zb-v, dualpipe-v", ".csv"},
        BadRow{"training.sharding", "\"zero1\"", "found \"zero1\"", "none, optimizer, gradients, parameters, hybrid"},
        BadRow{"training.recompute", "true", "found true", "one of none, selective, full"},
        BadRow{"training.precision", "\"BF16\"", "found \"BF16\"", "fp32, fp16, bf16, fp8"},
        BadRow{"training.sequence_parallel", "1", "found 1", "true or false"},
        BadRow{"training.ramp_up", "{\"start\": 8}", "missing", "increment"},
        BadRow{"training.fsdp.prefetch", "\"yes\"", "found \"yes\"", "true or false"},
        BadRow{"training.cp_method", "\"all_gather\"", "found \"all_gather\"", "did you mean all-gather?"},
        BadRow{"run.lr", "\"fast\"", "found \"fast\"", "a number"}, BadRow{"run.lr", "-1", "found -1", "at least 0"},
        BadRow{"run.betas", "[0.9]", "found a list", "a list of two numbers"},
        BadRow{"run.betas.1", "1.0", "found 1.0", "less than 1"}, BadRow{"run.tokens", "0", "found 0", "more than 0"},
        BadRow{"run.seed", "-1", "found -1", "at least 0"},
        BadRow{"run.data", "\"a.bin\"", "found \"a.bin\"", "a list of objects"},
        BadRow{"run.data.0.weight", "0", "found 0", "more than 0"},
        BadRow{"run.data.0.range", "[0.9, 0.1]", "found [0.9,0.1]", "begin below end"},
        BadRow{"run.data.0.range", "[0, 2]", "found 2", "at most 1"},
        BadRow{"run.data.1.path", "\"\"", "missing", "data file"},
        BadRow{"run.eval.data.0.dtype", "\"int8\"", "found \"int8\"", "uint8, uint16, uint32"},
        BadRow{"run.environment.A", "1", "found 1", "text in quotes"},
        BadRow{"run.lr_schedule", "\"step\"", "found \"step\"", "constant, linear, cosine, wsd"},
        BadRow{"fourfold_plan", "2", "plan format 2", "reads format 1"},
        BadRow{"fourfold_plan", "\"1\"", "found \"1\"", "an integer"}));

TEST(Parse, MissingKeys)
{
    for (const char* key : {"model", "cluster", "gpus"}) {
        Json document = base_plan().document;
        document.erase(key);
        const auto plan = plan_from_json(document, "p.plan.json");
        ASSERT_FALSE(plan);
        EXPECT_EQ(plan.error().where, std::string("p.plan.json: ") + key);
        EXPECT_EQ(plan.error().code, ProblemCode::bad_input);
    }
}

TEST(Parse, NotAnObject)
{
    for (const char* text : {"[]", "1", "null", "\"x\"", "true"})
        EXPECT_EQ(parse_plan(text, "f").error().code, ProblemCode::bad_input) << text;
}

TEST(Parse, SyntaxErrorsNameLineAndColumn)
{
    const auto plan = parse_plan("{\n  \"gpus\": 1,\n  \"model\": x\n}", "broken.plan.json");
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("broken.plan.json: not valid JSON: line 3, column 12"), std::string::npos)
        << plan.error().line();
}

TEST(Parse, MissingFile)
{
    const auto plan = read_plan("no/such.plan.json");
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ProblemCode::not_found);
    EXPECT_EQ(plan.error().where, "no/such.plan.json");
}

} // namespace
} // namespace fourfold::test
