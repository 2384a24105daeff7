// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes a run of the history: exported runs, folders of runs, measured tables; what is there already, what is
// bad.
#include "app/view/history/run_import.h"
#include "core/history/annotations.h"
#include "core/history/transfer.h"
#include "tests/history/history_test_support.h"

#include <gmock/gmock.h>

#include <fstream>

namespace fourfold::view {
namespace {

using test::must;
using ::testing::HasSubstr;

class RunImportTest : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path history() const { return folder_ / "history.db"; }
    [[nodiscard]] Json exported(const std::string& id) const
    {
        HistoryStore store = test::open_store(folder_ / "other.db");
        if (!store.full_id(id)) {
            must(store.create_run(test::sample_run(id)));
            must(store.append_events(
                id, "events", {test::start_line(0), test::step_line(1, 1), test::end_line(2, "ok")}));
            must(store.set_state(id, RunState::ok));
        }
        return must(export_run(store, id));
    }
    std::filesystem::path put(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }
    test::TemporaryFolder folder_;
};

TEST_F(RunImportTest, TakesAListOnceAndOneAloneByItsName)
{
    const auto list = put("list.json", Json::array({exported("01RUNA"), exported("01RUNB")}).dump());
    const RunImport first = import_from(history(), list);
    ASSERT_FALSE(first.problem) << first.problem->line();
    EXPECT_EQ(first.said(), "2 runs added");
    EXPECT_EQ(first.only(), "");
    const RunImport again = import_from(history(), list);
    EXPECT_EQ(again.said(), "0 runs added, 2 there already");
    const RunImport one = import_from(history(), put("one.json", exported("01RUNA").dump()));
    EXPECT_EQ(one.only(), "01RUNA");
    EXPECT_EQ(one.known.size(), 1U);
}

TEST_F(RunImportTest, WhatWasTakenBeforeABadRunStays)
{
    const RunImport outcome = import_from(
        history(), put("list.json", Json::array({exported("01RUNA"), {{"a", 1}}, exported("01RUNB")}).dump()));
    ASSERT_TRUE(outcome.problem);
    EXPECT_THAT(outcome.problem->line(), HasSubstr("list.json: [1]"));
    EXPECT_EQ(outcome.added.size(), 1U);
    EXPECT_TRUE(test::open_store(history()).full_id("01RUNA"));
}

TEST_F(RunImportTest, ARunThatSaysSomethingElseIsNotTakenForTheStoredOne)
{
    Json run = exported("01RUNA");
    ASSERT_FALSE(import_from(history(), put("a.json", run.dump())).problem);
    run["events"]["events"][1]["loss"] = 9;
    const RunImport other = import_from(history(), put("b.json", run.dump()));
    ASSERT_TRUE(other.problem);
    EXPECT_EQ(other.problem->code, ProblemCode::conflict);
    EXPECT_TRUE(other.known.empty());
}

TEST_F(RunImportTest, ATableIsTakenRowByRow)
{
    const RunImport table
        = import_from(history(), FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv");
    ASSERT_FALSE(table.problem) << table.problem->line();
    EXPECT_GE(table.added.size(), 18U);
    const RunImport again
        = import_from(history(), FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv");
    EXPECT_TRUE(again.added.empty());
    EXPECT_EQ(again.known.size(), table.added.size());
}

TEST_F(RunImportTest, WhatWasDeletedIsSaid)
{
    const auto file = put("a.json", exported("01RUNA").dump());
    ASSERT_FALSE(import_from(history(), file).problem);
    HistoryStore store = test::open_store(history());
    must(set_deleted(store, {"01RUNA"}, true));
    EXPECT_EQ(import_from(history(), file).said(), "0 runs added, 1 there already (1 of them deleted)");
}

TEST_F(RunImportTest, ANameThatSaysNothingIsNoHindrance)
{
    EXPECT_EQ(import_from(history(), put("run", exported("01RUNA").dump())).said(), "1 run added");
    std::filesystem::copy_file(
        FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv", folder_ / "table.txt");
    EXPECT_GE(import_from(history(), folder_ / "table.txt").added.size(), 18U);
    EXPECT_THAT(import_from(history(), put("train.log", "[rank0] step: 1\n")).problem->line(),
        HasSubstr("no exported run and no measured table"));
}

TEST_F(RunImportTest, WhatIsNoRunIsALine)
{
    EXPECT_THAT(import_from(history(), folder_ / "none.json").problem->line(), HasSubstr("none.json"));
    EXPECT_THAT(import_from(history(), put("empty.json", "[]")).problem->line(), HasSubstr("holds no runs"));
    EXPECT_THAT(import_from(history(), put("text.json", "hello")).problem->line(), HasSubstr("text.json"));
    EXPECT_THAT(import_from(history(), put("table.csv", "a,b\n1,2\n")).problem->line(), HasSubstr("table.csv"));
    std::filesystem::create_directories(folder_ / "folder");
    EXPECT_THAT(import_from(history(), folder_ / "folder").problem->line(), HasSubstr("plan.json"));
    EXPECT_FALSE(std::filesystem::exists(history())); // nothing was made for nothing
}

} // namespace
} // namespace fourfold::view
