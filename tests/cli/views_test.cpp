// SPDX-License-Identifier: GPL-3.0-or-later
// What the desktop shows, the command prints: every call of the guide's table, and of the README's tour, is run as it
// is written there.
#include "core/calibration/user/table_runs.h"
#include "core/plan/presets.h"
#include "core/predict/prediction.h"
#include "core/schedule/chrome_trace.h"
#include "tests/cli/program.h"
#include "tests/history/history_test_support.h"

#include <cstdio>
#include <set>
#include <utility>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Words of a shell line; quotes are single.
std::vector<std::string> words_of(const std::string& line)
{
    std::vector<std::string> words;
    std::string word;
    bool quoted = false, any = false;
    for (const char c : line) {
        if (c == '\'') {
            quoted = !quoted;
            any = true;
        } else if (c == ' ' && !quoted) {
            if (any)
                words.push_back(std::exchange(word, {}));
            any = false;
        } else {
            word += c;
            any = true;
        }
    }
    if (any)
        words.push_back(word);
    return words;
}

// The text between backticks in the last column of the table.
std::vector<std::string> calls_of(const std::string& page)
{
    std::vector<std::string> calls;
    for (const std::string& line : lines_of(page)) {
        if (!line.starts_with("| "))
            continue;
        for (std::size_t begin = line.find('`'); begin != std::string::npos;) {
            const std::size_t end = line.find('`', begin + 1);
            calls.push_back(line.substr(begin + 1, end - begin - 1));
            begin = line.find('`', end + 1);
        }
    }
    return calls;
}

// The calls in the shell blocks of the README's tour, without their comments.
std::vector<std::string> calls_of_the_tour()
{
    const std::string page = must(read_text_file(FOURFOLD_SOURCE_DIR "/README.md"));
    const std::size_t begin = page.find("## A tour of five minutes"), end = page.find("\n## ", begin);
    std::vector<std::string> calls;
    bool in_shell = false;
    for (const std::string& line : lines_of(page.substr(begin, end - begin))) {
        if (line.starts_with("```"))
            in_shell = line == "```sh";
        else if (in_shell)
            calls.push_back(line.substr(0, line.find("  #")));
    }
    return calls;
}

class Views : public ProgramTest {
protected:
    ResolvedPlan plan_ = must(
        resolve(must(read_plan(FOURFOLD_SOURCE_DIR "/presets/plans/llama-3.1-8b-tsubame4-16.plan.json")), Presets()));

    // The files and runs that the calls name.
    void SetUp() override
    {
        file("layouts.csv", "tp,cp,pp,micro_batch\n2,1,1,1\n1,1,1,1\n");
        file("config.json", must(read_text_file(FOURFOLD_SOURCE_DIR "/presets/models/llama-3.1-8b.json")));
        Json trace = chrome_trace(predict(plan_).timeline, "test");
        trace["event"] = "trace";
        trace["seq"] = 1;
        const std::string measured = trace.dump();
        file("events.jsonl", measured + "\n");
        file("profile.json", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1, "dur": 2}]})");
        const Json step{{"seq", 0}, {"time", "2026-01-01T00:00:00.000Z"}, {"event", "step"}, {"step", 1},
            {"tps_per_gpu", 7000.0}, {"step_time_s", 74.9}, {"memory_peak_gib", 50.0}};
        for (const char* name : {"first", "second"})
            runs_.push_back(measured_run(plan_, name, name, "ok", "", {step, trace}));
        file("before.json", Json(runs_).dump());
        ASSERT_EQ(fourfold({"history", "import", "before.json"}).status, 0);
        file("runs.json", measured_run(plan_, "third", "third", "ok", "", {step, trace}).dump());
    }
    [[nodiscard]] std::string filled(const std::string& word) const
    {
        return word == "PLAN"                 ? "llama-3.1-8b-tsubame4-16"
            : word == "PLAN2"                 ? "this-computer"
            : word == "RUN" || word == "RUN1" ? runs_[0]["id"].get<std::string>()
            : word == "RUN2"                  ? runs_[1]["id"].get<std::string>()
                                              : word;
    }

    std::vector<Json> runs_;
};

TEST_F(Views, EveryCallOfTheGuideWorks)
{
    const std::string page = must(read_text_file(FOURFOLD_SOURCE_DIR "/resources/guide/08-command-line.md"));
    const std::vector<std::string> calls = calls_of(page);
    ASSERT_GE(calls.size(), 38u);
    // Training and following a run take nodes and minutes: tests/cli/run_test.cpp makes these calls.
    const std::set<std::string> elsewhere{
        "fourfold run this-computer --target local", "fourfold attach RUN", "fourfold run this-computer --queue"};
    const bool trainer = std::filesystem::exists(FOURFOLD_BIN_DIR "/fourfold-trainer");
    for (const std::string& call : calls) {
        if (elsewhere.count(call) > 0)
            continue;
        if (call.starts_with("fourfold run ") && !trainer) {
            std::printf("not made, there is no trainer beside the program: %s\n", call.c_str());
            continue;
        }
        std::vector<std::string> words = words_of(call);
        ASSERT_GE(words.size(), 2u) << call;
        ASSERT_EQ(words.front(), "fourfold") << call;
        words.erase(words.begin());
        for (std::string& word : words)
            word = filled(word);
        const Output output = fourfold(words);
        EXPECT_EQ(output.status, 0) << call << "\n" << output.err;
        const bool draws = call.find("--output") != std::string::npos || call.find("--picture") != std::string::npos;
        const bool changes = words[0] == "model"
            || (words[0] == "history"
                && std::set<std::string>{"note", "delete", "restore", "import"}.count(words[1]) > 0);
        EXPECT_TRUE(draws || changes || !output.out.empty()) << call << " prints nothing";
    }
}

TEST_F(Views, EveryCallOfTheTourWorks)
{
    const std::vector<std::string> calls = calls_of_the_tour();
    ASSERT_GE(calls.size(), 11u);
    for (const std::string& call : calls) {
        if (call.starts_with("fourfold run ")) // tests/cli/run_test.cpp makes it
            continue;
        std::vector<std::string> words = words_of(call);
        ASSERT_GE(words.size(), 2u) << call;
        ASSERT_EQ(words.front(), "fourfold") << call;
        words.erase(words.begin());
        for (std::string& word : words)
            word = filled(word);
        const Output output = fourfold(words);
        EXPECT_EQ(output.status, 0) << call << "\n" << output.err;
    }
    expect_problem(fourfold({"predict", "llama-3.1-8b-tsubame4-16", "--set", "layout.tp=3"}), 2, "use 2");
}

TEST_F(Views, TablesOfAPlan)
{
    const std::string id = "llama-3.1-405b-torchtitan-512";
    const Json memory = json_of(fourfold({"table", id, "memory", "--json"}));
    ASSERT_EQ(memory.size(), 8u);
    EXPECT_GT(memory[0]["total_gib"], 10.0);
    const Json curve = json_of(fourfold({"table", id, "memory-over-time", "--stage", "7", "--json"}));
    ASSERT_GT(curve.size(), 10u);
    EXPECT_GT(curve.back()["end_s"], curve.front()["end_s"]);
    expect_problem(fourfold({"table", id, "memory", "--stage", "7"}), 2, "--stage: is a choice of memory-over-time");
    const Json ranks = json_of(fourfold({"table", id, "ranks", "--json"}));
    ASSERT_EQ(ranks.size(), 512u);
    EXPECT_EQ(ranks[511]["node"], 63);
    const Json time = json_of(fourfold({"table", id, "time", "--json"}));
    double share = 0;
    for (const Json& part : time)
        share += part["share"].get<double>();
    EXPECT_NEAR(share, 1, 1e-6);
    EXPECT_THAT(fourfold({"table", id, "timeline", "--format", "csv"}).out, StartsWith("stage,kind,micro_batch"));
    EXPECT_THAT(fourfold({"table", id, "bounds"}).out, HasSubstr("Compute-bound"));
    expect_problem(fourfold({"table", id, "memory-over-time", "--stage", "8"}), 2, "no stage 8");
    expect_problem(fourfold({"table", id, "nonsense"}), 2, "nonsense");
}

TEST_F(Views, PlansAndRunsSideBySide)
{
    const std::string plan = "llama-3.1-8b-tsubame4-16", run = filled("RUN");
    const Json rows = json_of(fourfold({"compare", plan, "this-computer", "--run", run, "--json"}));
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0]["name"], plan);
    EXPECT_EQ(rows[0]["predicted_tps_per_gpu"], rows[2]["predicted_tps_per_gpu"]);
    EXPECT_TRUE(rows[0]["measured_tps_per_gpu"].is_null());
    // How sure it is, as `predict` says it.
    const Json alone = json_of(fourfold({"predict", plan, "--json"}));
    EXPECT_EQ(rows[0]["evidence"], alone["evidence"]);
    EXPECT_EQ(rows[0]["tps_low"], alone["interval"]["tps_per_gpu"][0]);
    EXPECT_EQ(rows[0]["memory_high_gib"], alone["interval"]["memory_gib"][1]);
    EXPECT_EQ(rows[2]["measured_tps_per_gpu"], 7000.0);
    // What the window's comparison has, too.
    EXPECT_EQ(rows[0]["warning_count"], alone["warnings"].size());
    EXPECT_EQ(rows[0]["memory_capacity_gib"], alone["memory_capacity_gib"]);
    EXPECT_TRUE(rows[0]["gpu"].is_string());
    double held = 0;
    for (const char* part : {"weights", "gradients", "optimizer", "activations", "buffers"})
        held += rows[0][std::string(part) + "_gib"].get<double>();
    EXPECT_NEAR(held, alone["memory_by_stage"][0]["total"].get<double>(), 1e-9) << "one stage";
    EXPECT_TRUE(rows[0]["tps_error"].is_null());
    EXPECT_NEAR(rows[2]["tps_error"].get<double>(), rows[2]["predicted_tps_per_gpu"].get<double>() / 7000 - 1, 1e-12);
    EXPECT_GT(rows[2]["measured_mfu"].get<double>(), 0);
    const std::string text = fourfold({"compare", plan, "this-computer", "--differences"}).out;
    EXPECT_THAT(text, HasSubstr("predicted TPS/GPU"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("loss"))); // nobody has one
    expect_problem(fourfold({"compare", plan}), 2, "one entry");
    expect_problem(fourfold({"compare", plan, "nobody"}), 2, "nobody");
    expect_problem(fourfold({"compare", plan, "--run", "nobody"}), 2, "nobody");
}

} // namespace
} // namespace fourfold::test
