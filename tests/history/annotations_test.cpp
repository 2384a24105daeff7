// SPDX-License-Identifier: GPL-3.0-or-later
// Tags, notes, deleting, bringing back and purging runs.
#include "core/history/annotations.h"
#include "core/history/rows.h"
#include "core/history/transfer.h"
#include "tests/history/history_test_support.h"

#include <SQLiteCpp/Database.h>

#include <gmock/gmock.h>

#include <thread>

namespace fourfold {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A history with three runs, A, B and C, of which A and B share a plan.
HistoryStore make_store(const TemporaryFolder& folder)
{
    HistoryStore store = open_store(folder / "history.db");
    for (const char* id : {"A", "B"})
        must(store.create_run(sample_run(id)));
    must(store.create_run(sample_run("C", "cc33")));
    must(store.append_events("B", "events", {start_line(0), step_line(1, 1), end_line(2, "ok")}));
    return store;
}

std::vector<std::string> ids(const std::vector<RunSummary>& runs)
{
    std::vector<std::string> list;
    for (const RunSummary& run : runs)
        list.push_back(run.id);
    std::sort(list.begin(), list.end());
    return list;
}

TEST(Annotations, TagsAreSortedAndEachOnce)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    must(set_tags(store, "A", {"slow", "paper", "slow", "größer"}));
    EXPECT_THAT(must(store.show("A")).summary.tags, ElementsAre("größer", "paper", "slow"));
    must(set_tags(store, "A", {}));
    EXPECT_THAT(must(store.show("A")).summary.tags, IsEmpty());
    for (const std::string bad : {"", " x", "x ", "a,b", "a\nb", "a\xc2\x9b", "a\xe2\x80\xae", "a\xff"})
        EXPECT_EQ(set_tags(store, "A", {bad}).error().code, ProblemCode::bad_input) << bad;
    EXPECT_EQ(set_tags(store, "A", {std::string(65, 'x')}).error().code, ProblemCode::bad_input);
    EXPECT_THAT(set_tags(store, "A", {std::string(33 * 2, '\xc3')}).error().hint, HasSubstr("at most 64 bytes"));
    EXPECT_EQ(set_tags(store, "nobody", {"x"}).error().code, ProblemCode::not_found);
}

// Two programs each read the tags before either wrote: neither may take the other's away.
TEST(Annotations, TagsOfSeveralProgramsAllStay)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    const std::filesystem::path file = folder / "history.db";
    constexpr int kPrograms = 4, kEach = 5;
    {
        std::vector<std::jthread> programs;
        for (int program = 0; program < kPrograms; ++program)
            programs.emplace_back([&file, program] {
                HistoryStore own = open_store(file);
                for (int i = 0; i < kEach; ++i)
                    must(change_tags(own, "A", {std::to_string(program) + "." + std::to_string(i)}, {}));
            });
    }
    EXPECT_EQ(must(store.show("A")).summary.tags.size(), std::size_t(kPrograms * kEach));
    EXPECT_THAT(must(change_tags(store, "A", {"new"}, must(store.show("A")).summary.tags)), ElementsAre("new"));
    EXPECT_EQ(change_tags(store, "nobody", {"x"}, {}).error().code, ProblemCode::not_found);
    EXPECT_EQ(change_tags(store, "A", {"a,b"}, {}).error().code, ProblemCode::bad_input);
}

TEST(Annotations, NotesKeepEveryByte)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    must(set_note(store, "A", "two lines\nand 'quotes', \"too\""));
    EXPECT_EQ(must(store.show("A")).summary.note, "two lines\nand 'quotes', \"too\"");
    EXPECT_EQ(set_note(store, "A", std::string(70'000, 'x')).error().code, ProblemCode::bad_input);
    EXPECT_EQ(set_note(store, "nobody", "x").error().code, ProblemCode::not_found);
}

TEST(Annotations, ATraceIsDueUntilItsTermIsSet)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    EXPECT_THAT(must(most_off_due(store)), IsEmpty());
    must(store.append_events("B", "events", {R"({"seq":3,"event":"trace","traceEvents":[]})"}));
    must(store.append_events("A", "node1", {R"({"seq":0,"event":"trace"})"})); // not the run's own stream
    EXPECT_THAT(must(most_off_due(store)), ElementsAre("B"));
    EXPECT_TRUE(must(store.show("B")).summary.most_off_due);
    must(set_most_off(store, "B", MostOff{"waiting", 0.5, 0.25}));
    EXPECT_THAT(must(most_off_due(store)), IsEmpty());
    const std::optional<MostOff> kept = must(store.show("B")).summary.most_off;
    ASSERT_TRUE(kept.has_value());
    EXPECT_EQ(kept->term, "waiting");
    EXPECT_DOUBLE_EQ(kept->difference_s(), -0.25);
    must(store.append_events("B", "events", {R"({"seq":4,"event":"trace"})"})); // a newer step was traced
    EXPECT_THAT(must(most_off_due(store)), ElementsAre("B"));
    must(set_most_off(store, "B", std::nullopt)); // a trace that says nothing
    EXPECT_FALSE(must(store.show("B")).summary.most_off.has_value());
    EXPECT_THAT(must(most_off_due(store)), IsEmpty());
    EXPECT_EQ(set_most_off(store, "nobody", std::nullopt).error().code, ProblemCode::not_found);
}

// Control characters that older versions stored are shown as what they are, and never stored again.
TEST(Annotations, OfAnOldHistoryAreShownClean)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    SQLite::Database raw(folder / "history.db", SQLite::OPEN_READWRITE);
    raw.exec("UPDATE runs SET tags = '[\"paper\\u009b\"]', note = 'a' || char(10) || char(27) || '[1m', name = 'n' || "
             "char(0x202e), problem = char(0x9b) WHERE id = 'A'");
    const RunSummary run = must(store.show("A")).summary;
    EXPECT_THAT(run.tags, ElementsAre("paper\\u009b"));
    EXPECT_EQ(run.note, "a\n\\u001b[1m");
    EXPECT_EQ(run.name, "n\\u202e");
    EXPECT_EQ(run.problem, "\\u009b");
    must(set_tags(store, "A", run.tags));
    must(set_note(store, "A", "b\x1b"));
    EXPECT_EQ(
        raw.execAndGet("SELECT tags || note FROM runs WHERE id = 'A'").getString(), "[\"paper\\\\u009b\"]b\\u001b");
}

TEST(Annotations, TravelWithAnExportedRun)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    EXPECT_FALSE(must(export_run(store, "A")).contains("tags"));
    must(set_tags(store, "A", {"paper"}));
    must(set_note(store, "A", "best of three"));
    Json document = must(export_run(store, "A"));
    HistoryStore other = open_store(folder / "other.db");
    must(import_run(other, document));
    EXPECT_THAT(must(other.show("A")).summary.tags, ElementsAre("paper"));
    EXPECT_EQ(must(other.show("A")).summary.note, "best of three");
    document["id"] = "A2";
    document["tags"] = Json::array({"a,b"});
    EXPECT_THAT(import_run(other, document).error().line(), HasSubstr("no tag"));
}

TEST(Annotations, DeletedRunsCanBeBroughtBack)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    must(set_deleted(store, {"B", "C"}, true));
    EXPECT_THAT(ids(must(store.list())), ElementsAre("A"));
    EXPECT_THAT(ids(must(store.list(10, Runs::deleted))), ElementsAre("B", "C"));
    EXPECT_EQ(must(store.full_id("last")), "A");
    EXPECT_EQ(must(store.show("B")).steps.size(), 1u) << "by its id it is still there";
    must(store.append_events("C", "events", {start_line(0)})); // a run that goes on loses nothing
    must(set_deleted(store, {"B"}, false));
    EXPECT_THAT(ids(must(store.list())), ElementsAre("A", "B"));
    EXPECT_EQ(set_deleted(store, {"A", "nobody"}, true).error().code, ProblemCode::not_found);
    EXPECT_THAT(ids(must(store.list())), ElementsAre("A", "B")) << "all or none";
}

TEST(Annotations, PurgeRemovesWhatNobodyElseNeeds)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    EXPECT_THAT(must(purge(store)), IsEmpty());
    must(set_deleted(store, {"B", "C"}, true));
    EXPECT_THAT(must(purge(store, {"A", "B"})), ElementsAre("B")) << "A is not deleted";
    EXPECT_THAT(must(purge(store)), ElementsAre("C"));
    EXPECT_THAT(ids(must(store.list(10, Runs::deleted))), IsEmpty());
    EXPECT_EQ(store.show("B").error().code, ProblemCode::not_found);
    SQLite::Database raw(folder / "history.db");
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM events").getInt(), 0);
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM steps").getInt(), 0);
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM plans").getInt(), 1) << "A's";
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM predictions").getInt(), 1);
    EXPECT_EQ(raw.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
    must(store.create_run(sample_run("B"))); // its id is free again
}

TEST(Annotations, PurgeLeavesWhatGoesOn)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    must(store.set_state("B", RunState::running));
    must(set_deleted(store, {"B", "C"}, true));
    EXPECT_THAT(must(purge(store)), ElementsAre("C"));
    EXPECT_THAT(ids(must(store.list(10, Runs::deleted))), ElementsAre("B"));
    must(store.set_state("B", RunState::ok));
    EXPECT_THAT(must(purge(store)), ElementsAre("B"));
}

// By the ids that it returns folders are removed: none may lead elsewhere, whatever somebody wrote into the file.
TEST(Annotations, PurgeNamesNoFolderOutsideOfTheRuns)
{
    const TemporaryFolder folder;
    HistoryStore store = make_store(folder);
    must(set_deleted(store, {"B", "C"}, true));
    SQLite::Database raw(folder / "history.db", SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA foreign_keys = OFF");
    raw.exec("UPDATE runs SET id = '../../precious' WHERE id = 'B'");
    EXPECT_THAT(must(purge(store)), ElementsAre("C"));
    EXPECT_THAT(ids(must(store.list(10, Runs::deleted))), IsEmpty()) << "it is gone from the history all the same";
}

} // namespace
} // namespace fourfold
