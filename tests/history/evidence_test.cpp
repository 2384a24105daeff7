// SPDX-License-Identifier: GPL-3.0-or-later
// A stored run vouches for predictions of its layout and of neighbours.
#include "core/calibration/user/evidence.h"
#include "core/plan/presets.h"
#include "tests/history/history_test_support.h"

namespace fourfold::test {
namespace {

ResolvedPlan plan_on_this_computer(int tp, int dp, const char* recompute = "none")
{
    static const Presets presets({std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets"});
    const Json json{{"model", "llama-3.2-1b"}, {"cluster", "this-computer"}, {"gpus", tp * dp}, {"stack", "fourfold"},
        {"layout", {{"tp", tp}, {"dp", dp}}},
        {"training", {{"seq_len", 512}, {"global_batch", 16}, {"recompute", recompute}}}};
    return must(resolve(must(plan_from_json(json, "test")), presets));
}

// A run of the plan that ended with `status` after twenty steps.
void store_run(const std::filesystem::path& file, const std::string& id, const ResolvedPlan& plan, const char* status)
{
    HistoryStore store = open_store(file);
    NewRun run = sample_run(id, "hash of " + id);
    run.layout_hash = id;
    run.stack = plan.stack.id;
    run.plan = to_json(plan, PresetStyle::inlined);
    must(store.create_run(run));
    std::vector<std::string> lines{start_line(0)};
    for (int step = 1; step <= 20; ++step)
        lines.push_back(step_line(step, step));
    lines.push_back(end_line(21, status));
    must(store.append_events(id, "events", lines));
}

TEST(HistoryEvidence, ARunVouchesForItsLayoutAndItsNeighbours)
{
    const TemporaryFolder folder;
    HistoryEvidence history(folder / "history.db");
    EXPECT_FALSE(history.vouches_for(plan_on_this_computer(2, 2))) << "there is no history yet";

    store_run(folder / "history.db", "RUN1", plan_on_this_computer(2, 2), "ok");
    EXPECT_TRUE(history.vouches_for(plan_on_this_computer(2, 2)));
    EXPECT_TRUE(history.vouches_for(plan_on_this_computer(2, 4)));
    EXPECT_FALSE(history.vouches_for(plan_on_this_computer(4, 4))) << "two steps away";
    EXPECT_FALSE(history.vouches_for(plan_on_this_computer(2, 2, "full"))) << "other work";

    store_run(folder / "history.db", "RUN2", plan_on_this_computer(2, 2, "full"), "ok");
    EXPECT_TRUE(history.vouches_for(plan_on_this_computer(2, 2, "full"))) << "a run that was added meanwhile";

    ResolvedPlan calibrated = plan_on_this_computer(2, 2);
    calibrated.stack.id = "my-fourfold";
    calibrated.stack.base = PresetBase{"fourfold", "", false};
    EXPECT_TRUE(history.vouches_for(calibrated)) << "the same software, its constants fitted by the user";
}

TEST(HistoryEvidence, WhatDidNotRunOrWasDeletedVouchesForNothing)
{
    const TemporaryFolder folder;
    HistoryEvidence history(folder / "history.db");
    store_run(folder / "history.db", "RUN1", plan_on_this_computer(2, 2), "oom");
    EXPECT_FALSE(history.vouches_for(plan_on_this_computer(2, 2)));
    store_run(folder / "history.db", "RUN2", plan_on_this_computer(2, 2, "full"), "ok");
    must(open_store(folder / "history.db").set_deleted({"RUN2"}, true));
    EXPECT_FALSE(history.vouches_for(plan_on_this_computer(2, 2, "full")));
}

TEST(HistoryEvidence, ADamagedHistoryVouchesForNothing)
{
    const TemporaryFolder folder;
    std::FILE* file = std::fopen((folder / "history.db").c_str(), "w");
    std::fputs("this is no database", file);
    std::fclose(file);
    HistoryEvidence history(folder / "history.db");
    EXPECT_FALSE(history.vouches_for(plan_on_this_computer(2, 2)));
}

} // namespace
} // namespace fourfold::test
