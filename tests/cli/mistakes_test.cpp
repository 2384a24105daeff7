// SPDX-License-Identifier: GPL-3.0-or-later
// What is written wrongly is named: names that nothing reads, figures in another unit, choices that would have no
// effect. And the user's own runs, which move an answer wherever it stands.
#include "core/base/text.h"
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

// One line, where an answer says something of what ships or may be laid beside another's: not in every command.
TEST_F(Mistakes, APresetThatHidesAShippedOneIsTold)
{
    const std::string plan = file("p.json", plan_text()), gpu = "gpus/h100-80gb-sxm.json";
    const std::string shipped = must(read_text_file(fs::path(FOURFOLD_SOURCE_DIR) / "presets" / gpu));
    const std::string told = "takes the place of the one that came with Fourfold";
    const auto said = [&](const std::vector<std::string>& arguments) {
        const Output output = fourfold(arguments);
        EXPECT_EQ(output.status, 0) << output.err;
        EXPECT_LE(lines_of(output.err).size(), 1u) << output.err;
        return output.err;
    };
    own_preset(gpu, shipped);
    own_preset("gpus/ours.json", shipped);
    EXPECT_EQ(said({"presets", "gpus"}), "") << "a copy hides nothing, another id neither";
    Json changed = Json::parse(shipped);
    changed["memory_gib"] = 70;
    own_preset(gpu, changed.dump());
    const auto expected = AllOf(HasSubstr("warning: gpus h100-80gb-sxm"), HasSubstr(gpu), HasSubstr(told));
    EXPECT_THAT(said({"presets"}), expected);
    EXPECT_THAT(said({"presets", "gpus", "--json"}), expected);
    EXPECT_EQ(said({"presets", "models"}), "");
    EXPECT_THAT(said({"validate", file("t.csv", kColumns + row_of("a", "9000")), "--json"}), expected);
    const std::vector<std::string> there{"predict", plan, "--set", "cluster=dgx-h100", "--json"};
    EXPECT_THAT(said(there), expected);
    EXPECT_THAT(json_of(fourfold(there)).at("warnings").dump(), HasSubstr(told));
    EXPECT_EQ(said({"predict", plan, "--set", "cluster=dgx-b200", "--json"}), "") << "it is not in this plan";
    EXPECT_EQ(said({"table", plan, "memory", "--set", "cluster=dgx-h100"}), "");
    changed["source"] = "measured on this computer by `fourfold probe --measure`";
    own_preset(gpu, changed.dump());
    EXPECT_EQ(said(there), "") << "it was measured where the user asked for that";
}

TEST_F(Mistakes, APlanThatSomebodyChangedIsNotReplaced)
{
    const std::string plan = (folder() / "ours.plan.json").string();
    std::vector<std::string> asked{"recommend", "llama-3.2-1b", "--gpus", "8", "--cluster", "dgx-h100"};
    expect_problem(fourfold({"recommend", "llama-3.2-1b", "--gpus", "8", "--cluster", "dgx-h100", "--replace"}), 2,
        "--replace requires --output");
    asked.insert(asked.end(), {"--output", plan});
    ASSERT_EQ(fourfold(asked).status, 0);
    const std::string written = must(read_text_file(plan));
    EXPECT_EQ(fourfold(asked).status, 0) << "the same again";
    static_cast<void>(file("ours.plan.json", written + " "));
    expect_problem(fourfold(asked), 2, "is there already with another content, which would be lost (name another");
    EXPECT_EQ(must(read_text_file(plan)), written + " ");
    asked.emplace_back("--replace");
    EXPECT_EQ(fourfold(asked).status, 0);
    EXPECT_EQ(must(read_text_file(plan)), written);
}

// What Tab offers behind these words, the last of which is being typed.
TEST_F(Mistakes, NamesAreCompletedWhereTheyAreTyped)
{
    static_cast<void>(file("completion", fourfold({"completion", "bash"}).out));
    const auto offered = [&](const std::string& words) {
        const std::string here = folder().string();
        const std::string command = "cd '" + here + "' && XDG_DATA_HOME='" + here + "/data' XDG_CONFIG_HOME='" + here
            + "/config' bash -c 'source completion; COMP_WORDS=(" FOURFOLD_BIN_DIR
              "/fourfold \"$@\"); COMP_CWORD=$#; _fourfold; printf \"%s\\n\" \"${COMPREPLY[@]}\"' _ "
            + words + " >offered";
        EXPECT_EQ(std::system(command.c_str()), 0) << words;
        return " " + joined(lines_of(must(read_text_file(folder() / "offered"))), " ") + " ";
    };
    ASSERT_EQ(fourfold({"history", "import", file("t.csv", kColumns + row_of("a", "9000"))}).status, 0);
    const std::string id = json_of(fourfold({"history", "list", "--json"})).at(0).at("id");
    own_preset("targets/$(touch gone).json", "{}");
    own_preset("targets/ours.json", R"({"hosts": ["a"]})");
    static_cast<void>(file("this-is-mine.json", "{}"));
    EXPECT_EQ(offered("predict this-computer-"), " this-computer-experts ");
    EXPECT_THAT(
        offered("compare this-computer this-"), AllOf(HasSubstr(" this-computer "), HasSubstr("this-is-mine.json")));
    EXPECT_EQ(offered("history show " + id.substr(0, 5)), " " + id + " ");
    EXPECT_THAT(offered("attach ''"), HasSubstr(" last "));
    EXPECT_EQ(offered("run this-computer --target ou"), " ours ");
    EXPECT_EQ(offered("run this-computer --target = ou"), " ours ");
    EXPECT_EQ(offered("recommend llama-3.1-8b --cluster dgx-h1"), " dgx-h100 ");
    EXPECT_EQ(offered("recommend llama-3.1-40"), " llama-3.1-405b ");
    EXPECT_EQ(offered("presets pla"), " plans ");
    EXPECT_EQ(offered("predict this-computer --report this-c"), "  ") << "a file is asked for";
    EXPECT_EQ(offered("predict --js"), " --json ");
    EXPECT_FALSE(fs::exists(folder() / "gone")) << "a name is no command";
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
        {{"pack", file("text.txt", "a"), "--key", "body", "--tokenizer", "t.json", "--output", "o"},
            "no file is JSONL (.jsonl, .json), so no line has a key"},
        {{"pack", file("text.jsonl", "{}"), "--documents", "line", "--tokenizer", "t.json", "--output", "o"},
            "all files are JSONL, of which each line is a document"},
        {{"search", plan, "--objective", ""}, "--objective: found nothing"},
        {{"run", "this-computer", "--dry-run", "--sweep", "", "--gpus", "2"}, "--sweep: found nothing"},
        {{"table", plan, "memory", "--picture", "m.svg", "--json"}, "excludes"},
        {{"recipe", "story-15m", "--curve", "--output", "o"}, "give one of them"},
        {{"find", "https://login.example.org", "--dry-run"}, "write user@host"},
        {{"find", "local", "--save", "../x"}, "is not usable"},
        {{"find", "local", "--save", "x", "--no-save"}, "excludes"},
        {{"--json", "predict", plan}, "give it behind predict"},
        {{"model", "import", file("m.gguf", std::string("GGUF\3\0\0\0", 8)), "--id", "m"}, "is a GGUF model, expected"},
        {{"predict", file("m.safetensors", std::string("\2\0\0\0\0\0\0\0{}", 10))}, "is a safetensors file, expected"},
        {{"predict", plan, "--set", "model=meta-llama/Llama-3.1-8B"}, "did you mean llama-3.1-8b"},
        {{"recipe", "story-15m", "--output", "o", "--run", "last"}, "give one of them"},
        {{"profile", plan, "none.json", "--picture", "x.svg", "--json"}, "excludes"},
        {{"validate", table, "--report", "r.md", "--json"}, "excludes"},
        {{"validate", table, "--report", "r.pdf"},
            "is not written to a file ending in .pdf (name a file that ends in .md"},
        {{"history", "export", "-o", "runs.xlsx"}, "is not written to a file ending in .xlsx"},
        {{"history", "import", table, "--set", "layout.tp=2"}, "requires --plan"},
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
    for (const std::string option : {"--partition", "--account", "--qos", "--time", "--sbatch"})
        expect_problem(fourfold({"find", "local", "--no-save", option + "=x"}), 2,
            "local: has no Slurm, of whose queue " + option);
    expect_problem(fourfold({"compare", plan, "last"}), 2, "is a stored run, expected a plan (give it as --run last)");
    EXPECT_EQ(fourfold({"history", "export", "-o", "runs.csv"}).status, 0);
    EXPECT_THAT(must(read_text_file(folder() / "runs.csv")), ::testing::StartsWith("id,"));
    EXPECT_EQ(fourfold({"history", "note", "last", "of", "several", "words"}).status, 0);
    EXPECT_THAT(fourfold({"history", "show", "last"}).out, HasSubstr("of several words"));
    EXPECT_THAT(fourfold({"attach", "last"}).err, Not(HasSubstr("was removed"))) << "a table's run has no folder";
    for (const char* option : {"-v", "-V", "--version"})
        EXPECT_THAT(fourfold({option}).out, HasSubstr("fourfold "));
    EXPECT_THAT(fourfold({"predict", "--batch", "-", "--json"}, Json::parse(plan_text()).dump(2)).out,
        HasSubstr(":1: no whole plan, expected one on each line"))
        << "a plan over many lines";
    EXPECT_NE(fourfold({"predict", plan, "--report", "/proc/none/r.pdf"}).status, 0);
    EXPECT_EQ(fourfold({"predict", plan, "--report", "/proc/none/r.pdf"}).out, "") << "half an answer";
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
    std::string plan = Json::parse(plan_text()).dump();
    plan.pop_back(); // its brace; written as text, since the document looks through all its keys for each new one
    for (int i = 0; i < 100'000; ++i)
        plan += ",\"k" + std::to_string(i) + "\":" + std::to_string(i);
    const Output batch = fourfold({"predict", "--batch", "-", "--json"}, plan + "}\n");
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
