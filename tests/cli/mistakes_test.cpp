// SPDX-License-Identifier: GPL-3.0-or-later
// What is written wrongly is named: names that nothing reads, figures in another unit, choices that would have no
// effect. And the user's own runs, which move an answer wherever it stands.
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "tests/cli/program.h"
#include "tests/history/history_test_support.h"

#include <algorithm>
#include <fstream>

#include <sys/stat.h>

namespace fourfold::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

const std::string kColumns = "source,table,row,model,gpu,gpus,tp,cp,pp,micro_batch,global_batch,seq_len,cluster,stack,"
                             "metric,value,status\n";

std::string row_of(const std::string& row, const std::string& value, const std::string& stack = "megatron-core")
{
    return "lab,t," + row + ",llama-3.1-8b,H100,8,2,1,1,1,64,8192,dgx-h100," + stack + ",tps_per_gpu," + value
        + ",ok\n";
}

class OwnRunsOfTheCommand : public ProgramTest {
protected:
    const Json written_ = Json::parse(
        R"({"model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "stack": "megatron-core",
            "layout": {"tp": 2, "dp": 4}, "training": {"seq_len": 8192, "micro_batch": 1, "global_batch": 64}})");
    const std::string plan_ = file("p.json", written_.dump());

    [[nodiscard]] Json predicted() const { return json_of(fourfold({"predict", plan_, "--json"})); }
    [[nodiscard]] double step() const { return predicted().at("step_time_s").get<double>(); }
    // A run of the plan whose steps reached that.
    void store(const std::string& id, const std::vector<double>& speeds, const char* status = "ok") const
    {
        HistoryStore history = open_store(history_file());
        NewRun run = sample_run(id, "hash of " + id);
        run.layout_hash = id;
        run.stack = "megatron-core";
        static const Presets presets({fs::path(FOURFOLD_SOURCE_DIR) / "presets"});
        run.plan = to_json(must(resolve(must(plan_from_json(written_, "test")), presets)), PresetStyle::inlined);
        must(history.create_run(run));
        std::vector<std::string> lines{start_line(0)};
        for (const double speed : speeds)
            lines.push_back(step_line(static_cast<int>(lines.size()), static_cast<int>(lines.size()), speed));
        lines.push_back(end_line(static_cast<int>(lines.size()), status));
        must(history.append_events(id, "events", lines));
    }
};

TEST_F(OwnRunsOfTheCommand, MoveEveryAnswerAlike)
{
    const double model = step();
    const std::string table = file("own.csv", kColumns + row_of("a", "6240") + row_of("b", "6300"));
    ASSERT_EQ(fourfold({"history", "import", table}).status, 0);
    const double moved = step();
    ASSERT_GT(moved, 1.5 * model);

    double sum = 0;
    for (const Json& part : json_of(fourfold({"table", plan_, "time", "--json"})))
        sum += part.at("exposed_s").get<double>();
    EXPECT_NEAR(sum, moved, 1e-6) << "the table of the step time";
    ASSERT_EQ(fourfold({"timeline", plan_, "--output", "step.json"}).status, 0);
    double end = 0;
    const Json trace = must(read_json_file(folder() / "step.json"));
    for (const Json& event : trace.at("traceEvents"))
        if (event.value("ph", "") == "X")
            end = std::max(end, (event.at("ts").get<double>() + event.at("dur").get<double>()) * 1e-6);
    EXPECT_NEAR(end, moved, 1e-3) << "the timeline";
    const std::string layouts = file("layouts.csv", "tp,cp,pp,micro_batch\n2,1,1,1\n");
    const Json sweep
        = json_of(fourfold({"sweep", plan_, "--layouts", layouts, "--gpus", "8", "--value", "step_time_s", "--json"}));
    EXPECT_THAT(sweep.dump(), HasSubstr(Json(moved).dump())) << "the sweep";
    // What would be faster begins where the plan is: no change looks good because the model was wrong about all.
    const Json advice = json_of(fourfold({"predict", plan_, "--advice", "--json"})).at("advice").at("faster");
    ASSERT_FALSE(advice.empty());
    for (const Json& change : advice)
        EXPECT_NEAR(
            moved / change.at("step_time_s").get<double>(), 1 + change.at("job_speed_change").get<double>(), 1e-6)
            << change.dump();
}

// One step warms up; and no GPU reaches that.
TEST_F(OwnRunsOfTheCommand, WhatSaysNothingMovesNothing)
{
    const double model = step();
    store("STOPPED", {1500}, "cancelled");
    store("ABSURD", {1e300, 1e300, 1e300});
    store("NEVER", {1e-9, 1e-9, 1e-9});
    EXPECT_EQ(step(), model);
    EXPECT_TRUE(predicted().at("own_runs").is_null());
    store("WHOLE", {1500, 6000, 6000, 6000});
    EXPECT_GT(step(), 1.3 * model);
}

TEST_F(OwnRunsOfTheCommand, ThatContradictEachOtherAreAllInTheRange)
{
    const std::string text = kColumns + row_of("a", "5000");
    std::string wide = row_of("b", "15000");
    wide.replace(wide.find(",8,2,1,1,1,"), 11, ",8,4,1,1,1,"); // a neighbour
    ASSERT_EQ(fourfold({"history", "import", file("own.csv", text + wide)}).status, 0);
    const Json range = predicted().at("interval").at("tps_per_gpu");
    EXPECT_LT(range[0].get<double>(), 5250);
    EXPECT_GT(range[1].get<double>(), 13'000);
}

// The same command would give another answer when it can be read again.
TEST_F(OwnRunsOfTheCommand, AreMissedWhereTheHistoryCannotBeRead)
{
    EXPECT_THAT(predicted().at("warnings").dump(), Not(HasSubstr("own runs"))) << "none is there";
    fs::create_directories(history_file().parent_path());
    std::ofstream(history_file()) << std::string(5000, 'x');
    EXPECT_THAT(predicted().at("warnings").dump(),
        AllOf(HasSubstr("your own runs are not in this answer"), HasSubstr("history.db")));
    const std::string layouts = file("layouts.csv", "tp,cp,pp,micro_batch\n2,1,1,1\n");
    const std::vector<std::string> commands[] = {{"search", plan_, "--top", "1"},
        {"sweep", plan_, "--layouts", layouts, "--gpus", "8"}, {"compare", plan_, "llama-3.1-8b-tsubame4-16"},
        {"table", plan_, "advice"}, {"timeline", plan_, "--output", "step.svg"}};
    for (const auto& command : commands) {
        const Output answer = fourfold(command);
        EXPECT_EQ(answer.status, 0) << command[0];
        EXPECT_THAT(answer.err, HasSubstr("fourfold: warning: your own runs are not in this answer")) << command[0];
    }
}

class Mistakes : public ProgramTest {
protected:
    void own_preset(const std::string& name, const std::string& text) const
    {
        const fs::path path = folder() / "config/fourfold/presets" / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
};

TEST_F(Mistakes, InWhatASourceTellsOfItsTables)
{
    const std::string table = file("ours.csv", kColumns + row_of("a", "9000"));
    const std::pair<const char*, const char*> cases[] = {
        {R"("recipes": [{"from": "x", "where": {"gpu": ["H100"]}, "sets": {"recomput": "full"}}])",
            R"(sets: no field is called "recomput" (did you mean recompute)"},
        {R"("recipes": [{"from": "x", "where": {"gqu": ["H100"]}, "sets": {"recompute": "full"}}])",
            R"(where: no column is called "gqu" (did you mean gpu)"},
        {R"("recipes": [{"from": "x", "where": {"gpu": ["H100"]}, "sets": {"value": "9500"}}])",
            R"("value" is what the table itself tells of a row)"},
        {R"("recipies": [])", "recipies: is not known (did you mean recipes?)"},
        {R"("stand_ins": {"step_time_s": "5"})", R"("step_time_s" is what the table itself tells)"},
        {R"("phrases": [{"column": "modell", "has": "x", "field": "recompute", "value": "full"}])", "modell"},
        {R"("phrases": [{"column": "model", "has": "x", "field": "recomput", "value": "full"}])", "recomput"},
        {R"("words": {"recomput": {"x": "y"}})", "recomput"},
    };
    for (const auto& [more, expected] : cases) {
        SCOPED_TRACE(more);
        own_preset("published/sources.json",
            std::string(R"({"sources": {"lab": {"stack": "megatron-core", "clusters": {"H100": "dgx-h100"}, )") + more
                + "}}}");
        expect_problem(fourfold({"validate", table}), 2, expected);
    }
    own_preset("published/sources.json", "{\"sources\": {");
    const Json shipped = json_of(fourfold({"predict", "llama-3.1-8b-tsubame4-16", "--json"}));
    EXPECT_EQ(shipped.at("evidence"), "measured") << "the shipped tables are as they were";
    fs::remove(folder() / "config/fourfold/presets/published/sources.json");
    ASSERT_EQ(::mkfifo((folder() / "config/fourfold/presets/published/sources.json").c_str(), 0600), 0);
    expect_problem(fourfold({"validate", table}), 2, "is a pipe, expected a file");
}

TEST_F(Mistakes, InPresetsOfOnesOwn)
{
    own_preset("gpus/ours.json",
        R"({"name": "Ours", "memory_gib": 80, "memory_bandwidth_gb_s": 3000, "peak_tflops": {"bf16": 900, "fp9": 5},
            "multi_processors": 132})");
    own_preset("clusters/ours.json",
        R"({"gpu": "ours", "gpus_per_node": 8, "intra_node": {"bandwidth_gb_s": 450, "latancy_us": 5},
            "inter_node": {"bandwidth_gb_s": 50}})");
    Json stack = must(read_json_file(fs::path(FOURFOLD_SOURCE_DIR) / "presets/stacks/generic.json"));
    stack["constants"]["gemm_eficiency"] = 0.5;
    own_preset("stacks/ours.json", stack.dump());
    const Output answer = fourfold(
        {"predict", file("p.json", R"({"model": "llama-3.2-1b", "cluster": "ours", "gpus": 8, "stack": "ours"})")});
    EXPECT_EQ(answer.status, 0);
    for (const char* key : {"ours.json: intra_node.latancy_us", "ours.json: peak_tflops.fp9",
             "ours.json: multi_processors", "ours.json: constants.gemm_eficiency"})
        EXPECT_THAT(answer.out, HasSubstr(std::string(key) + ": unknown key, ignored"));
    for (const std::string& cluster : Presets().ids("clusters")) {
        const Output shipped
            = fourfold({"predict", "llama-3.1-8b-tsubame4-16", "--json", "--set", "cluster=" + cluster});
        EXPECT_THAT(shipped.out + shipped.err, Not(HasSubstr("unknown key"))) << cluster;
    }
}

TEST_F(Mistakes, InWhatIsAsked)
{
    const std::string plan = file("p.json", plan_text()), table = file("t.csv", kColumns + row_of("a", "9000"));
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{"predict", plan, "--set", "run.data[].path=x"}, "did you mean run.data.0.path"},
        {{"predict", plan, "--report", "page.svg"}, "ends in .pdf"},
        {{"predict", std::string(100'000, 'x')}, "there is no file and no plan preset"},
        {{"predict", file("wide.json", std::string("\xff\xfe{\0}\0", 6))}, "is in UTF-16, expected JSON in UTF-8"},
        {{"predict", "nowhere/p.json"}, "(there is no such folder)"},
        {{"table", plan, "memory", "--picture", ""}, "expected a name"},
        {{"predict", plan, "--report", ""}, "--report: found nothing"},
        {{"search", plan, "--objective", ""}, "--objective: found nothing"},
        {{"run", "this-computer", "--dry-run", "--sweep", "", "--gpus", "2"}, "--sweep: found nothing"},
        {{"table", plan, "memory", "--picture", "m.svg", "--json"}, "excludes"},
        {{"recipe", "story-15m", "--curve", "--output", "o"}, "give one of them"},
        {{"find", "https://login.example.org", "--dry-run"}, "write user@host"},
        {{"find", "local", "--save", "../x"}, "is not usable"},
        {{"--json", "predict", plan}, "give it behind predict"},
        {{"search", plan, "--axis", "TP=1,2"}, "did you mean tp?"},
        {{"timeline", plan, "--output", "t.svg", "--between", "1000", "2000"}, "the step ends at "},
        {{"run", "this-computer", "--dry-run", "--target",
             file("none.json", R"({"hosts": [{"address": "a", "ranks": 0}, {"address": "b", "ranks": 4}]})")},
            "1 of the 2 hosts have no `ranks`"},
        {{"run", "this-computer", "--dry-run", "--target", file("five.json", R"({"hosts": ["a"], "timeouts": 5})")},
            "timeouts must be an object"},
        {{"find", "a b"}, "fourfold: \"a b\" is not a host name"},
        {{"sweep", plan, "--layouts", file("l.csv", "tp,cp,pp,micro_batch\n1,1,1,1\n"), "--gpus", ""},
            "expected a name"},
        {{"sweep", plan, "--layouts", file("semicolons.csv", "tp;cp;pp;micro_batch\n1;1;1;1\n")},
            "semicolons stand between the cells"},
        {{"history", "import", file("runs.json.gz", "\x1f\x8b\x08\n")}, "is packed by gzip"},
        {{"recommend", std::string(5'000, 'x'), "--gpus", "8", "--cluster", "dgx-h100"}, "is no model that is known"},
    };
    for (const auto& [arguments, expected] : cases) {
        SCOPED_TRACE(::testing::PrintToString(arguments).substr(0, 200));
        const Output output = fourfold(arguments);
        expect_problem(output, 2, expected);
        EXPECT_LT(output.err.size(), 1'000U);
    }
    const std::string long_name
        = file("long.json", plan_text(("{\"name\": \"" + std::string(100'000, 'x') + "\"}").c_str()));
    EXPECT_LT(fourfold({"predict", long_name}).out.size(), 5'000U);
    EXPECT_THAT(fourfold({"gc", "--older-than", "0.5", "--dry-run"}).out, HasSubstr("not used for 0.50 days"));
    EXPECT_EQ(fourfold({"history", "import", table}).status, 0);
    EXPECT_THAT(fourfold({"history", "import", table, "--plan", "this-computer"}).err, HasSubstr("--plan is of logs"));
    EXPECT_EQ(fourfold({"history", "restore", "last"}).out, "nothing to restore: not deleted\n");
    EXPECT_THAT(fourfold({"history", "delete", "last"}).out, HasSubstr("1 run deleted"));
}

TEST_F(Mistakes, AScheduleFileIsNoSearchsAxis)
{
    file("s.csv", "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    const std::string plan = file("p.json",
        R"({"model": "llama-3.2-1b", "cluster": "dgx-h100", "gpus": 2, "layout": {"pp": 2},
            "training": {"global_batch": 2, "micro_batch": 1, "schedule": "s.csv"}})");
    EXPECT_THAT(fourfold({"search", plan, "--top", "1"}).err, HasSubstr("is not among the schedules that are tried"));
}

TEST_F(Mistakes, OfManyKindsAreCounted)
{
    Json plan = Json::parse(plan_text());
    for (int i = 0; i < 100'000; ++i)
        plan["k" + std::to_string(i)] = i;
    const Output batch = fourfold({"predict", "--batch", "-", "--json"}, plan.dump() + "\n");
    EXPECT_EQ(batch.status, 0);
    EXPECT_THAT(batch.out, HasSubstr("99980 further unknown keys, ignored"));
    EXPECT_LT(batch.out.size(), 20'000U);
}

TEST_F(Mistakes, InMeasuredTables)
{
    std::string milliseconds = kColumns + row_of("a", "8000");
    milliseconds.replace(milliseconds.find("metric"), 6, "step_time_s,metric");
    milliseconds.replace(milliseconds.find("tps_per_gpu,8000"), 16, "8192,tps_per_gpu,8000");
    EXPECT_THAT(fourfold({"validate", file("ms.csv", milliseconds)}).err,
        AllOf(HasSubstr("step_time_s: found 8192"), HasSubstr("in milliseconds")));

    const std::string mixed
        = file("mixed.csv", kColumns + row_of("a", "8000", "generic") + row_of("b", "7900", "torchtitan"));
    EXPECT_THAT(fourfold({"calibrate", "--stack", "generic", mixed, "--dry-run"}).err,
        HasSubstr("1 row says stack torchtitan, and counts for generic as well"));
    const std::string once = file("once.csv", kColumns + row_of("a", "8000", "generic"));
    EXPECT_THAT(fourfold({"calibrate", "--stack", "generic", once, once, "--dry-run"}).out,
        HasSubstr("1 row not counted again: given twice"));

    fs::create_directories(folder() / "config/fourfold/presets");
    std::ofstream(folder() / "config/fourfold/presets/stacks") << "a file";
    expect_problem(fourfold({"calibrate", "--stack", "generic", once}), 1, "stacks: is not a folder");
}

TEST_F(Mistakes, OfKindsOfTracesAreNamed)
{
    const std::string plan = file("p.json", plan_text());
    const std::pair<std::string, const char*> cases[] = {{std::string("\x28\xb5\x2f\xfd\0\0", 6), "is packed by zstd"},
        {std::string("PK\x03\x04\0", 5), "is a zip archive"}, {std::string("\xff\xfe{\0", 4), "is in UTF-16"},
        {R"({"traceEvents": [{"ph": "X", "dur": 1e999}]})", "number overflow"}};
    for (const auto& [text, expected] : cases)
        expect_problem(fourfold({"profile", plan, file("trace", text)}), 2, expected);
}

} // namespace
} // namespace fourfold::test
