// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/chrome_trace.h"
#include "tests/cli/program.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Predict : public ProgramTest { };

// What the contract promises of every prediction.
void expect_contract(const Json& answer)
{
    ASSERT_TRUE(answer.is_object());
    for (const char* key : {"feasible", "fit", "reasons", "warnings", "evidence", "step_time_s", "tps_per_gpu",
             "tflops_per_gpu", "mfu", "interval", "memory_gib", "memory_device_gib", "memory_capacity_gib",
             "memory_by_stage", "time_by_part", "time_hidden", "plan"})
        EXPECT_TRUE(answer.contains(key)) << key;
    if (answer["step_time_s"].is_null())
        return;
    const Json& plan = answer["plan"];
    const double tokens = plan["training"]["global_batch"].get<double>() * plan["training"]["seq_len"].get<double>();
    const double step = answer["step_time_s"];
    EXPECT_NEAR(answer["tps_per_gpu"].get<double>() * plan["gpus"].get<double>() * step / tokens, 1, 1e-9);
    double total = 0;
    for (const auto& [part, seconds] : answer["time_by_part"].items()) {
        EXPECT_GE(seconds.get<double>(), 0) << part;
        total += seconds.get<double>();
    }
    EXPECT_NEAR(total / step, 1, 1e-9);
    double largest = 0;
    for (const Json& stage : answer["memory_by_stage"]) {
        double sum = 0;
        for (const char* kind : {"weights", "gradients", "optimizer", "activations", "other"})
            sum += stage[kind].get<double>();
        EXPECT_NEAR(stage["total"].get<double>(), sum, 1e-9);
        largest = std::max(largest, sum);
    }
    if (plan["stack"] != "nanotron") {
        EXPECT_NEAR(answer["memory_gib"].get<double>(), largest, 1e-9);
    }
    if (answer["interval"].is_null()) { // a regime that nobody measured
        EXPECT_EQ(answer["evidence"], "extrapolated");
        return;
    }
    const Json& range = answer["interval"]["step_time_s"];
    EXPECT_LE(range[0].get<double>(), step);
    EXPECT_GE(range[1].get<double>(), step);
}

TEST_F(Predict, PrintsOneObject)
{
    const Output output = fourfold({"predict", file("p.json", plan_text()), "--json"});
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(output.err, "");
    const Json answer = json_of(output);
    expect_contract(answer);
    EXPECT_TRUE(answer["feasible"].get<bool>());
    EXPECT_EQ(answer["plan"]["training"]["micro_batches"], 8);
}

TEST_F(Predict, AnswersEveryPresetPlan)
{
    const Json plans = json_of(fourfold({"presets", "plans", "--json"}));
    ASSERT_GT(plans.size(), 3u);
    std::string batch;
    for (const Json& plan : plans) {
        SCOPED_TRACE(plan["id"]);
        const Output output = fourfold({"predict", plan["id"], "--json"});
        EXPECT_EQ(output.status, 0) << output.err;
        expect_contract(json_of(output));
    }
}

TEST_F(Predict, TextNamesVerdictFiguresAndDenominators)
{
    const Output output = fourfold({"predict", file("p.json", plan_text())});
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(output.err, "");
    for (const char* text : {"test plan\n", "tp 2, cp 1, pp 1, dp 8", "FITS", "tokens/s per GPU", "step time", "MFU",
             "TFLOP/s dense bf16 peak", "90 % confidence", "evidence: ", "time by part", "compute", "by stage",
             "weights"})
        EXPECT_THAT(output.out, HasSubstr(text));
    for (const std::string& line : lines_of(output.out))
        EXPECT_LE(line.size(), 120u) << line;
}

TEST_F(Predict, ARelease)
{
    const std::string plan = file("p.json", plan_text());
    const Output known = fourfold({"predict", plan, "--set", "stack=megatron-core@25.11"});
    EXPECT_EQ(known.status, 0) << known.err;
    EXPECT_THAT(known.out, HasSubstr("stack megatron-core@25.11\n"));
    EXPECT_THAT(known.out, Not(HasSubstr("is not known")));
    const Output unknown = fourfold({"predict", plan, "--set", "stack=megatron-core@v25.10"});
    EXPECT_EQ(unknown.status, 0) << unknown.err;
    EXPECT_THAT(unknown.out,
        HasSubstr(
            "warning: release 25.10 of stack megatron-core is not known: predicted as 25.09, the nearest that is\n"));
    const Json answer = json_of(fourfold({"predict", plan, "--set", "stack=megatron-core@25.10", "--json"}));
    expect_contract(answer);
    EXPECT_EQ(answer["plan"]["stack"], "megatron-core@25.10");
    const Output bad = fourfold({"predict", plan, "--set", "stack=megatron-core@"});
    EXPECT_EQ(bad.status, 2);
    EXPECT_THAT(bad.err, HasSubstr("expected a release"));
    for (const Json& stack : json_of(fourfold({"presets", "stacks", "--json"}))) {
        if (stack["id"] == "megatron-core") {
            EXPECT_EQ(stack["releases"], "25.02, 25.04.01, 25.09, 25.11, 26.02, 26.02.01");
        }
    }
}

TEST_F(Predict, ExplainsAFigureAsATree)
{
    const std::string plan = file("p.json", plan_text());
    const Output text = fourfold({"predict", plan, "--explain", "tps_per_gpu"});
    EXPECT_EQ(text.status, 0) << text.err;
    for (const char* part : {"throughput: ", "step time: ", "compute: ", "qkv projection", "from: "})
        EXPECT_THAT(text.out, HasSubstr(part));
    const Json all = json_of(fourfold({"predict", plan, "--json", "--explain"}));
    expect_contract(all);
    EXPECT_EQ(all["explanation"]["step_time_s"]["value"], all["step_time_s"]);
    EXPECT_EQ(all["explanation"]["memory_gib"]["value"], all["memory_gib"]);
    const Json one = json_of(fourfold({"predict", plan, "--json", "--explain", "mfu"}));
    EXPECT_EQ(one["explanation"].size(), 1U);
    const Output wrong = fourfold({"predict", plan, "--explain", "speed"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.err, HasSubstr("tps_per_gpu"));
    EXPECT_EQ(fourfold({"predict", "--batch", plan, "--explain"}).status, 2);
}

TEST_F(Predict, SetChangesFieldsInOrder)
{
    const std::string plan = file("p.json", plan_text());
    const Json answer = json_of(fourfold({"predict", plan, "--set", "layout.tp=8", "--set", "layout.tp=4", "--set",
        "layout.dp=4", "--set", "name=other", "--json"}));
    expect_contract(answer);
    EXPECT_EQ(answer["plan"]["layout"]["tp"], 4);
    EXPECT_EQ(answer["plan"]["name"], "other");
}

TEST_F(Predict, APlanThatDoesNotFitIsAnAnswer)
{
    const Output output = fourfold({"predict", file("p.json", plan_text(R"({"model": "llama-3.1-405b"})")), "--json"});
    EXPECT_EQ(output.status, 0) << output.err;
    const Json answer = json_of(output);
    expect_contract(answer);
    EXPECT_FALSE(answer["feasible"].get<bool>());
    EXPECT_EQ(answer["fit"], "no");
    EXPECT_FALSE(answer["reasons"].empty());
    const Output text = fourfold({"predict", (folder() / "p.json").string()});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("DOES NOT FIT"));
}

TEST_F(Predict, AScheduleFileOfTheCommandLineLiesWhereTheUserIs)
{
    // Two micro-batches through two stages. The plan lies elsewhere, beside files of the same name and of another.
    const std::string plan = file("elsewhere/p.json", plan_text());
    const auto asked = [&](const std::string& schedule) {
        return fourfold({"predict", plan, "--set", "layout.tp=1", "--set", "layout.pp=2", "--set", "layout.dp=8",
            "--set", "training.global_batch=16", "--set", "training.schedule=" + schedule});
    };
    const char* const whole = "0F0,0F1,,,0B0,,0B1\n,1F0,1F1,1B0,,1B1,\n";
    file("good.csv", whole);
    file("below/good.csv", whole);
    file("elsewhere/good.csv", "0F0,0X1\n");
    file("elsewhere/only-there.csv", whole);
    for (const char* name : {"good.csv", "./good.csv", "below/../good.csv", "below/good.csv", "\"good.csv\""}) {
        const Output found = asked(name);
        EXPECT_EQ(found.status, 0) << name << ": " << found.err;
        EXPECT_THAT(found.out, HasSubstr("FITS"));
    }
    for (const std::string name : {"nowhere.csv", "only-there.csv"}) {
        const Output missing = asked(name);
        EXPECT_EQ(missing.status, 2) << name;
        EXPECT_THAT(missing.err,
            HasSubstr("training.schedule: the file \"" + (folder() / name).string() + "\" does not exist"));
        EXPECT_EQ(lines_of(missing.err).size(), 1U) << missing.err;
    }
    ASSERT_EQ(mkfifo((folder() / "pipe.csv").c_str(), 0600), 0);
    EXPECT_THAT(asked("pipe.csv").err, HasSubstr("pipe.csv\" is a pipe, expected a file"));
    const Output damaged = asked(file("bad.csv", "0F0,0X1\n"));
    EXPECT_EQ(damaged.status, 2);
    EXPECT_THAT(damaged.err, HasSubstr("row 1, column 2: found \"0X1\", expected"));
}

TEST_F(Predict, ABrokenRuleIsUnusableInputAndStillAnObject)
{
    const Output output
        = fourfold({"predict", file("p.json", plan_text(R"({"layout": {"tp": 5}, "gpus": 40})")), "--json"});
    EXPECT_EQ(output.status, 2);
    EXPECT_EQ(lines_of(output.err).size(), 1u) << output.err;
    EXPECT_THAT(output.err, HasSubstr("p.json: layout.tp: "));
    const Json answer = json_of(output);
    expect_contract(answer);
    EXPECT_FALSE(answer["feasible"].get<bool>());
    ASSERT_FALSE(answer["reasons"].empty());
    EXPECT_EQ(answer["reasons"][0]["field"], "layout.tp");
    for (const char* key : {"code", "field", "message"})
        EXPECT_TRUE(answer["reasons"][0].contains(key));
}

TEST_F(Predict, ReportsUnknownKeys)
{
    const std::string plan = file("p.json", plan_text(R"({"training": {"seq_length": 4}, "color": "red"})"));
    const Output output = fourfold({"predict", plan, "--json"});
    EXPECT_EQ(output.status, 0);
    const auto lines = lines_of(output.err);
    ASSERT_EQ(lines.size(), 2u) << output.err;
    EXPECT_THAT(output.err, HasSubstr("fourfold: warning: " + plan + ": training.seq_length"));
    EXPECT_THAT(output.err, HasSubstr("did you mean training.seq_len?"));
    const Json warnings = json_of(output)["warnings"];
    EXPECT_THAT(warnings.dump(), HasSubstr("training.seq_length"));
    EXPECT_THAT(warnings.dump(), HasSubstr("color"));
}

// A key that is spelt like the way to a field is none.
TEST_F(Predict, KeysWithPointsAreNoWayToAField)
{
    const std::string plan
        = file("p.json", plan_text(R"({"layout.tp": 4, "training": {"fsdp.prefetch": true}, "": 1})"));
    const Output output = fourfold({"predict", plan, "--json"});
    EXPECT_EQ(output.status, 0);
    for (const char* told : {R"("layout.tp": unknown key, ignored (objects stand in objects)",
             R"(training."fsdp.prefetch": unknown key, ignored)", R"("": unknown key, ignored)"})
        EXPECT_THAT(output.err, HasSubstr(told));
    EXPECT_EQ(json_of(fourfold({"predict", plan, "--json"}))["plan"]["layout"]["tp"],
        json_of(fourfold({"predict", file("q.json", plan_text()), "--json"}))["plan"]["layout"]["tp"]);
}

// The answer's own plan gives the answer again, also where the cluster's object brings constants of its own.
TEST_F(Predict, ConstantsInAClustersObjectAreIgnoredAsTheWarningSays)
{
    const auto predicted = [&](const Json& plan) {
        return json_of(fourfold({"predict", file("p.json", plan.dump()), "--json"}));
    };
    Json plan = predicted(Json::parse(plan_text()))["plan"];
    plan["cluster"] = Json::parse(R"({"gpu": "h100-80gb-sxm", "gpus_per_node": 8,
        "intra_node": {"bandwidth_gb_s": 450}, "inter_node": {"bandwidth_gb_s": 50}})");
    const Json without = predicted(plan);
    plan["cluster"]["calibration"] = {{"stack", plan["stack"]}, {"constants", {{"gemm_efficiency", 0.01}}}};
    const Json with = predicted(plan);
    EXPECT_THAT(with["warnings"].dump(), HasSubstr("cluster.calibration: unknown key, ignored"));
    EXPECT_EQ(with["step_time_s"], without["step_time_s"]);
    EXPECT_EQ(predicted(with["plan"])["step_time_s"], with["step_time_s"]);
}

TEST_F(Predict, WhatFollowsAnOptionOfOneValueIsThePlan)
{
    const std::string plan = file("p.json", plan_text());
    const Output after = fourfold({"predict", "--set", "name=other", plan});
    EXPECT_EQ(after.status, 0) << after.err;
    EXPECT_THAT(after.out, HasSubstr("other"));
    expect_problem(fourfold({"predict", plan, "--set", "name=a", "name=b"}), 2, "nothing takes \"name=b\"");
    expect_problem(fourfold({"predict", "--explain", plan}), 2, "name the plan before --explain");
}

// A rate so small that a step has no length.
TEST_F(Predict, AStepBeyondEveryNumberIsNotFeasible)
{
    const Json answer = json_of(fourfold(
        {"predict", "--json", file("p.json", plan_text(R"({"cluster": {"gpu": "h100-80gb-sxm", "gpus_per_node": 1,
        "intra_node": {"bandwidth_gb_s": 450}, "inter_node": {"bandwidth_gb_s": 5e-324}}})"))}));
    EXPECT_EQ(answer["feasible"], false);
    EXPECT_TRUE(answer["step_time_s"].is_null());
    ASSERT_FALSE(answer["reasons"].empty());
    EXPECT_EQ(answer["reasons"][0]["code"], "no_time");
}

TEST_F(Predict, BatchAnswersLineForLine)
{
    const std::string good = plan_text(), broken_rule = plan_text(R"({"layout": {"tp": 5}, "gpus": 40})");
    const std::string too_large = plan_text(R"({"model": "llama-3.1-405b"})");
    const std::string input = good + "\n{\"model\": \n\n" + broken_rule + "\r\n[]\n" + too_large + "\n"
        + R"({"model": "no-such", "cluster": "tsubame4", "gpus": 1})" + "\n" + good;
    for (const std::string& name : {file("plans.jsonl", input), std::string("/dev/stdin"), std::string("-")}) {
        SCOPED_TRACE(name);
        const Output output = fourfold({"predict", "--batch", name, "--json"}, input);
        EXPECT_EQ(output.status, 0);
        EXPECT_EQ(output.err, "");
        const auto lines = lines_of(output.out);
        ASSERT_EQ(lines.size(), 8u);
        std::vector<Json> answers;
        for (const std::string& line : lines)
            answers.push_back(Json::parse(line));
        for (const int bad : {1, 2, 4, 6}) {
            EXPECT_EQ(answers[bad].size(), 1u) << lines[bad];
            ASSERT_TRUE(answers[bad]["error"].is_string());
            EXPECT_THAT(answers[bad]["error"].get<std::string>(), HasSubstr(":" + std::to_string(bad + 1)));
        }
        for (const int answered : {0, 3, 5, 7})
            expect_contract(answers[answered]);
        EXPECT_FALSE(answers[3]["feasible"].get<bool>());
        EXPECT_FALSE(answers[3]["reasons"].empty());
        EXPECT_EQ(answers[5]["fit"], "no");
        EXPECT_EQ(answers[0], answers[7]);
        EXPECT_EQ(
            answers[0]["step_time_s"], json_of(fourfold({"predict", file("p.json", good), "--json"}))["step_time_s"]);
    }
}

// What no computer can keep is an answer or a named limit of its own line.
TEST_F(Predict, BatchGoesOnWhateverALineAsksFor)
{
    const std::string good = plan_text();
    const auto pipeline = [](int stages) {
        return plan_text(
            (R"({"model": {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 256,
            "num_hidden_layers": 1024, "num_attention_heads": 4, "max_position_embeddings": 128}, "gpus": )"
                + std::to_string(stages) + R"(, "layout": {"tp": 1, "dp": 1, "pp": )" + std::to_string(stages)
                + R"(}, "training": {"seq_len": 128, "global_batch": 1000000}})")
                .c_str());
    };
    const std::string input
        = good + "\n" + pipeline(1024) + "\n" + pipeline(1 << 20) + "\n" + std::string(17 << 20, '[') + "\n" + good;
    const Output output = fourfold({"predict", "--batch", file("plans.jsonl", input), "--json"});
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(output.err, "");
    const auto lines = lines_of(output.out);
    ASSERT_EQ(lines.size(), 5u);
    const Json large = Json::parse(lines[1]);
    EXPECT_TRUE(large["feasible"].get<bool>()) << large["reasons"];
    expect_contract(large);
    EXPECT_THAT(large["warnings"].dump(), HasSubstr("no timeline: the schedule has"));
    EXPECT_THAT(Json::parse(lines[2])["error"].get<std::string>(), HasSubstr("plans.jsonl:3: layout.virtual_stages"));
    EXPECT_THAT(Json::parse(lines[3])["error"].get<std::string>(),
        HasSubstr("plans.jsonl:4: the line is longer than 16777216 bytes"));
    EXPECT_EQ(lines[4], lines[0]);
    expect_problem(fourfold({"timeline", file("p.json", pipeline(1024)), "--output", "t.svg"}), 2,
        "no timeline: the schedule has 8388608 passes, the limit is 2097152");
}

// As from a program that talks to its children through sockets: they have no name that could be opened.
TEST_F(Predict, BatchComesThroughASocket)
{
    file("order.csv", "0F0,0B0\n");
    const std::string line = plan_text(R"({"training": {"schedule": "order.csv"}})") + "\n";
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    ASSERT_EQ(::write(ends[1], line.data(), line.size()), ssize_t(line.size()));
    ::close(ends[1]);
    use_standard_input(ends[0]);
    const Output output = fourfold({"predict", "--batch", "-", "--json"});
    ::close(ends[0]);
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out, Not(HasSubstr("does not exist"))) << "it lies where the user is";
    EXPECT_THAT(output.out, HasSubstr("\"feasible\":"));
}

TEST_F(Predict, BatchOfNothingIsNothing)
{
    const Output output = fourfold({"predict", "--batch", "/dev/stdin", "--json"});
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(output.out + output.err, "");
    expect_problem(fourfold({"predict", "--batch", "missing.jsonl", "--json"}), 2, "missing.jsonl");
}

TEST_F(Predict, PresetsAreListedInEveryForm)
{
    for (const char* kind : {"models", "gpus", "clusters", "stacks", "plans", "targets"}) {
        const Output output = fourfold({"presets", kind, "--json"});
        EXPECT_EQ(output.status, 0);
        EXPECT_EQ(output.err, "") << kind;
        for (const Json& preset : json_of(output))
            EXPECT_FALSE(preset["id"].get<std::string>().empty());
    }
    EXPECT_THAT(fourfold({"presets", "models"}).out, HasSubstr("llama-3.1-8b"));
    EXPECT_THAT(fourfold({"presets"}).out, HasSubstr("clusters  tsubame4"));
    EXPECT_THAT(fourfold({"presets", "gpus", "--format", "csv"}).out, HasSubstr("id,name,memory_gib"));
}

TEST_F(Predict, ImportedModelIsAPresetOfTheUser)
{
    const std::string config = file("config.json",
        R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "rope_theta": 500000.0,
            "torch_dtype": "bfloat16"})");
    const Output output = fourfold({"model", "import", config, "--id", "mine", "--json"});
    ASSERT_EQ(output.status, 0) << output.err;
    EXPECT_NEAR(json_of(output)["parameters"].get<double>(), 8.03e9, 0.01e9);
    const Json own = json_of(fourfold({"predict", file("p.json", plan_text(R"({"model": "mine"})")), "--json"}));
    const Json preset = json_of(fourfold({"predict", file("q.json", plan_text()), "--json"}));
    EXPECT_EQ(own["step_time_s"], preset["step_time_s"]);
    EXPECT_EQ(own["memory_gib"], preset["memory_gib"]);
    expect_problem(fourfold({"model", "import", config, "--id", "mine"}), 2, "--replace");
    EXPECT_EQ(fourfold({"model", "import", config, "--id", "mine", "--replace"}).status, 0);
    expect_problem(fourfold({"model", "import", config, "--id", "../mine"}), 2, "--id");
    // Every plan that names it would be of another model.
    for (const char* more : {"--json", "--replace"})
        expect_problem(fourfold({"model", "import", config, "--id", "gpt2", more}), 2, "is a preset that is not yours");
    expect_problem(
        fourfold({"model", "import", file("bad.json", R"({"model_type": "llama"})"), "--id", "bad"}), 2, "bad.json");
    expect_problem(fourfold({"model", "import", file("odd.json", R"({"model_type": "perceptron"})"), "--id", "odd"}), 2,
        "perceptron");
}

TEST_F(Predict, HelpAndVersion)
{
    EXPECT_EQ(fourfold({"--version"}).out.substr(0, 9), "fourfold ");
    for (const char* command : {"predict", "timeline", "run", "attach", "history", "presets", "model"}) {
        EXPECT_THAT(fourfold({"--help"}).out, HasSubstr(command));
        const Output help = fourfold({command, "--help"});
        EXPECT_EQ(help.status, 0);
        EXPECT_EQ(help.err, "");
    }
}

} // namespace
} // namespace fourfold::test
