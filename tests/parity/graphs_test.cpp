// SPDX-License-Identifier: GPL-3.0-or-later
// Layers that are recorded once and replayed (core/plan/graphed_layers.h) train as layers that are computed each time:
// meshes with stand-ins of graphs against one rank without any. On a GPU: cuda_test.cpp.
#include "tests/parity/compare.h"
#include "tests/parity/graph_cases.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::testing {
namespace {

class RecordedLayers : public ::testing::TestWithParam<GraphCase> { };

TEST_P(RecordedLayers, TrainAsTheOthers)
{
    const auto worst
        = compare_with_one_rank(of_steps(GetParam().what, kGraphSteps), {"--fp64"}, {"--fp64", "--graphs"});
    ASSERT_EQ(worst.problem, "");
    EXPECT_EQ(excess(worst), "");
    // Each layer of a rank forward and backward, in each micro-batch of each step.
    EXPECT_EQ(worst.replays, int64_t(2) * kGraphSteps * GetParam().layers * worst.mesh.training.micro_batches);
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, RecordedLayers, ::testing::ValuesIn(graph_cases()), [](const auto& info) { return info.param.what.name; });

// Ranks that fall back on CPUs compute as ever.
TEST(RanksOnCpus, RecordNothing)
{
    const TemporaryFolder folder;
    const auto plan = tiny_plan(write_tokens(folder.path()), joined({"run.steps=1"}, kAsksForGraphs));
    const JobResult one = run_job(plan, folder.path() / "one", {"--fp64"});
    ASSERT_EQ(one.problem, "");
    EXPECT_EQ(one.dumps[0].replays, 0);
    EXPECT_EQ(one.dumps[0].without_graphs, "the ranks run on CPUs");
}

} // namespace
} // namespace fourfold::testing
