// SPDX-License-Identifier: GPL-3.0-or-later
// Real ranks: all processes of a node die and its cable is dead, and the training goes on from the last checkpoint on
// the layout for the nodes that are left. It learns there what an undisturbed run of that layout learns from the same
// checkpoint.
#include "core/history/store.h"
#include "core/plan/presets.h"
#include "runner/protocol/message.h"
#include "tests/cluster/ssh_cluster.h"

#include <fstream>
#include <map>

namespace fourfold::test {
namespace {

namespace fs = std::filesystem;

using TrainerRestarts = SshCluster;

std::map<int, double> losses_of(const std::string& run)
{
    std::map<int, double> out;
    const auto store = HistoryStore::open(HistoryStore::default_file());
    const auto detail = store->show(run);
    EXPECT_TRUE(detail) << detail.error().line();
    for (const StepRow& step : detail->steps)
        out[step.step] = step.loss.value_or(-1);
    return out;
}

TEST_F(TrainerRestarts, TheLossIsThatOfTheNewLayout)
{
    constexpr int kSteps = 48; // many more than end before the node does
    const auto boot_id = home.path() / "boot_id";
    std::ofstream(boot_id) << "11111111-1111-1111-1111-111111111111\n";
    make(3, [&](int node, SshdPlace& place) { place.boot_id_file = node == 3 ? boot_id.string() : ""; });
    ASSERT_EQ(nodes.size(), 3u);
    RunRequest all = asked(3, {});
    all.plan.training.global_batch = 12;
    all.plan.training.micro_batches = 4;
    all.plan.run.steps = kSteps;
    all.plan.run.checkpoint = {8, 3, (home.path() / "saved").string(), "", false};
    all.trainer = fs::path(FOURFOLD_BIN_DIR) / "fourfold-trainer";
    all.target.reuse_files = true;
    all.target.connect_timeout_s = 8;
    all.restarts = 1;

    bool lost = false;
    std::string saved; // what the second run goes on from, as later saves remove it
    observer.each_event = [&](const Json& event) {
        if (text_field(event, "event") != "checkpoint" || lost)
            return;
        lost = true;
        net->cut(3);
        nodes[2]->stop();
    };
    observer.each_state = [&](RunState, const std::string& what) {
        if (!what.starts_with("restart 1 of 1 from "))
            return;
        fs::copy(home.path() / "saved", home.path() / "copy", fs::copy_options::recursive);
        saved = (home.path() / "copy").string();
    };
    const auto result = launch(all, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    ASSERT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
    ASSERT_TRUE(lost);
    ASSERT_FALSE(saved.empty());
    EXPECT_EQ(processes_of(result->id), 0);

    const auto store = HistoryStore::open(HistoryStore::default_file());
    const auto second = store->show(result->id);
    ASSERT_TRUE(second);
    EXPECT_LT(second->summary.gpus, 3);
    const std::map<int, double> resumed = losses_of(result->id);
    ASSERT_FALSE(resumed.empty());
    EXPECT_GT(resumed.begin()->first, 8) << "from the checkpoint, not from the beginning";
    EXPECT_EQ(resumed.rbegin()->first, kSteps);

    // The same from the copy, undisturbed and on this computer.
    const auto written = plan_from_json(second->plan, all.plan.where);
    ASSERT_TRUE(written) << written.error().line();
    const auto plan = resolve(*written, Presets());
    ASSERT_TRUE(plan) << plan.error().line();
    RunRequest undisturbed = request(home, 1, {});
    undisturbed.plan = *plan;
    undisturbed.plan.run.checkpoint.load = saved;
    undisturbed.plan.run.checkpoint.path = (home.path() / "other").string();
    undisturbed.trainer = all.trainer;
    Recording quiet;
    const auto alone = launch(undisturbed, quiet, {});
    ASSERT_TRUE(alone) << alone.error().line();
    ASSERT_EQ(alone->state, RunState::ok) << (alone->problem ? alone->problem->line() : "");
    const std::map<int, double> expected = losses_of(alone->id);
    ASSERT_EQ(resumed.size(), expected.size());
    for (const auto& [step, loss] : expected) {
        ASSERT_TRUE(resumed.contains(step)) << step;
        EXPECT_DOUBLE_EQ(resumed.at(step), loss) << step;
    }
}

} // namespace
} // namespace fourfold::test
