// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold search`, `sweep` and what predict says about changes and budgets: answers, shapes of JSON, bad input.
#include "app/cli/text/progress_line.h"
#include "tests/cli/program.h"

#include <algorithm>
#include <tuple>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class Search : public ProgramTest {
protected:
    // A space of a few layouts.
    [[nodiscard]] std::vector<std::string> small(const std::vector<std::string>& more, const char* edits = "{}") const
    {
        std::vector<std::string> arguments{"search", file("p.json", plan_text(edits))};
        for (const char* axis : {"tp=1,2,4", "cp=1", "pp=1,2", "micro_batch=1,2", "recompute=none", "schedule=1f1b",
                 "virtual_stages=1", "sharding=optimizer"}) {
            arguments.emplace_back("--axis");
            arguments.emplace_back(axis);
        }
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
};

// A log of hours holds a dozen of them.
TEST(Progress, IsSaidNowAndThenWhereNoTerminalShowsIt)
{
    cli::RareLines lines;
    std::vector<int> said;
    for (int second = 0; second <= 36000; ++second) {
        if (lines.due(second))
            said.push_back(second);
    }
    EXPECT_EQ(said, (std::vector<int>{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480}));
}

TEST_F(Search, HelpNamesWhatThereIs)
{
    const Output help = fourfold({"search", "--help"});
    EXPECT_EQ(help.status, 0);
    for (const char* option : {"--constraint", "--objective", "--axis", "--batch-tolerance", "--shape", "--tokens",
             "--failure-rate", "--pareto", "--fields"})
        EXPECT_THAT(help.out, HasSubstr(option));
    const Output sweep = fourfold({"sweep", "--help"});
    EXPECT_EQ(sweep.status, 0);
    for (const char* option : {"--layouts", "--gpus", "--value", "--measured", "--format"})
        EXPECT_THAT(sweep.out, HasSubstr(option));
    const Output fields = fourfold({"search", "--fields"});
    for (const char* field : {"tps_per_gpu", "goodput", "fused_softmax", "virtual_stages"})
        EXPECT_THAT(fields.out, HasSubstr(field));
}

TEST_F(Search, JsonHasCountsAndLayouts)
{
    const Json answer = json_of(fourfold(small({"--json", "--top", "3", "--constraint", "dp % 4 == 0"})));
    const Json& counts = answer["counts"];
    EXPECT_EQ(counts["enumerated"].get<int>(),
        counts["evaluated"].get<int>() + counts["bounded"].get<int>() + counts["does_not_fit"].get<int>()
            + counts["constrained"].get<int>() + counts["broken_rules"].get<int>() + counts["refused"].get<int>());
    ASSERT_EQ(answer["best"].size(), 3u);
    double last = 1e300;
    for (const Json& layout : answer["best"]) {
        EXPECT_EQ(layout["dp"].get<int>() % 4, 0);
        EXPECT_EQ(layout["tp"].get<int>() * layout["pp"].get<int>() * layout["dp"].get<int>(), 16);
        EXPECT_LE(layout["tps_per_gpu"].get<double>(), last);
        last = layout["tps_per_gpu"].get<double>();
    }
    EXPECT_FALSE(answer["pareto"].empty());
    EXPECT_EQ(answer["constraints"][0]["constraint"], "dp % 4 == 0");
    // What the search says of its first is what predict says of the same plan.
    const Json& first = answer["best"][0];
    const Json alone = json_of(
        fourfold({"predict", file("p.json", plan_text()), "--json", "--set", "layout.tp=" + first["tp"].dump(), "--set",
            "layout.pp=" + first["pp"].dump(), "--set", "layout.dp=" + first["dp"].dump(), "--set",
            "training.micro_batch=" + first["micro_batch"].dump(), "--set", "training.recompute=none"}));
    EXPECT_NEAR(alone["step_time_s"].get<double>() / first["step_time_s"].get<double>(), 1, 1e-9);
}

TEST_F(Search, BudgetsGiveCostAndGoodput)
{
    const Json answer = json_of(fourfold(small({"--json", "--tokens", "1e12", "--price", "2", "--failure-rate", "2e-5",
        "--storage", "10", "--objective", "expected_days"})));
    const Json& best = answer["best"][0];
    EXPECT_NEAR(
        best["cost"].get<double>(), best["days"].get<double>() * 24 * 16 * 2, 1e-6 * best["cost"].get<double>());
    EXPECT_GT(best["goodput"].get<double>(), 0.9);
    EXPECT_NEAR(
        best["expected_days"].get<double>() * best["goodput"].get<double>() / best["days"].get<double>(), 1, 1e-9);
}

// What a plan says of its training is told without a question, an option has the last word, and each figure opens.
TEST_F(Search, ABudgetOfThePlanIsReckonedWith)
{
    const char* const edits = R"({"run": {"tokens": 2e12}, "budget": {"price_per_gpu_hour": 2.5,
        "gpu_mtbf_hours": 50000, "node_mtbf_hours": 20000, "storage_gb_s": 20}})";
    const std::string plan = file("budget.json", plan_text(edits));
    const Json economics = json_of(fourfold({"predict", plan, "--json"}))["economics"];
    EXPECT_EQ(economics["tokens"], 2e12);
    EXPECT_EQ(economics["tokens_from"], "plan");
    EXPECT_EQ(economics["inputs"]["node_mtbf_hours"].get<double>(), 20000);
    EXPECT_NEAR(economics["cost"].get<double>() / economics["gpu_hours"].get<double>(), 2.5, 1e-9);
    EXPECT_NEAR(economics["mtbf_hours"].get<double>(), 1 / (16.0 / 50000 + 4.0 / 20000), 1e-6); // on 4 nodes
    EXPECT_GT(economics["checkpoint_interval_steps"].get<double>(), 0);
    const Json dearer = json_of(fourfold({"predict", plan, "--json", "--price", "5"}))["economics"];
    EXPECT_NEAR(dearer["cost"].get<double>() / economics["cost"].get<double>(), 2, 1e-9);
    EXPECT_FALSE(json_of(fourfold({"predict", file("p.json", plan_text()), "--json"})).contains("economics"));

    const Output text = fourfold({"predict", plan});
    EXPECT_THAT(text.out, HasSubstr("the whole training"));
    EXPECT_THAT(text.out, HasSubstr("run.tokens of the plan"));
    EXPECT_THAT(fourfold({"predict", file("p.json", plan_text()), "--budget"}).out, HasSubstr("20 per parameter"));
    const Output why = fourfold({"predict", plan, "--explain", "expected_cost"});
    EXPECT_EQ(why.status, 0) << why.err;
    EXPECT_THAT(why.out, HasSubstr("Daly 2006"));
    const Json trees = json_of(fourfold({"predict", plan, "--json", "--explain"}))["explanation"];
    EXPECT_NEAR(trees["days"]["value"].get<double>() / economics["days"].get<double>(), 1, 1e-9);
    EXPECT_TRUE(trees.contains("step_time_s"));
    // A search takes the same.
    const Json best = json_of(fourfold(small({"--json", "--objective", "expected_cost"}, edits)))["best"][0];
    EXPECT_NEAR(
        best["cost"].get<double>(), best["days"].get<double>() * 24 * 16 * 2.5, 1e-6 * best["cost"].get<double>());
}

// torchtitan's 1F1B stops where the micro-batches do not fill the pipeline.
TEST_F(Search, LayoutsThatTheSoftwareStopsAtAreHiddenOnRequestWithTheirNumber)
{
    const std::string plan
        = file("titan.json", plan_text(R"({"stack": "torchtitan", "training": {"global_batch": 16}})"));
    const std::vector<std::string> call{"search", plan, "--json", "--axis", "tp=1", "--axis", "pp=4", "--axis", "cp=1",
        "--axis", "schedule=1f1b", "--axis", "virtual_stages=1", "--axis", "micro_batch=1,2,4"};
    const Json shown = json_of(fourfold(call));
    std::vector<std::string> asked = call;
    asked.emplace_back("--hide-refused");
    const Json hidden = json_of(fourfold(asked));
    EXPECT_EQ(shown["counts"]["refused"], 0);
    EXPECT_GT(hidden["counts"]["refused"], 0);
    EXPECT_EQ(hidden["counts"]["enumerated"], shown["counts"]["enumerated"]);
    for (const Json& layout : hidden["best"])
        EXPECT_GE(layout["global_batch"].get<int>() / layout["dp"].get<int>() / layout["micro_batch"].get<int>(), 4);
    std::erase(asked, "--json");
    EXPECT_THAT(fourfold(asked).out, HasSubstr("hidden as the software would stop at them"));
}

// Where nothing is known of a figure, the layout that it puts first is first by chance.
TEST_F(Search, WhatIsNotKnownIsNotSearchedBy)
{
    expect_problem(fourfold(small({"--objective", "cost"})), 2,
        "--objective: \"cost\" is not known without the price of a GPU hour (--price)");
    expect_problem(fourfold(small({"--objective", "min expected_days * gpus"})), 2,
        "not known without a failure rate (--failure-rate");
    expect_problem(fourfold(small({"--constraint", "tp > 1 and goodput > 0.5"})), 2,
        "--constraint: \"goodput\" is not known without a failure rate (--failure-rate or --mtbf) and the speed");
    EXPECT_EQ(fourfold(small({"--objective", "cost", "--price", "2"})).status, 0);
    for (const auto& [option, text, said] :
        {std::tuple{"--constraint", "tp % 0 == 0", "it has no value for any of them"},
            std::tuple{"--constraint", "tp / 0 > 1", "it has no value for any of them"},
            std::tuple{"--objective", "min 1 / (tp - tp)",
                "no layout: the objective \"1 / (tp - tp)\" has no value for any of"}}) {
        const Output none = fourfold(small({option, text}));
        EXPECT_EQ(none.status, 1) << text;
        EXPECT_THAT(none.err, HasSubstr(said));
    }
    const Json some = json_of(fourfold(small({"--objective", "min 1 / (tp - 1)", "--top", "10000", "--json"})));
    ASSERT_FALSE(some.at("best").empty());
    for (const Json& found : some.at("best"))
        EXPECT_NE(found["tp"], 1) << "what has no value is no answer";
}

// Of a GPU whose power nobody told, 0 would be an answer that looks like one.
TEST_F(Search, EnergyOfUnknownPowerIsNotKnown)
{
    const char* const edits = R"({"cluster": {"gpu": {"name": "X", "memory_gib": 80, "memory_bandwidth_gb_s": 2000,
        "peak_tflops": {"bf16": 300}}, "gpus_per_node": 8, "intra_node": {"bandwidth_gb_s": 450},
        "inter_node": {"bandwidth_gb_s": 50}}})";
    const std::string plan = file("power.json", plan_text(edits));
    EXPECT_TRUE(json_of(fourfold({"predict", plan, "--json", "--budget"}))["economics"]["energy_mwh"].is_null());
    EXPECT_THAT(fourfold({"predict", plan, "--budget"}).out, HasSubstr("not known"));
    expect_problem(fourfold(small({"--objective", "energy_mwh"}, edits)), 2, "power_w of the cluster's GPU");
    EXPECT_TRUE(json_of(fourfold(small({"--json"}, edits)))["best"][0]["energy_mwh"].is_null());
}

TEST_F(Search, ATrainingThatNeverEndsIsNoNumber)
{
    const Output text = fourfold({"predict", file("p.json", plan_text()), "--failure-rate", "1e12", "--storage", "1"});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("never ends"));
    EXPECT_THAT(text.out, ::testing::Not(HasSubstr("inf")));
}

TEST_F(Search, ShapesPassNoChoiceOfLayoutsOver)
{
    const std::string plan = file("p.json", plan_text());
    for (const auto& choice : std::vector<std::vector<std::string>>{{"--gpus", "8"}, {"--max-gpus", "8"},
             {"--constraint", "tp == 1"}, {"--axis", "tp=1"}, {"--objective", "mfu"}, {"--pareto"}}) {
        std::vector<std::string> arguments{"search", plan, "--shape"};
        arguments.insert(arguments.end(), choice.begin(), choice.end());
        expect_problem(fourfold(arguments), 2, choice.front() + " is a choice among layouts");
    }
    expect_problem(fourfold({"search", plan, "--shape", "--axis", "layers=0"}), 2, "expected whole numbers from 1");
}

TEST_F(Search, RecommendSaysWhatItCannotTake)
{
    const std::vector<std::string> usual{"recommend", "llama-3.2-1b", "--gpus", "8", "--cluster", "dgx-h100"};
    const auto with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = usual;
        arguments.insert(arguments.end(), more.begin(), more.end());
        return fourfold(arguments);
    };
    // A plan of so many tokens, or of none, could be saved and never read.
    expect_problem(with({"--train", "1e18 days"}), 2, "tokens on these GPUs, expected 1 to 1e+18");
    expect_problem(with({"--train", "1e-30 days"}), 2, "expected 1 to 1e+18");
    expect_problem(with({"--output", ""}), 2, "expected a name");
    expect_problem(fourfold({"recommend", "", "--gpus", "8", "--cluster", "dgx-h100"}), 2, "\"\": is no model");
}

// What a search calls a layout is what a prediction of it calls it.
TEST_F(Search, EvidenceIsThatOfThePrediction)
{
    const std::vector<std::string> plans{"bloom-181b-jean-zay-384", "llama-3.1-8b-tsubame4-16k-16"};
    for (const std::string& plan : plans) {
        const Json best
            = json_of(fourfold({"search", plan, "--json", "--top", "12", "--objective", "tps_per_gpu", "--axis", "cp=1",
                "--axis", "virtual_stages=1", "--axis", "micro_batch=1,2,4", "--axis", "sharding=optimizer"}))["best"];
        ASSERT_GT(best.size(), 5u);
        for (const Json& row : best) {
            std::vector<std::string> arguments{"predict", plan, "--json", "--set", "layout.stage_layers=null"};
            for (const char* key : {"tp", "cp", "pp", "dp", "virtual_stages"}) {
                arguments.emplace_back("--set");
                arguments.push_back("layout." + std::string(key) + "=" + row[key].dump());
            }
            for (const char* key : {"micro_batch", "global_batch", "schedule", "sharding", "recompute"}) {
                arguments.emplace_back("--set");
                arguments.push_back("training." + std::string(key) + "=" + row[key].dump());
            }
            const Json predicted = json_of(fourfold(arguments));
            EXPECT_EQ(row["evidence"], predicted["evidence"]) << plan << " " << row.dump();
            EXPECT_NEAR(row["step_time_s"].get<double>(), predicted["step_time_s"].get<double>(), 1e-6);
        }
    }
}

TEST_F(Search, BadInputIsNamed)
{
    const std::string plan = file("p.json", plan_text());
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{"--axis", "tq=1,2"}, "--axis: unknown axis \"tq\""},
        {{"--axis", "tp=1,two"}, "--axis tp: found \"two\""},
        {{"--axis", "tp"}, "expected an axis and its values"},
        {{"--constraint", "dpp % 4 == 0"}, "did you mean dp"},
        {{"--constraint", "dp % == 0"}, "character 6"},
        {{"--constraint", "dp + 4"}, "--constraint"},
        {{"--objective", "mfuu"}, "did you mean mfu?"},
        {{"--gpus", "8", "--max-gpus", "16"}, "both --gpus and --max-gpus"},
        {{"--failure-rate", "2e-5"}, "goodput needs --storage too"},
        {{"--storage", "5"}, "goodput needs --failure-rate"},
        {{"--failure-rate", "2e-5", "--mtbf", "5", "--storage", "5"}, "both --failure-rate and --mtbf"},
        {{"--parameters", "8e9"}, "--shape"},
        {{"--format", "pdf"}, "use text, json, csv, markdown or latex"},
    };
    for (const auto& [more, expected] : cases) {
        SCOPED_TRACE(::testing::PrintToString(more));
        std::vector<std::string> arguments{"search", plan};
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_problem(fourfold(arguments), 2, expected);
    }
    expect_problem(fourfold({"search"}), 2, "no plan is given");
}

TEST_F(Search, NothingFoundIsOneLineAndStatusOne)
{
    const Output never = fourfold(small({"--json", "--constraint", "dp > 100"}));
    EXPECT_EQ(never.status, 1);
    EXPECT_EQ(lines_of(never.err).size(), 1u);
    EXPECT_THAT(never.err, HasSubstr("\"dp > 100\" holds for none of"));
    EXPECT_THAT(never.err, HasSubstr("the nearest misses by"));
    EXPECT_TRUE(json_of(never)["best"].empty());

    // Too large a model: the changes that would help are named.
    const Output large = fourfold(small({"--json"}, R"({"model": "llama-3.1-70b"})"));
    EXPECT_EQ(large.status, 1);
    EXPECT_EQ(lines_of(large.err).size(), 1u);
    EXPECT_THAT(large.err, HasSubstr("GiB"));
    EXPECT_THAT(large.err, HasSubstr("it would do with: "));
}

// Nobody waits for an hour, or runs out of memory, by accident.
TEST_F(Search, SpacesTooLargeAreRefusedWithWhatTheyWouldTake)
{
    const std::string plan = file("p.json", plan_text());
    expect_problem(fourfold({"search", plan, "--max-gpus", "1000000000"}), 2, "not in range");
    expect_problem(fourfold({"search", plan, "--axis", "gpus=1000000000"}), 2, "at most 1048576");
    const Output large = fourfold({"search", plan, "--max-gpus", "1048576", "--axis", "order=all"});
    expect_problem(
        large, 2, "; the limit is 2,000,000,000 layouts (narrow it with --max-gpus or --axis, or add --any-size)");
    EXPECT_THAT(large.err, HasSubstr("the search has about "));
    EXPECT_THAT(large.err, HasSubstr(" layouts, which takes about "));
}

TEST_F(Search, NumbersBeyondAnyJobAreRefused)
{
    const std::string plan = file("p.json", plan_text());
    for (const char* option : {"--tokens", "--price", "--failure-rate", "--mtbf", "--storage", "--restart"}) {
        for (const char* value : {"1e300", "nan", "inf", "0", "-1", "1e9999"})
            expect_problem(fourfold({"predict", plan, option, value}), 2, "expected a number above 0, at most 1e+");
    }
    expect_problem(fourfold({"search", plan, "--batch-tolerance", "nan"}), 2, "from 0 on, at most 0.5");
}

// Products of what the options take do not overflow.
TEST_F(Search, LargestDegreesAreLayoutsOrNone)
{
    const std::string plan = file("p.json", plan_text());
    const Output batches = fourfold({"search", plan, "--gpus", "1048576", "--axis", "tp=1", "--axis", "cp=1", "--axis",
        "pp=1", "--axis", "micro_batch=4096,32767", "--json"});
    EXPECT_EQ(batches.status, 1) << "no batch of 64 has so many";
    EXPECT_EQ(json_of(batches)["rejections"][0]["code"], "global_batch_not_divisible");
    const Output stages = fourfold({"search", plan, "--gpus", "1048576", "--axis", "tp=1", "--axis", "cp=1", "--axis",
        "pp=1048576", "--axis", "virtual_stages=32767"});
    EXPECT_EQ(stages.status, 1);
    EXPECT_THAT(stages.err, HasSubstr("no combination of the axes makes a layout of 1048576 GPUs"));
    std::string many = "tp,cp,pp,micro_batch,virtual_stages\n1,1,32768,1,32767\n";
    const Output sweep = fourfold({"sweep", plan, "--layouts", file("l.csv", many), "--gpus", "1048576", "--json"});
    EXPECT_EQ(sweep.status, 0) << sweep.err;
    EXPECT_THAT(sweep.out, HasSubstr("more than 8192 model chunks"));
    for (int i = 0; i < 1001; ++i)
        many += "1,1,1,1,1\n";
    std::string gpus = "1";
    for (int i = 2; i <= 1000; ++i)
        gpus += "," + std::to_string(i);
    expect_problem(fourfold({"sweep", plan, "--layouts", file("many.csv", many), "--gpus", gpus}), 2,
        "are 1,002,000 cells; the limit is 1,000,000");
}

TEST_F(Search, ShapesOfOneSize)
{
    const Output output = fourfold({"search", file("p.json", plan_text()), "--shape", "--parameters", "8e9", "--axis",
        "hidden=3840,4096", "--json", "--top", "5"});
    EXPECT_EQ(output.status, 0) << output.err;
    const Json answer = json_of(output);
    ASSERT_FALSE(answer["shapes"].empty());
    EXPECT_EQ(answer["shapes"][0]["loss"].get<double>(), 0);
    for (const Json& shape : answer["shapes"])
        EXPECT_NEAR(shape["parameters"].get<double>() / 8e9, 1, 0.03);
    expect_problem(fourfold({"search", file("p.json", plan_text()), "--shape", "--parameters", "8e15", "--axis",
                       "layers=4", "--axis", "hidden=1024"}),
        1, "widen --size-tolerance");
}

TEST_F(Search, SweepIsATable)
{
    const std::string plan = file("p.json", plan_text(R"({"training": {"global_batch": 1024}})"));
    const std::string layouts = file("l.csv", "tp,cp,pp,micro_batch\n2,1,1,1\n1,1,1,16\n4,1,4,1\n");
    const Output csv = fourfold({"sweep", plan, "--layouts", layouts, "--gpus", "16,8", "--format", "csv"});
    EXPECT_EQ(csv.status, 0) << csv.err;
    const std::vector<std::string> lines = lines_of(csv.out);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_THAT(lines[0], HasSubstr("tp,cp,pp,micro_batch,gpus_8,gpus_16"));
    EXPECT_THAT(lines[2], HasSubstr("1,1,1,16,,")); // out of memory on both
    const Output text = fourfold({"sweep", plan, "--layouts", layouts, "--gpus", "16,8"});
    EXPECT_THAT(text.out, HasSubstr("8 GPUs"));
    EXPECT_THAT(fourfold({"sweep", plan, "--layouts", layouts, "--format", "latex"}).out, HasSubstr("\\toprule"));
    EXPECT_THAT(fourfold({"sweep", plan, "--layouts", layouts, "--format", "markdown"}).out, HasSubstr("| ---"));
    const Json answer
        = json_of(fourfold({"sweep", plan, "--layouts", layouts, "--gpus", "16,8", "--json", "--value", "memory_gib"}));
    EXPECT_EQ(answer["value"], "memory_gib");
    const Json& cells = answer["rows"][2]["cells"];
    EXPECT_EQ(cells[0]["status"], "impossible");
    EXPECT_EQ(cells[0]["reason"]["code"], "degrees_do_not_multiply");
    EXPECT_EQ(cells[1]["status"], "runs");
    EXPECT_EQ(cells[1]["value"], cells[1]["memory_gib"]);
    EXPECT_EQ(answer["rows"][1]["cells"][0]["reason"]["code"], "memory");
}

TEST_F(Search, SweepBesideMeasurements)
{
    const Output output = fourfold({"sweep", file("p.json", plan_text(R"({"training": {"global_batch": 1024}})")),
        "--measured", "llama31_8b_4d_a100_h100.csv", "--gpus", "16", "--value", "tflops_per_gpu"});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out, HasSubstr(" / OOM"));
    EXPECT_THAT(output.out, HasSubstr("mean error"));
    EXPECT_THAT(output.out, HasSubstr("verdicts right"));
}

TEST_F(Search, SweepNamesBadRows)
{
    const std::string plan = file("p.json", plan_text());
    const auto sweep = [&](const std::string& layouts) {
        return fourfold({"sweep", plan, "--layouts", file("l.csv", layouts)});
    };
    expect_problem(sweep("tp,cp,pp,micro_batch\n1,1,1,1\n1,one,1,1\n"), 2, "l.csv:3: cp: found \"one\"");
    expect_problem(
        sweep("tp,cp,pp,micro_batch\n65536,1,1,1\n"), 2, "found \"65536\", expected a whole number from 1 to 32768");
    expect_problem(sweep("tp,cp\n1,1\n"), 2, "l.csv:1: pp: the column is missing");
    expect_problem(fourfold({"sweep", plan}), 2, "no layouts are given");
    expect_problem(fourfold({"sweep", plan, "--layouts", "missing.csv"}), 2, "missing.csv");
    expect_problem(
        fourfold({"sweep", plan, "--layouts", file("l.csv", "tp,cp,pp,micro_batch\n1,1,1,1\n"), "--gpus", "8,many"}), 2,
        "--gpus: found \"many\"");
    expect_problem(fourfold({"sweep", plan, "--value", "speed"}), 2, "expected one of tps_per_gpu");
}

TEST_F(Search, PredictGivesAdviceAndBudgets)
{
    const std::string large = file("p.json",
        plan_text(R"({"training": {"micro_batch": 8, "global_batch": 1024}, "layout": {"tp": 1, "dp": 16}})"));
    const Json answer = json_of(fourfold({"predict", large, "--json", "--advice", "--budget", "--tokens", "1e12"}));
    EXPECT_EQ(answer["fit"], "no");
    ASSERT_FALSE(answer["advice"]["to_fit"].empty());
    const Json& first = answer["advice"]["to_fit"][0];
    EXPECT_NE(first["fit"], "no");
    ASSERT_FALSE(first["fields"].empty());
    std::vector<std::string> again{"predict", large, "--json"};
    for (const Json& field : first["fields"]) {
        again.emplace_back("--set");
        again.push_back(field["path"].get<std::string>() + "=" + field["value"].dump());
    }
    const Json changed = json_of(fourfold(again));
    EXPECT_EQ(changed["fit"], first["fit"]);
    EXPECT_NEAR(changed["step_time_s"].get<double>() / first["step_time_s"].get<double>(), 1, 1e-9);
    EXPECT_EQ(answer["economics"]["tokens"].get<double>(), 1e12);
    EXPECT_NEAR(
        answer["economics"]["gpu_hours"].get<double>(), answer["economics"]["days"].get<double>() * 24 * 16, 1e-6);

    const Output text
        = fourfold({"predict", large, "--advice", "--tokens", "1e12", "--failure-rate", "2e-5", "--storage", "10"});
    EXPECT_THAT(text.out, HasSubstr("what would make it fit"));
    EXPECT_THAT(text.out, HasSubstr("what would make it faster"));
    EXPECT_THAT(text.out, HasSubstr("goodput"));
    expect_problem(fourfold({"predict", "--batch", "x.jsonl", "--advice"}), 2, "take one plan");
}

} // namespace
} // namespace fourfold::test
