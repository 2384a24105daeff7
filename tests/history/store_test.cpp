// SPDX-License-Identifier: GPL-3.0-or-later
// What a caller of HistoryStore relies on: runs, events, lists and single runs.
#include "tests/history/history_test_support.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <gmock/gmock.h>

namespace fourfold {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Store, ShowsWhatWasStored)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "deep/er/history.db");
    NewRun run = sample_run("01RUN");
    run.planned_prediction = Json{{"tps_per_gpu", 120.0}};
    must(store.create_run(run));
    must(store.append_events("01RUN", "events",
        {start_line(0), step_line(1, 1, 50, 5.0), step_line(2, 2, 100, 4.0), step_line(3, 3, 100, 3.0),
            R"({"seq":4,"time":"2026-01-01T00:00:05.000Z","rank":0,"event":"eval","step":3,"loss":3.5})",
            end_line(5, "ok")}));

    const RunDetail detail = must(store.show("01RUN"));
    EXPECT_EQ(detail.summary.name, "tiny Llama");
    EXPECT_EQ(detail.summary.state, RunState::ok);
    EXPECT_EQ(detail.summary.model, "Tiny Llama");
    EXPECT_EQ(detail.summary.cluster, "This computer");
    EXPECT_EQ(detail.summary.layout, "tp2 cp1 pp1 dp2 mb3");
    EXPECT_EQ(detail.summary.gpus, 4);
    EXPECT_EQ(detail.summary.steps, 3);
    EXPECT_EQ(detail.summary.predicted_tps_per_gpu, 110.0);
    EXPECT_EQ(detail.summary.measured_tps_per_gpu, 100.0);
    EXPECT_EQ(detail.summary.measured_step_time_s, 2.0);
    EXPECT_DOUBLE_EQ(*detail.summary.measured_memory_gib, 1.03);
    EXPECT_NEAR(*detail.summary.tps_error, 0.1, 1e-12);
    EXPECT_EQ(detail.summary.first_loss, 5.0);
    EXPECT_EQ(detail.summary.last_loss, 3.0);
    EXPECT_EQ(detail.summary.eval_loss, 3.5);
    EXPECT_EQ(detail.summary.problem, "");
    EXPECT_EQ(detail.headline_rule, "median of steps 2..3");
    EXPECT_EQ(detail.plan, run.plan);
    EXPECT_EQ(detail.prediction, run.prediction);
    ASSERT_TRUE(detail.planned_prediction);
    EXPECT_EQ(*detail.planned_prediction, *run.planned_prediction);
    EXPECT_THAT(detail.hosts, ElementsAre("node-a", "node-b"));
    EXPECT_EQ(detail.environment, run.environment);
    EXPECT_EQ(detail.versions["software"]["libtorch"], "2.11.0");
    EXPECT_EQ(detail.versions["hardware"]["cpu"], "x86");
    EXPECT_FALSE(detail.versions.contains("environment"));
    ASSERT_EQ(detail.steps.size(), 3u);
    EXPECT_EQ(detail.steps[0].time_s, 0.0);
    EXPECT_EQ(detail.steps[2].time_s, 2.0);
    EXPECT_EQ(detail.steps[2].step, 3);
    EXPECT_EQ(detail.steps[1].loss, 4.0);
    EXPECT_FALSE(detail.steps[1].grad_norm);
    ASSERT_EQ(detail.other_events.size(), 3u);
    EXPECT_EQ(detail.other_events[0]["event"], "start");
    EXPECT_EQ(detail.other_events[2]["event"], "end");
}

TEST(Store, KeepsEventLinesByteForByte)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    const std::vector<std::string> lines{
        R"({ "seq": 0,  "event": "warning", "message": "caf\u00e9 ' \" ; DROP TABLE runs" })",
        R"({"event":"step","seq":1,"step":1,"loss":1.500e0})"};
    must(store.append_events("01RUN", "events", lines));
    EXPECT_EQ(must(store.events("01RUN")), lines);
    EXPECT_THAT(must(store.events("01RUN", "node1")), IsEmpty());
}

// The run's own row is written once for a batch: it must say the same however the steps were cut into batches.
TEST(Store, SummarisesStepsAlikeInAnyBatches)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    const std::vector<std::string> lines{start_line(0), R"({"seq":1,"event":"step","step":1,"loss":null})",
        R"({"seq":2,"event":"step","step":2,"loss":4.5,"memory_peak_gib":2})",
        R"({"seq":3,"event":"step","step":3,"loss":3.5,"memory_peak_gib":1.5})",
        R"({"seq":4,"event":"step","step":4,"memory_peak_gib":null})",
        R"({"seq":5,"event":"step","step":5,"loss":2.5,"memory_peak_gib":2.5})", R"({"seq":6,"event":"step"})",
        end_line(7, "ok")};
    for (const std::size_t batch : {1u, 2u, 3u, 8u}) {
        const std::string run = "RUN" + std::to_string(batch);
        must(store.create_run(sample_run(run)));
        for (std::size_t at = 0; at < lines.size(); at += batch) {
            std::vector<Json> documents;
            std::vector<ParsedLine> parsed;
            for (std::size_t i = at; i < std::min(at + batch, lines.size()); ++i)
                documents.push_back(must(parse_json(lines[i], "line")));
            for (std::size_t i = 0; i < documents.size(); ++i)
                parsed.push_back({lines[at + i], &documents[i]});
            must(store.append_parsed(run, "events", parsed));
        }
        EXPECT_EQ(must(store.events(run)), lines);
        const RunSummary summary = must(store.show(run)).summary;
        EXPECT_EQ(summary.steps, 6) << batch;
        EXPECT_EQ(summary.first_loss, 4.5) << batch;
        EXPECT_EQ(summary.last_loss, 2.5) << batch;
        EXPECT_EQ(summary.measured_memory_gib, 2.5) << batch;
        EXPECT_EQ(summary.state, RunState::ok) << batch;
    }
}

TEST(Store, BothPeaksOfAGpuAreTheLastSteps)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    EXPECT_EQ(must(store.show("01RUN")).reserved_gib, std::nullopt);
    const std::string figures = R"("loss":1,"memory_peak_gib":3,"memory_allocated_gib":3,"memory_reserved_gib":)";
    must(store.append_events("01RUN", "events",
        {start_line(0), R"({"seq":1,"event":"step","step":1,)" + figures + "3.5}",
            R"({"seq":2,"event":"step","step":2,)" + figures + "4}", end_line(3, "ok")}));
    const RunDetail run = must(store.show("01RUN"));
    EXPECT_EQ(run.allocated_gib, 3);
    EXPECT_EQ(run.reserved_gib, 4);
    EXPECT_EQ(run.summary.measured_memory_gib, 3);
}

TEST(Store, SkipsWhatIsStoredAndRefusesGaps)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    EXPECT_EQ(must(store.last_seq("01RUN", "events")), -1);
    must(store.append_events("01RUN", "events", {start_line(0), step_line(1, 1)}));
    must(store.append_events("01RUN", "events", {start_line(0), step_line(1, 1), step_line(2, 2)}));
    EXPECT_EQ(must(store.last_seq("01RUN", "events")), 2);
    EXPECT_EQ(must(store.show("01RUN")).steps.size(), 2u);

    const auto gap = store.append_events("01RUN", "events", {step_line(3, 3), step_line(5, 5)});
    ASSERT_FALSE(gap);
    EXPECT_EQ(gap.error().code, ProblemCode::conflict);
    EXPECT_THAT(gap.error().line(), HasSubstr("4 is next, got 5"));
    EXPECT_EQ(must(store.last_seq("01RUN", "events")), 2) << "a refused batch stores nothing";
    EXPECT_EQ(must(store.events("01RUN")).size(), 3u);
    must(store.append_events("01RUN", "events", {}));
    EXPECT_EQ(must(store.last_seq("01RUN", "events")), 2);
}

TEST(Store, KeepsStreamsApart)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    must(store.set_state("01RUN", RunState::running));
    must(store.append_events("01RUN", "events", {start_line(0), step_line(1, 1)}));
    must(store.append_events("01RUN", "node1", {step_line(0, 1), end_line(1, "fail")}));
    EXPECT_EQ(must(store.last_seq("01RUN", "node1")), 1);
    const RunDetail detail = must(store.show("01RUN"));
    EXPECT_EQ(detail.steps.size(), 1u) << "steps of the run come from its own stream";
    EXPECT_EQ(detail.summary.state, RunState::running) << "the end of one node's agent does not end the run";
}

struct BadLine {
    const char* line;
    const char* expected;
};
class BadLines : public ::testing::TestWithParam<BadLine> { };
TEST_P(BadLines, AreRefusedAsAWhole)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    const auto result = store.append_events("01RUN", "events", {start_line(0), GetParam().line});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ProblemCode::bad_input);
    EXPECT_THAT(result.error().line(), HasSubstr(GetParam().expected));
    EXPECT_THAT(result.error().line(), HasSubstr("new line 2"));
    EXPECT_EQ(must(store.last_seq("01RUN", "events")), -1);
}
INSTANTIATE_TEST_SUITE_P(Store, BadLines,
    ::testing::Values(BadLine{"", ""}, BadLine{R"({"seq":1,"event":"step")", ""}, BadLine{"[1]", "a JSON object"},
        BadLine{R"({"event":"step"})", "seq"}, BadLine{R"({"seq":-1,"event":"step"})", "seq"},
        BadLine{R"({"seq":1.5,"event":"step"})", "seq"}, BadLine{R"({"seq":"1","event":"step"})", "seq"},
        BadLine{R"({"seq":18446744073709551615,"event":"step"})", "seq"}, BadLine{R"({"seq":1})", "event"},
        BadLine{R"({"seq":1,"event":7})", "event"}));

TEST(Store, TakesStepsWithOddValues)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    must(store.append_events("01RUN", "events",
        {R"({"seq":0,"event":"step"})", R"({"seq":1,"event":"step","step":-3,"loss":null,"tps_per_gpu":"fast"})",
            R"({"seq":2,"event":"step","step":1e300,"loss":1e300,"time":"yesterday"})"}));
    const RunDetail detail = must(store.show("01RUN"));
    ASSERT_EQ(detail.steps.size(), 3u);
    EXPECT_FALSE(detail.steps[1].loss);
    EXPECT_FALSE(detail.summary.measured_tps_per_gpu);
    EXPECT_EQ(detail.headline_rule, "");
    EXPECT_FALSE(detail.summary.tps_error);
}

TEST(Store, FollowsStatesAndKeepsTheFirstCause)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    EXPECT_EQ(must(store.show("01RUN")).summary.state, RunState::draft);
    must(store.set_state("01RUN", RunState::running));
    must(store.append_events("01RUN", "events",
        {R"({"seq":0,"event":"error","rank":3,"host":"node-b","kind":"oom","message":"out of\nmemory"})",
            R"({"seq":1,"event":"error","rank":0,"message":"peer is gone"})", end_line(2, "oom")}));
    RunSummary summary = must(store.show("01RUN")).summary;
    EXPECT_EQ(summary.state, RunState::oom);
    EXPECT_EQ(summary.problem, "rank 3 on node-b: out of memory");
    must(store.set_state("01RUN", RunState::fail, "the runner knows better"));
    summary = must(store.show("01RUN")).summary;
    EXPECT_EQ(summary.state, RunState::fail);
    EXPECT_EQ(summary.problem, "the runner knows better");

    const auto unknown_run = store.set_state("nobody", RunState::ok);
    ASSERT_FALSE(unknown_run);
    EXPECT_EQ(unknown_run.error().code, ProblemCode::not_found);
}

TEST(Store, RefusesUnknownRunsAndTakenOrOddIds)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    EXPECT_EQ(store.create_run(sample_run("01RUN")).error().code, ProblemCode::conflict);
    for (const char* id : {"", "last", "../x", "a b", "x\n"})
        EXPECT_EQ(store.create_run(sample_run(id)).error().code, ProblemCode::bad_input) << id;
    EXPECT_EQ(store.append_events("nobody", "events", {start_line(0)}).error().code, ProblemCode::not_found);
    EXPECT_EQ(store.last_seq("nobody", "events").error().code, ProblemCode::not_found);
    EXPECT_EQ(store.events("nobody").error().code, ProblemCode::not_found);
    EXPECT_EQ(store.show("nobody").error().code, ProblemCode::not_found);
    EXPECT_EQ(must(store.list()).size(), 1u);
}

TEST(Store, FindsRunsByPrefixAndLast)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    const auto empty = store.full_id("last");
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().code, ProblemCode::not_found);
    for (const char* id : {"01ABC", "01ABD", "01ABCDE"})
        must(store.create_run(sample_run(id)));
    EXPECT_EQ(must(store.full_id("last")), "01ABCDE");
    EXPECT_EQ(must(store.full_id("01abd")), "01ABD");
    EXPECT_EQ(must(store.full_id("01ABC")), "01ABC") << "a whole id wins over ids that it begins";
    const auto ambiguous = store.full_id("01AB");
    ASSERT_FALSE(ambiguous);
    EXPECT_EQ(ambiguous.error().code, ProblemCode::bad_input);
    EXPECT_THAT(ambiguous.error().line(), HasSubstr("01ABC, "));
    EXPECT_FALSE(store.full_id("%"));
    EXPECT_FALSE(store.full_id(""));
}

TEST(Store, ListsNewestFirstUpToALimit)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    EXPECT_THAT(must(store.list()), IsEmpty());
    for (int i = 0; i < 5; ++i)
        must(store.create_run(sample_run("RUN" + std::to_string(i))));
    const auto runs = must(store.list(2));
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].id, "RUN4");
    EXPECT_EQ(runs[1].id, "RUN3");
}

TEST(Store, ReadsTheHeadlineOfARunningRunFromItsSteps)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("01RUN")));
    must(store.set_state("01RUN", RunState::running));
    must(store.append_events("01RUN", "events", {step_line(0, 1, 10), step_line(1, 2, 90), step_line(2, 3, 110)}));
    EXPECT_EQ(must(store.list())[0].measured_tps_per_gpu, 100.0);
    // Events that are fetched after the state was settled count as well.
    must(store.set_state("01RUN", RunState::lost));
    must(store.append_events("01RUN", "events", {step_line(3, 4, 120), end_line(4, "ok")}));
    EXPECT_EQ(must(store.list())[0].measured_tps_per_gpu, 110.0);
    EXPECT_EQ(must(store.show("01RUN")).headline_rule, "median of steps 2..4");
}

TEST(Store, ReadsTheHeadlineAtTheStepThatThePlanNames)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    NewRun run = sample_run("01RUN");
    run.plan["run"]["read_at"] = 2;
    must(store.create_run(run));
    must(store.append_events(
        "01RUN", "events", {step_line(0, 1, 10), step_line(1, 2, 80), step_line(2, 3, 110), end_line(3, "ok")}));
    const RunDetail detail = must(store.show("01RUN"));
    EXPECT_EQ(detail.summary.measured_tps_per_gpu, 80.0);
    EXPECT_EQ(detail.headline_rule, "step 2");
    EXPECT_FALSE(detail.tps_spread);
}

TEST(Store, KeepsOneRowForOnePlanAndBothDocumentsOfOneHash)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    must(store.create_run(sample_run("A")));
    must(store.create_run(sample_run("B")));
    NewRun other = sample_run("C");
    other.plan["note"] = "another document under the same hash";
    must(store.create_run(other));
    EXPECT_EQ(must(store.show("B")).plan, sample_run("B").plan);
    EXPECT_EQ(must(store.show("C")).plan, other.plan);
    SQLite::Database raw(folder / "history.db");
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM plans").getInt(), 2);
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM hosts").getInt(), 2);
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM run_hosts").getInt(), 6);
}

TEST(Store, HasTypedTablesForeignKeysAndAWriteAheadLog)
{
    const TemporaryFolder folder;
    HistoryStore store = open_store(folder / "history.db");
    SQLite::Database raw(folder / "history.db", SQLite::OPEN_READWRITE);
    EXPECT_EQ(raw.execAndGet("PRAGMA journal_mode").getString(), "wal");
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                             " AND strict = 0 AND name NOT LIKE 'sqlite_%'")
                  .getInt(),
        0);
    raw.exec("PRAGMA foreign_keys = ON");
    EXPECT_THROW(raw.exec("INSERT INTO events VALUES ('nobody', 'events', 0, 'step', '{}')"), SQLite::Exception);
    EXPECT_EQ(raw.execAndGet("PRAGMA application_id").getInt(), 0x46464c44);
    const auto rights = std::filesystem::status(folder / "history.db").permissions();
    EXPECT_EQ(
        rights & (std::filesystem::perms::group_all | std::filesystem::perms::others_all), std::filesystem::perms::none)
        << "environment variables of runs are the user's alone";
}

} // namespace
} // namespace fourfold
