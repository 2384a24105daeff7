// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the nodes of a Slurm job reach each other. Linked with the agent's own parts.
#include "runner/agent/run/run_folder.h"
#include "runner/agent/slurm/job_reach.h"
#include "runner/protocol/message.h"

#include "core/base/random_token.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

namespace fourfold {
namespace {

// Two nodes of a Slurm job, at loopback addresses of their own.
class JobReachTest : public testing::Test {
protected:
    JobReachTest()
    {
        umask(022); // what others may write is not used
        std::string pattern = testing::TempDir() + "reach.XXXXXX";
        folder = std::filesystem::canonical(mkdtemp(pattern.data()));
        spec.run = "RUN";
        spec.world_size = 2;
        spec.ranks = {{0, 0, {{"tp", 0}}}, {1, 1, {{"tp", 1}}}};
    }
    ~JobReachTest() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    // `other`: the token of the second node, where it is not the run's.
    void begin(const std::string& other = {})
    {
        for (int node = 0; node < 2; ++node) {
            spec.node = node;
            spec.nodes = 2;
            spec.host = "n" + std::to_string(node + 1);
            spec.address = "127.0.0." + std::to_string(node + 1);
            auto started = JobReach::start(folder, spec, node == 1 && !other.empty() ? other : token);
            ASSERT_TRUE(started) << started.error().line();
            nodes.push_back(*std::move(started));
        }
    }
    std::filesystem::path folder;
    RunSpec spec;
    std::vector<JobReach> nodes;
    const std::string token = random_token(32);
};

TEST_F(JobReachTest, GoesOnWhenAllHaveLooked)
{
    begin();
    const auto early = nodes[0].judge();
    ASSERT_TRUE(early);
    EXPECT_FALSE(*early);
    for (JobReach& node : nodes) {
        const auto looked = node.look();
        ASSERT_TRUE(looked) << looked.error().line();
        EXPECT_TRUE(*looked);
    }
    const auto judged = nodes[0].judge();
    ASSERT_TRUE(judged) << judged.error().line();
    EXPECT_TRUE(*judged);
}

TEST_F(JobReachTest, WaitsForANodeThatHasNotSaidWhereItAnswers)
{
    begin();
    std::filesystem::remove(folder / "reach1.json");
    const auto looked = nodes[0].look();
    ASSERT_TRUE(looked);
    EXPECT_FALSE(*looked);
    EXPECT_FALSE(std::filesystem::exists(folder / "reached0.json"));
}

TEST_F(JobReachTest, NamesBothNodesOfAPairThatCannotTalk)
{
    begin();
    auto other = read_json_file(folder / "reach1.json");
    ASSERT_TRUE(other);
    (*other)["port"] = 1; // nothing listens there, as behind a firewall that rejects
    ASSERT_TRUE(write_file_atomically(folder / "reach1.json", to_wire(*other)));
    for (JobReach& node : nodes)
        ASSERT_TRUE(node.look());
    const auto judged = nodes[0].judge();
    ASSERT_FALSE(judged);
    EXPECT_EQ(judged.error().where, "n1");
    EXPECT_NE(judged.error().message.find("to n2 (127.0.0.2): refused"), std::string::npos) << judged.error().line();
    EXPECT_NE(judged.error().hint.find("node_address"), std::string::npos) << "of a loopback address";
}

TEST_F(JobReachTest, AStrangerWithoutTheTokenIsNotAnswered)
{
    begin(random_token(32));
    for (JobReach& node : nodes)
        ASSERT_TRUE(node.look(1));
    const auto judged = nodes[0].judge();
    ASSERT_FALSE(judged);
    EXPECT_NE(judged.error().message.find("to n2 (127.0.0.2): failed"), std::string::npos) << judged.error().line();
}

} // namespace
} // namespace fourfold
