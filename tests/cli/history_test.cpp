// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold history` over stores that a run would have left.
#include "core/calibration/user/table_runs.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "core/schedule/chrome_trace.h"
#include "tests/cli/program.h"
#include "tests/history/history_test_support.h"

#include <fstream>

namespace fourfold::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class History : public ProgramTest {
protected:
    void fill() const
    {
        HistoryStore store = open_store(history_file());
        must(store.create_run(sample_run("01RUNA")));
        must(store.append_events("01RUNA", "events",
            {start_line(0), step_line(1, 1, 50, 5.0), step_line(2, 2, 100, 4.0), step_line(3, 3, 100, 3.0),
                R"({"seq":4,"event":"eval","step":3,"loss":3.5})", end_line(5, "ok")}));
        NewRun second = sample_run("01RUNB", "cc33");
        second.plan["layout"]["tp"] = 4;
        second.environment["NCCL_ALGO"] = "Ring";
        second.planned_prediction = Json{{"tps_per_gpu", 120.0}};
        must(store.create_run(second));
        must(store.append_events("01RUNB", "events",
            {start_line(0), step_line(1, 1, 40, 5.0),
                R"({"seq":2,"event":"error","rank":2,"host":"node-b","message":"out of memory"})",
                end_line(3, "oom")}));
    }
};

TEST_F(History, OfNothing)
{
    const Output list = fourfold({"history", "list"});
    EXPECT_EQ(list.status, 0);
    EXPECT_EQ(list.out, "");
    EXPECT_THAT(list.err, HasSubstr("no run yet"));
    EXPECT_EQ(fourfold({"history", "list", "--json"}).out, "[]\n");
    EXPECT_EQ(fourfold({"history", "export"}).out, "[]\n");
    EXPECT_THAT(fourfold({"history", "export", "--format", "csv"}).out, ::testing::StartsWith("id,created,state"));
    for (const auto& arguments : std::vector<std::vector<std::string>>{{"history", "show"}, {"history", "show", "x"},
             {"history", "compare", "a", "b"}, {"history", "export", "x"}})
        expect_problem(fourfold(arguments), 2, "no run yet");
    EXPECT_FALSE(std::filesystem::exists(history_file())) << "reading makes no file";
}

// Two commands that read the tags before either wrote.
TEST_F(History, TagsOfCommandsAtTheSameTimeAllStay)
{
    fill();
    std::vector<Started> commands;
    for (int i = 0; i < 8; ++i)
        commands.push_back(start({"history", "tag", "--add", "t" + std::to_string(i), "01RUNA"}));
    for (const Started& command : commands)
        EXPECT_EQ(finish(command).status, 0) << command.error_text();
    EXPECT_EQ(json_of(fourfold({"history", "export", "01RUNA"}))[0]["tags"].size(), 8u);
}

// What an export prints an import reads, whatever lies between them.
TEST_F(History, ImportKnowsWhatItReadsWithoutAName)
{
    fill();
    const std::string exported = fourfold({"history", "export"}).out;
    std::filesystem::remove(history_file());
    const Output piped = fourfold({"history", "import", "/dev/stdin"}, exported);
    EXPECT_EQ(piped.status, 0) << piped.err;
    EXPECT_EQ(fourfold({"history", "export"}).out, exported);
    const std::string table
        = must(read_text_file(FOURFOLD_SOURCE_DIR "/presets/published/llama31_8b_4d_a100_h100.csv"));
    const std::string few = table.substr(0, table.find('\n', table.find("\n4d-") + 1) + 1);
    for (const char* name : {"table.CSV", "table.txt"}) {
        const Output taken = fourfold({"history", "import", file(name, few)});
        EXPECT_EQ(taken.status, 0) << taken.err;
    }
    EXPECT_THAT(fourfold({"history", "import", "/dev/stdin"}, few).err, HasSubstr("1 run is in the history already"));
    EXPECT_EQ(fourfold({"history", "delete", "last"}).status, 0);
}

TEST_F(History, ALogWithAnotherPlanDoesNotPassForTheSame)
{
    std::string log;
    for (int step = 1; step < 30; ++step)
        log += "[default0]: iteration " + std::to_string(step)
            + "/ 100 | elapsed time per iteration (ms): 69000 | global batch size: 1024 | lm loss: 2.5 |\n";
    const std::string file_of_log = file("run.log", log);
    const std::string plan = "llama-3.1-8b-tsubame4-16";
    expect_problem(
        fourfold({"history", "import", "--plan", plan, "--set", "layout.tp=3", file_of_log}), 2, "layout.tp");
    EXPECT_EQ(fourfold({"history", "import", "--plan", plan, "--set", "name=mine", file_of_log}).status, 0);
    EXPECT_THAT(fourfold({"history", "import", file_of_log, "--plan", plan, "--set", "name=mine"}).err,
        HasSubstr("1 run is in the history already"));
    const Output other
        = fourfold({"history", "import", file_of_log, "--plan", plan, "--set", "layout.tp=4", "--set", "layout.dp=4"});
    EXPECT_EQ(other.status, 0);
    EXPECT_THAT(other.err, HasSubstr("the history has this log with another plan, which stays"));
    EXPECT_EQ(fourfold({"history", "delete", "last"}).status, 0);
    EXPECT_THAT(fourfold({"history", "import", file_of_log, "--plan", plan, "--set", "name=mine"}).err,
        HasSubstr("already, 1 of them deleted"));
}

TEST_F(History, UnknownAndAmbiguousIds)
{
    fill();
    expect_problem(fourfold({"history", "show", "nobody"}), 2, "there is no run \"nobody\"");
    expect_problem(fourfold({"history", "show", "01RUN"}), 2, "01RUNA, 01RUNB");
    expect_problem(fourfold({"history", "compare", "01RUNA", "zzz"}), 2, "zzz");
    expect_problem(fourfold({"history", "export", "01RUNA", "zzz"}), 2, "zzz");
    expect_problem(fourfold({"attach", "nobody"}), 2, "nobody");
}

TEST_F(History, ListsInEveryForm)
{
    fill();
    const Output text = fourfold({"history", "list"});
    EXPECT_EQ(text.status, 0);
    EXPECT_EQ(text.err, "");
    const auto lines = lines_of(text.out);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines[0], HasSubstr("TPS/GPU"));
    EXPECT_THAT(lines[1], HasSubstr("01RUNB"));
    EXPECT_THAT(lines[2], HasSubstr("01RUNA"));
    EXPECT_THAT(lines[2], HasSubstr("110.0    100.0   10.0 %"));
    EXPECT_EQ(lines_of(fourfold({"history", "list", "--limit", "1"}).out).size(), 2u);
    const Output failed = fourfold({"history", "list", "--filter", "state == oom and steps < 3"});
    ASSERT_EQ(lines_of(failed.out).size(), 2u);
    EXPECT_THAT(lines_of(failed.out)[1], HasSubstr("01RUNB"));
    EXPECT_THAT(fourfold({"history", "list", "--filter", "01runa", "--format", "csv"}).out, HasSubstr("01RUNA"));
    EXPECT_THAT(fourfold({"history", "list", "--filter", "nothing like it"}).err, HasSubstr("no run matches"));
    expect_problem(fourfold({"history", "list", "--filter", "stepz < 3"}), 2, "did you mean");
    EXPECT_EQ(lines_of(fourfold({"history", "list", "--format", "csv"}).out).size(), 3u);
    EXPECT_EQ(lines_of(fourfold({"history", "list", "--format", "markdown"}).out).size(), 4u);
    EXPECT_THAT(fourfold({"history", "list", "--format", "latex"}).out, HasSubstr("\\end{tabular}"));
}

TEST_F(History, ListsTheTermMostOffOfTracedRuns)
{
    const auto plan = must(
        resolve(must(read_plan(FOURFOLD_SOURCE_DIR "/presets/plans/llama-3.1-8b-tsubame4-16.plan.json")), Presets()));
    Timeline measured = predict(plan).timeline;
    measured.spans.push_back({0, SpanKind::optimizer, -1, 0, measured.length_s, measured.length_s + 100});
    measured.length_s += 100;
    Json trace = chrome_trace(measured, "test");
    trace["event"] = "trace";
    trace["seq"] = 0;
    const std::string document = file("run.json", measured_run(plan, "traced", "traced", "ok", "", {trace}).dump());
    EXPECT_EQ(fourfold({"history", "import", document}).status, 0);
    EXPECT_THAT(fourfold({"history", "list"}).out, HasSubstr("optimizer +"));
    EXPECT_EQ(json_of(fourfold({"history", "list", "--json"}))[0]["most_off"], "optimizer");
    EXPECT_EQ(json_of(fourfold({"history", "show", "--json"}))["most_off"], "optimizer");
    EXPECT_THAT(fourfold({"history", "export", "--format", "csv"}).out, HasSubstr(",optimizer,"));
}

// Kinds of the values of `list --json` and `show --json`: s text, n number, N number or null.
void expect_row(const Json& row)
{
    const std::pair<const char*, char> fields[] = {{"id", 's'}, {"created", 's'}, {"state", 's'}, {"name", 's'},
        {"model", 's'}, {"cluster", 's'}, {"gpus", 'n'}, {"layout", 's'}, {"stack", 's'}, {"target", 's'},
        {"steps", 'n'}, {"predicted_tps_per_gpu", 'N'}, {"measured_tps_per_gpu", 'N'}, {"tps_error", 'N'},
        {"predicted_step_time_s", 'N'}, {"measured_step_time_s", 'N'}, {"predicted_memory_gib", 'N'},
        {"measured_memory_gib", 'N'}, {"first_loss", 'N'}, {"last_loss", 'N'}, {"eval_loss", 'N'}, {"problem", 's'}};
    for (const auto& [key, kind] : fields) {
        ASSERT_TRUE(row.contains(key)) << key;
        if (kind == 's')
            EXPECT_TRUE(row[key].is_string()) << key;
        else
            EXPECT_TRUE(row[key].is_number() || (kind == 'N' && row[key].is_null())) << key;
    }
}

TEST_F(History, JsonHasTheFieldsOfItsForm)
{
    fill();
    const Json list = json_of(fourfold({"history", "list", "--json"}));
    ASSERT_EQ(list.size(), 2u);
    for (const Json& row : list)
        expect_row(row);
    EXPECT_NEAR(list[1]["tps_error"].get<double>(), 0.1, 1e-12);

    const Json run = json_of(fourfold({"history", "show", "01RUNA", "--json"}));
    expect_row(run);
    EXPECT_EQ(run["headline_rule"], "median of steps 2..3");
    EXPECT_TRUE(run["tps_spread"].is_number());
    EXPECT_EQ(run["hosts"], Json({"node-a", "node-b"}));
    EXPECT_EQ(run["plan"]["gpus"], 4);
    EXPECT_EQ(run["prediction"]["tps_per_gpu"], 110.0);
    EXPECT_TRUE(run["planned_prediction"].is_null());
    EXPECT_EQ(run["versions"]["software"]["libtorch"], "2.11.0");
    ASSERT_EQ(run["step_rows"].size(), 3u);
    EXPECT_EQ(run["step_rows"][2]["loss"], 3.0);
    EXPECT_TRUE(run["step_rows"][2]["mfu"].is_null());
    EXPECT_EQ(run["other_events"].size(), 3u);
}

TEST_F(History, ShowsWhatAGpuAllocatedAndReserved)
{
    fill();
    EXPECT_TRUE(json_of(fourfold({"history", "show", "01RUNA", "--json"}))["memory_reserved_gib"].is_null());
    HistoryStore store = open_store(history_file());
    must(store.create_run(sample_run("01RUNC")));
    must(store.append_events("01RUNC", "events",
        {start_line(0),
            R"({"seq":1,"event":"step","step":1,"loss":5,"memory_peak_gib":3,"memory_allocated_gib":3,)"
            R"("memory_reserved_gib":4.25})"}));
    EXPECT_THAT(
        fourfold({"history", "show", "01RUNC"}).out, HasSubstr("memory     3.00 GiB allocated, 4.25 GiB reserved"));
    const Json run = json_of(fourfold({"history", "show", "01RUNC", "--json"}));
    EXPECT_EQ(run["memory_allocated_gib"], 3.0);
    EXPECT_EQ(run["memory_reserved_gib"], 4.25);
}

TEST_F(History, ShowsPredictionBesideMeasurement)
{
    fill();
    const Output output = fourfold({"history", "show", "01RUNA"});
    EXPECT_EQ(output.status, 0);
    for (const char* text : {"01RUNA  ok  tiny Llama", "predicted  measured", "TPS/GPU      110.0     100.0  10.0 %",
             "first 5.0000, last 3.0000, held out 3.5000", "node-a, node-b", "fourfold 0.1.0, libtorch 2.11.0",
             "median of steps 2..3, spread"})
        EXPECT_THAT(output.out, HasSubstr(text));
    EXPECT_THAT(output.out, ::testing::Not(HasSubstr("problem")));
    const Output last = fourfold({"history", "show"});
    EXPECT_THAT(last.out, HasSubstr("01RUNB  oom"));
    EXPECT_THAT(last.out, HasSubstr("problem    rank 2 on node-b: out of memory"));
    EXPECT_THAT(last.out, HasSubstr("120.0 TPS/GPU for the stack of the plan"));
    EXPECT_THAT(fourfold({"history", "show", "--format", "csv"}).out, HasSubstr("throughput,TPS/GPU,110,40,"));
}

TEST_F(History, ComparesSideBySide)
{
    fill();
    const Output output = fourfold({"history", "compare", "01RUNA", "01RUNB"});
    EXPECT_EQ(output.status, 0);
    const auto lines = lines_of(output.out);
    EXPECT_THAT(lines.at(0), ::testing::MatchesRegex(" +field +01RUNA +01RUNB"));
    const auto line_of = [&](const std::string& field) {
        for (const std::string& line : lines)
            if (line.substr(3).starts_with(field + " "))
                return line;
        return std::string();
    };
    EXPECT_EQ(line_of("state").front(), '*');
    EXPECT_EQ(line_of("plan.layout.tp").front(), '*');
    EXPECT_EQ(line_of("name").front(), ' ');
    EXPECT_THAT(line_of("environment.NCCL_ALGO"), ::testing::MatchesRegex("\\* +environment.NCCL_ALGO +- +Ring *"));
    EXPECT_EQ(line_of("environment.OMP_NUM_THREADS"), "");
    EXPECT_EQ(line_of("plan.layout.pp"), "") << "what is the same in both plans is left out";
    const Json json = json_of(fourfold({"history", "compare", "01RUNA", "01RUNB", "--json"}));
    ASSERT_EQ(json["runs"].size(), 2u);
    expect_row(json["runs"][0]);
    bool found = false;
    for (const Json& difference : json["differences"])
        if (difference["field"] == "plan.layout.tp") {
            found = true;
            EXPECT_EQ(difference["values"], Json({2, 4}));
        }
    EXPECT_TRUE(found);
}

TEST_F(History, ExportsAndImports)
{
    fill();
    const Output output = fourfold({"history", "export", "--output", "runs.json"});
    ASSERT_EQ(output.status, 0) << output.err;
    EXPECT_EQ(output.out, "");
    const Json before = json_of(fourfold({"history", "list", "--json"}));
    std::filesystem::remove_all(folder() / "data");
    const Output import = fourfold({"history", "import", "runs.json"});
    EXPECT_EQ(import.status, 0) << import.err;
    EXPECT_THAT(lines_of(import.out), ElementsAre(StartsWith("imported 01RUNB  "), StartsWith("imported 01RUNA  ")));
    EXPECT_EQ(json_of(fourfold({"history", "list", "--json"})), before);
    const Output again = fourfold({"history", "import", "runs.json", "--json"});
    EXPECT_EQ(again.status, 0);
    EXPECT_EQ(json_of(again), Json::parse(R"({"imported": [], "known": 2})"));
    EXPECT_THAT(again.err, HasSubstr("2 runs are in the history already"));
    // A run of the same id that says something else is not taken for it; what else the file holds is named.
    Json changed = Json::parse(*read_text_file(folder() / "runs.json"));
    changed[1]["events"]["events"][0]["event"] = "other";
    const Output differs = fourfold({"history", "import", file("changed.json", changed.dump())});
    EXPECT_EQ(differs.status, 1);
    EXPECT_THAT(differs.err, HasSubstr("changed.json: [1]"));
    EXPECT_THAT(differs.err, HasSubstr("already in the history"));
    EXPECT_THAT(fourfold({"history", "import", file("none.json", "[]")}).err, HasSubstr("none.json: holds no runs"));

    expect_problem(fourfold({"history", "import", "missing.json"}), 2, "missing.json");
    expect_problem(fourfold({"history", "import", file("bad.json", "{")}), 2, "bad.json");
    expect_problem(fourfold({"history", "import", file("other.json", R"({"a": 1})")}), 2, "fourfold_run");
    const Output unwritable = fourfold({"history", "export", "--output", "none/runs.json"});
    EXPECT_NE(unwritable.status, 0);
    EXPECT_THAT(unwritable.err, HasSubstr("none/runs.json"));
    EXPECT_FALSE(std::filesystem::exists(folder() / "none"));
}

TEST_F(History, IsNoOutput)
{
    expect_problem(fourfold({"history", "export", "--output", ""}), 2, "expected a name");
    expect_problem(fourfold({"calibrate", "--stack", "fourfold", "--history", "--output", ""}), 2, "expected a name");
    // Before anything is read or fitted.
    expect_problem(fourfold({"calibrate", "--stack", "fourfold", "none.csv", "--output", "a/b"}), 2, "a preset's id");
    fill();
    std::filesystem::create_symlink(history_file(), folder() / "link.csv");
    for (const std::string& output :
        {history_file().string(), history_file().string() + "-wal", (folder() / "link.csv").string()})
        expect_problem(fourfold({"history", "export", "--output", output}), 2, "is the history, which would be lost");
    EXPECT_EQ(json_of(fourfold({"history", "list", "--json"})).size(), 2U);
}

TEST_F(History, DashboardsAreNoTables)
{
    fill();
    for (const char* const board : {"--tensorboard", "--wandb"}) {
        expect_problem(fourfold({"history", "export", board, ""}), 2, "expected a name");
        expect_problem(fourfold({"history", "export", board, "x", "--output", "runs.json"}), 2, "--output");
        expect_problem(fourfold({"history", "export", board, "x", "--format", "csv"}), 2, "--format");
        expect_problem(fourfold({"history", "export", board, "x", "--json"}), 2, "--json");
        EXPECT_FALSE(std::filesystem::exists(folder() / "x"));
    }
}

TEST_F(History, ACorrectedTableDoesNotPassForTheOldOne)
{
    const auto table = [&](const std::string& value) {
        return file("t.csv",
            "source,table,row,model,gpu,gpus,tp,cp,pp,micro_batch,global_batch,seq_len,metric,value,status,cluster,"
            "stack\n"
            "ours,t,1,llama-3.1-8b,h100-94gb-sxm,16,2,1,1,1,1024,8192,tps_per_gpu,"
                + value + ",ok,tsubame4,megatron-lm\n");
    };
    ASSERT_EQ(fourfold({"history", "import", table("7600")}).status, 0);
    EXPECT_THAT(fourfold({"history", "import", table("7600")}).err, HasSubstr("1 run is in the history already"));
    const Output corrected = fourfold({"history", "import", table("7700")});
    EXPECT_THAT(corrected.err, HasSubstr("the history has other figures, which stay"));
    EXPECT_THAT(corrected.err, Not(HasSubstr("already")));
}

TEST_F(History, SurvivesADamagedStore)
{
    fill();
    std::ofstream(history_file(), std::ios::binary) << "this is not a database, whatever its name says";
    for (const char* suffix : {"-wal", "-shm"})
        std::filesystem::remove(history_file().string() + suffix);
    expect_problem(fourfold({"history", "list"}), 1, "move the file away");
}

TEST_F(History, TagsNotesAndDeleting)
{
    fill();
    EXPECT_EQ(fourfold({"history", "tag", "01RUNA", "01RUNB", "--add", "paper", "--add", "slow"}).out,
        "01RUNA  paper, slow\n01RUNB  paper, slow\n");
    EXPECT_EQ(fourfold({"history", "tag", "01RUNB", "--remove", "slow"}).out, "01RUNB  paper\n");
    expect_problem(fourfold({"history", "tag", "01RUNB", "--add", "a,b"}), 2, "no tag");
    EXPECT_EQ(fourfold({"history", "note", "01RUNA", "best of three"}).status, 0);
    const std::string shown = fourfold({"history", "show", "01RUNA"}).out;
    EXPECT_THAT(shown, HasSubstr("paper, slow"));
    EXPECT_THAT(shown, HasSubstr("best of three"));
    EXPECT_THAT(fourfold({"history", "list", "--format", "csv"}).out, HasSubstr("\"paper, slow\",best of three"));

    EXPECT_THAT(fourfold({"history", "delete", "01RUNB"}).out, HasSubstr("history restore 01RUNB"));
    EXPECT_THAT(fourfold({"history", "list"}).out, ::testing::Not(HasSubstr("01RUNB")));
    EXPECT_THAT(fourfold({"history", "list", "--deleted"}).out, HasSubstr("01RUNB"));
    EXPECT_EQ(fourfold({"history", "restore", "01RUNB"}).out, "1 run restored\n");
    EXPECT_THAT(fourfold({"history", "list"}).out, HasSubstr("01RUNB"));
    const auto run_folder = history_file().parent_path() / "runs" / "01RUNB";
    std::filesystem::create_directories(run_folder / "logs");
    EXPECT_EQ(fourfold({"history", "purge"}).out, "0 runs removed for good\n");
    EXPECT_TRUE(std::filesystem::exists(run_folder));
    EXPECT_EQ(fourfold({"history", "delete", "01RUNB"}).status, 0);
    EXPECT_EQ(fourfold({"history", "purge"}).out, "1 run removed for good\n");
    EXPECT_FALSE(std::filesystem::exists(run_folder));
    expect_problem(fourfold({"history", "restore", "01RUNB"}), 2, "there is no run");

    // A run's folder that was moved to another disk is not removed there, and that is said.
    const auto moved = folder() / "moved";
    std::filesystem::create_directories(moved);
    std::filesystem::create_directory_symlink(moved, history_file().parent_path() / "runs" / "01RUNA");
    EXPECT_EQ(fourfold({"history", "delete", "01RUNA"}).status, 0);
    const Output purged = fourfold({"history", "purge"});
    EXPECT_EQ(purged.out, "1 run removed for good\n");
    EXPECT_THAT(purged.err, HasSubstr("what it leads to stays: " + moved.string()));
    EXPECT_TRUE(std::filesystem::exists(moved));
}

} // namespace
} // namespace fourfold::test
