// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/enumerate.h"
#include "tests/core/search/search_plans.h"

#include <gmock/gmock.h>

#include <set>

namespace fourfold {
namespace {

TEST(Enumerate, NoLayoutComesTwice)
{
    SearchRequest request = small_request();
    ASSERT_TRUE(set_axis(request.space, "order=all", "test"));
    ASSERT_TRUE(set_axis(request.space, "schedule=gpipe,1f1b,interleaved,zb-h1,zb-v", "test"));
    std::set<Candidate> seen;
    for (const MeshUnit& unit : mesh_units(request.space)) {
        for_each_candidate(request.space, request.plan, unit, [&](const Candidate& candidate) {
            EXPECT_TRUE(seen.insert(candidate).second);
            EXPECT_EQ(candidate.gpus() == 8 || candidate.gpus() == 16, true);
        });
    }
    EXPECT_GT(seen.size(), 1000U);
    EXPECT_LE(double(seen.size()), request.space.combinations());
}

TEST(Enumerate, AnOrderCountsOnlyWhereItChangesAGroup)
{
    SearchSpace space = small_request().space;
    ASSERT_TRUE(set_axis(space, "order=all", "test"));
    ASSERT_TRUE(set_axis(space, "gpus=8", "test"));
    ASSERT_TRUE(set_axis(space, "tp=8", "test"));
    EXPECT_EQ(mesh_units(space).size(), 1U) << "TP alone has one order";
    ASSERT_TRUE(set_axis(space, "tp=4", "test"));
    ASSERT_TRUE(set_axis(space, "cp=1", "test"));
    ASSERT_TRUE(set_axis(space, "pp=1", "test"));
    EXPECT_EQ(mesh_units(space).size(), 2U) << "TP and DP have two";
}

// A space of any size is walked in parts that memory does not notice.
TEST(Enumerate, PartsAreTheWhole)
{
    SearchSpace space = small_request().space;
    space.gpus = gpu_counts(small_request().plan.cluster, 4096);
    ASSERT_TRUE(set_axis(space, "order=all", "test"));
    space.tp = space.cp = space.pp = {1, 2, 4, 8, 16};
    const std::vector<MeshUnit> whole = mesh_units(space);
    std::vector<MeshUnit> part;
    std::size_t at = 0, parts = 0;
    double done = 0;
    for (MeshParts walk(space); walk.next(part); ++parts) {
        EXPECT_LT(part.size(), 40'000U);
        EXPECT_EQ(walk.done(0), done);
        done = walk.done(1);
        EXPECT_EQ(walk.is_last(), done == 1);
        for (const MeshUnit& unit : part) {
            ASSERT_LT(at, whole.size());
            const MeshUnit& same = whole[at++];
            ASSERT_TRUE(unit.tp == same.tp && unit.cp == same.cp && unit.pp == same.pp && unit.dp == same.dp
                && unit.order == same.order);
        }
    }
    EXPECT_EQ(at, whole.size());
    EXPECT_EQ(done, 1);
    EXPECT_GT(parts, 3U);
}

TEST(Enumerate, RoundedBatches)
{
    EXPECT_EQ(rounded_batch(2048, 3, 0), 2048);
    EXPECT_EQ(rounded_batch(2048, 3, 0.01), 2049);
    EXPECT_EQ(rounded_batch(2048, 60, 0.01), 2040);
    EXPECT_EQ(rounded_batch(2048, 9, 0.01), 2052);
    EXPECT_EQ(rounded_batch(2048, 3000, 0.01), 0);
    EXPECT_EQ(rounded_batch(2048, std::int64_t(1) << 40, 0.5), 0);
}

TEST(Enumerate, GpuCountsAreWholeNodesOrPartsOfOne)
{
    Cluster cluster;
    cluster.gpus_per_node = 4;
    EXPECT_THAT(gpu_counts(cluster, 14), testing::ElementsAre(1, 2, 4, 8, 12));
    EXPECT_THAT(gpu_counts(cluster, 2), testing::ElementsAre(1, 2));
}

TEST(Enumerate, AxesAreReadOrRefusedWithWhatWasExpected)
{
    SearchSpace space = small_request().space;
    ASSERT_TRUE(set_axis(space, "micro_batch=4,2,4", "--axis"));
    EXPECT_THAT(space.micro_batch, testing::ElementsAre(2, 4));
    ASSERT_TRUE(set_axis(space, "recompute=full", "--axis"));
    EXPECT_THAT(space.recompute, testing::ElementsAre(Recompute::full));
    struct Bad {
        const char* text;
        const char* part;
    };
    const Bad cases[] = {{"tp", "an axis and its values"}, {"tp=", "an axis and its values"}, {"tp=0", "above 0"},
        {"tp=two", "above 0"}, {"tp=1,,2", "above 0"}, {"gpus=1000000000", "at most 1048576"},
        {"tpp=2", "did you mean tp"}, {"recompute=sometimes", "expected one of none, selective, full"},
        {"order=tp-cp", "four dimensions"}, {"sharding=optimiser", "did you mean optimizer"}};
    for (const Bad& bad : cases) {
        const auto result = set_axis(space, bad.text, "--axis");
        ASSERT_FALSE(result) << bad.text;
        EXPECT_THAT(result.error().line(), testing::HasSubstr(bad.part)) << bad.text;
        EXPECT_EQ(result.error().exit_status(), 2);
    }
}

} // namespace
} // namespace fourfold
