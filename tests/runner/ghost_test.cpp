// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks whose run folder and agent are gone: found by their environment, listed and ended.
#include "runner/local/local_transport.h"
#include "runner/protocol/agent_client.h"
#include "runner/protocol/message.h"
#include "runner/runs/garbage.h"
#include "tests/runner/support.h"

#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fourfold::test {
namespace {

// The agent and its guardian are gone, and the folder too: what is left is found by its environment.
class Ghost : public testing::Test {
protected:
    void SetUp() override
    {
        base = home.path() / "data/fourfold/node";
        std::filesystem::create_directories(base / "runs");
        chmod(base.c_str(), 0700);
        std::vector<std::string> variables{
            "FOURFOLD_RUN=GHOST", "FOURFOLD_NODE=0", "FOURFOLD_FOLDER=" + (base / "runs/GHOST").string()};
        std::string program = "sleep", seconds = "600";
        char* argv[] = {program.data(), seconds.data(), nullptr};
        char* envp[] = {variables[0].data(), variables[1].data(), variables[2].data(), nullptr};
        ASSERT_EQ(posix_spawnp(&ghost, "sleep", nullptr, nullptr, argv, envp), 0);
        // The kernel lets this process go on before the other's environment can be read.
        ASSERT_TRUE(wait_until([] { return processes_of("GHOST") == 1; }));
    }
    void TearDown() override
    {
        if (!lives())
            return;
        kill(ghost, SIGKILL);
        waitpid(ghost, nullptr, 0);
    }
    bool lives()
    {
        if (ghost > 0 && waitpid(ghost, nullptr, WNOHANG) != 0)
            ghost = 0;
        return ghost > 0;
    }

    Home home;
    Recording observer;
    std::filesystem::path base;
    pid_t ghost = 0;
};

TEST_F(Ghost, AStopEndsWhatCarriesTheRunsName)
{
    LocalTransport transport(agent_program());
    auto stream = transport.open({});
    ASSERT_TRUE(stream);
    AgentClient client(std::move(*stream), "here");
    ASSERT_TRUE(client.hello(base.string()));
    ASSERT_TRUE(client.stop("GHOST", 0, RunState::cancelled, "", nullptr, 0));
    const auto status = client.status("GHOST", 0);
    ASSERT_TRUE(status) << status.error().line();
    EXPECT_EQ(integer_field(*status, "processes"), 0);
    EXPECT_FALSE(lives());
}

TEST_F(Ghost, IsListedByGcAndEndedWhenToldTo)
{
    const auto target = load_target("local");
    ASSERT_TRUE(target);
    const auto clear = [&](bool end) {
        auto cleared = clear_target(*target, {0, false, end}, observer, {}, agent_program());
        EXPECT_TRUE(cleared) << cleared.error().line();
        return cleared ? (*cleared)[0]["strays"] : Json::array();
    };
    const Json listed = clear(false);
    ASSERT_EQ(listed.size(), 1u) << listed.dump();
    EXPECT_EQ(text_field(listed[0], "run"), "GHOST");
    EXPECT_EQ(integer_field(listed[0], "pid"), ghost);
    EXPECT_EQ(text_field(listed[0], "why"), "its run folder is gone");
    EXPECT_TRUE(lives());
    EXPECT_TRUE(flag_field(clear(true)[0], "ended"));
    EXPECT_FALSE(lives());
}

// Of another base folder, and of a run that goes on: none of this gc's business.
TEST_F(Ghost, RunsOfOthersAreNoGhosts)
{
    auto target = load_target("local");
    ASSERT_TRUE(target);
    target->base_folder = (home.path() / "other").string();
    const auto cleared = clear_target(*target, {0, false, true}, observer, {}, agent_program());
    ASSERT_TRUE(cleared);
    EXPECT_TRUE((*cleared)[0]["strays"].empty()) << cleared->dump();
    EXPECT_TRUE(lives());
}

} // namespace
} // namespace fourfold::test
