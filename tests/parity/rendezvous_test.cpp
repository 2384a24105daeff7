// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks of large jobs meet: every one a process of its own that only meets.
#include "runner/trainer/comm/rendezvous.h"

#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/trainer/comm/store_server.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

namespace fourfold::trainer {
namespace {

class Meeting : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto listening = listen_on("127.0.0.1");
        ASSERT_TRUE(listening) << listening.error().line();
        job.master_port = listening->port;
        job.token = random_token(kTokenBytes);
        listener = std::move(listening->socket);
    }
    [[nodiscard]] Job of(int rank) const
    {
        Job own = job;
        own.rank = rank;
        own.listener = rank == 0 ? listener.get() : -1;
        return own;
    }
    // Ranks [begin, end) as processes, each of which ends with what `life` gives.
    void start(int begin, int end, int (*life)(const Job&))
    {
        for (int rank = begin; rank < end; ++rank) {
            const pid_t child = ::fork();
            ASSERT_GE(child, 0) << "rank " << rank;
            if (child == 0)
                ::_exit(life(of(rank)));
            children.push_back(child);
        }
    }
    // How many ended with 0.
    [[nodiscard]] int well_ended()
    {
        int count = 0;
        for (const pid_t child : children) {
            int status = 0;
            count += ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
        }
        children.clear();
        return count;
    }
    Job job;
    FileDescriptor listener;
    std::vector<pid_t> children;
};

// Joins, meets, hears what rank 0 found, and leaves.
int meets(const Job& job)
{
    const auto rendezvous = Rendezvous::join(job);
    if (!rendezvous || !(*rendezvous)->meet())
        return 1;
    const auto verdict = [] { return Expected<void>(Problem{ProblemCode::unsupported, "no", "why", "here"}); };
    const auto heard = (*rendezvous)->agree("a verdict", verdict);
    const bool same
        = !heard && heard.error().code == ProblemCode::unsupported && heard.error().line() == verdict().error().line();
    (*rendezvous)->leave();
    return same ? 0 : 2;
}

TEST_F(Meeting, OfManyProcesses)
{
    job.world_size = FOURFOLD_MEMBERS;
    start(0, job.world_size, meets);
    EXPECT_EQ(well_ended(), job.world_size);
}

// Names of a billion ranks would not fit into this computer's memory.
TEST_F(Meeting, CostsARankTheSameInAJobOfAnySize)
{
    job.world_size = 1'000'000'000;
    auto server = StoreServer::start(std::move(listener), job.token);
    ASSERT_TRUE(server) << server.error().line();
    const auto rendezvous = Rendezvous::join(of(5));
    ASSERT_TRUE(rendezvous) << rendezvous.error().line();
    auto rank_zero = StoreClient::connect({job.master_address, job.master_port, job.token}, std::chrono::seconds(60));
    ASSERT_TRUE(rank_zero) << rank_zero.error().line();
    ASSERT_TRUE((*rank_zero)->set("agreed/who came", ""));
    EXPECT_TRUE((*rendezvous)->meet());
}

TEST_F(Meeting, EveryoneHearsWhoDidNotCome)
{
    job.world_size = 4;
    job.timeout_s = 1;
    start(0, 3, [](const Job& own) {
        const auto rendezvous = Rendezvous::join(own);
        if (!rendezvous)
            return 2;
        const auto met = (*rendezvous)->meet();
        (void)(*rendezvous)->publish("heard/" + std::to_string(own.rank), "");
        if (own.rank == 0) // stays until the others have heard it
            (void)(*rendezvous)->read({"heard/1", "heard/2"});
        return !met && met.error().message == "1 of 4 ranks did not come within 1 s: rank 3" ? 0 : 1;
    });
    EXPECT_EQ(well_ended(), 3);
}

} // namespace
} // namespace fourfold::trainer
