// SPDX-License-Identifier: GPL-3.0-or-later
// Training goes on whatever others send to the port where its ranks meet, and the ranks listen on their own address
// alone.
#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr double kLong = 60;

std::vector<std::string> command(const std::filesystem::path& plan, const std::filesystem::path& folder)
{
    return {trainer_program(), "--plan", plan, "--run-dir", folder};
}

// What a client of LibTorch's TCPStore sends to set a key: a magic number, then the command.
std::string tcp_store_set(const std::string& key, const std::string& value)
{
    std::string out("\x00\xce\xf7\x85\x3c\x01", 6);
    for (const std::string& text : {"/" + key, value}) {
        const uint64_t size = text.size();
        out.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
    }
    return out;
}

// Ports on which the process listens, by their numeric IPv4 address; anything else as "other".
std::multimap<std::string, int> listening(pid_t pid)
{
    std::set<std::string> inodes;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
        const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
        if (target.starts_with("socket:["))
            inodes.insert(target.substr(8, target.size() - 9));
    }
    std::multimap<std::string, int> out;
    for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream file(table);
        std::string line;
        std::getline(file, line);
        while (std::getline(file, line)) {
            std::istringstream words(line);
            std::string slot, local, remote, state, skip, inode;
            words >> slot >> local >> remote >> state >> skip >> skip >> skip >> skip >> skip >> inode;
            if (state != "0A" || !inodes.contains(inode))
                continue;
            const auto colon = local.find(':');
            in_addr address{
                static_cast<in_addr_t>(std::stoul(local.substr(0, std::min<std::size_t>(colon, 8)), nullptr, 16))};
            out.emplace(colon == 8 ? inet_ntoa(address) : "other", std::stoi(local.substr(colon + 1), nullptr, 16));
        }
    }
    return out;
}

class Strangers : public ::testing::Test {
protected:
    ResolvedPlan plan(std::vector<std::string> assignments) const
    {
        assignments.insert(assignments.end(), {"gpus=2", "layout.dp=2"});
        return tiny_plan(write_tokens(folder_.path()), assignments);
    }
    [[nodiscard]] FileDescriptor knock() const
    {
        auto fd = connect_to("127.0.0.1", port_, kLong);
        EXPECT_TRUE(fd) << fd.error().line();
        return fd ? *std::move(fd) : FileDescriptor();
    }
    TemporaryFolder folder_;
    int port_ = free_port();
    std::map<std::string, std::string> environment_{{"MASTER_PORT", std::to_string(port_)}};
};

TEST_F(Strangers, DoNotDisturbTheTraining)
{
    Ranks ranks(2, command(write_plan(plan({"run.steps=1000000"}), folder_.path()), folder_.path()), folder_.path(),
        environment_);
    ASSERT_TRUE(ranks.wait_for_events(0, "step", 2, 90s)) << ranks.log(0);
    std::vector<FileDescriptor> open;
    for (int i = 0; i < 50; ++i) // silent
        open.push_back(knock());
    for (const char* key : {"failure", "failures", "present/0", "sign/1"}) {
        open.push_back(knock());
        (void)send_fully(open.back().get(), tcp_store_set(key, "a stranger says stop"), seconds_from_now(kLong));
    }
    open.push_back(knock());
    (void)send_fully(open.back().get(), std::string(1u << 20, '\xff'), seconds_from_now(kLong));
    const FileDescriptor guessing = knock();
    EXPECT_FALSE(prove(guessing.get(), random_token(kTokenBytes), kForRendezvous, seconds_from_now(kLong)));
    // Several signs of life of every rank later.
    const auto before = ranks.events(0).size();
    std::this_thread::sleep_for(3s);
    EXPECT_GT(ranks.events(0).size(), before) << "the training goes on";
    EXPECT_TRUE(ranks.wait_for_events(0, "step", int(before) + 2, 60s)) << ranks.log(0) << ranks.log(1);
    for (int rank = 0; rank < 2; ++rank)
        EXPECT_EQ(ranks.log(rank).find("stranger"), std::string::npos) << ranks.log(rank);
    ranks.signal(1, SIGTERM);
    EXPECT_EQ(ranks.wait(30s), (std::vector<int>{143, 143}));
}

// They are there first, and in greater number than is let wait at the door.
TEST_F(Strangers, DoNotKeepTheRanksFromMeeting)
{
    auto listener = listen_on("127.0.0.1", port_);
    ASSERT_TRUE(listener) << listener.error().line();
    std::vector<FileDescriptor> open;
    for (int i = 0; i < 300; ++i)
        open.push_back(knock());
    // As the agent does: rank 0 gets the socket, at which they wait already.
    const int passed = ::dup(listener->socket.get());
    environment_["FOURFOLD_LISTENER"] = std::to_string(passed);
    Ranks ranks(
        2, command(write_plan(plan({"run.steps=2"}), folder_.path()), folder_.path()), folder_.path(), environment_);
    ::close(passed);
    listener->socket.close();
    EXPECT_EQ(ranks.wait(120s), (std::vector<int>{0, 0})) << ranks.log(0) << ranks.log(1);
}

TEST_F(Strangers, TheRanksListenOnTheirOwnAddressAlone)
{
    Ranks ranks(2, command(write_plan(plan({"run.steps=1000000"}), folder_.path()), folder_.path()), folder_.path(),
        environment_);
    ASSERT_TRUE(ranks.wait_for_events(0, "step", 1, 90s)) << ranks.log(0);
    EXPECT_TRUE(connect_to("127.0.0.1", port_, kLong));
    EXPECT_FALSE(connect_to("127.0.0.2", port_, kLong));
    EXPECT_FALSE(connect_to("::1", port_, kLong));
    bool store = false;
    for (int rank = 0; rank < 2; ++rank) {
        const auto sockets = listening(ranks.pid(rank));
        EXPECT_FALSE(sockets.empty()) << "Gloo's at least";
        for (const auto& [address, port] : sockets) {
            EXPECT_EQ(address, "127.0.0.1") << "port " << port << " of rank " << rank;
            store = store || port == port_;
        }
    }
    EXPECT_TRUE(store);
}

TEST_F(Strangers, ARankWithAnotherTokenStaysOutside)
{
    const auto file = write_plan(plan({"run.steps=2"}), folder_.path());
    environment_.insert({{"WORLD_SIZE", "2"}, {"FOURFOLD_TIMEOUT_S", "10"}});
    Ranks zero(1, command(file, folder_.path()), folder_.path(), environment_);
    TemporaryFolder elsewhere;
    environment_["RANK"] = "1";
    environment_["FOURFOLD_TOKEN"] = random_token(kTokenBytes);
    Ranks one(1, command(file, elsewhere.path()), elsewhere.path(), environment_);
    EXPECT_EQ(one.wait(90s), std::vector<int>{1});
    EXPECT_THAT(one.log(0), HasSubstr("cannot reach rank 0: the other end does not accept the token"));
    EXPECT_EQ(zero.wait(90s), std::vector<int>{1});
    EXPECT_THAT(zero.log(0), HasSubstr("1 of 2 ranks did not come within 10 s: rank 1"));
}

TEST_F(Strangers, AJobOfSeveralRanksNeedsAToken)
{
    environment_["FOURFOLD_TOKEN"] = "secret";
    Ranks ranks(
        2, command(write_plan(plan({"run.steps=2"}), folder_.path()), folder_.path()), folder_.path(), environment_);
    EXPECT_EQ(ranks.wait(60s), (std::vector<int>{2, 2}));
    EXPECT_THAT(ranks.log(0), HasSubstr("environment variable FOURFOLD_TOKEN: expected 64 hexadecimal digits"));
    EXPECT_EQ(ranks.log(0).find("secret"), std::string::npos);
}

// With several threads the trainer starts itself once more, in the same process.
TEST_F(Strangers, TheTokenLeavesTheEnvironment)
{
    environment_["FOURFOLD_TOKEN"] = random_token(kTokenBytes);
    const auto file = write_plan(plan({"run.steps=1000000"}), folder_.path());
    for (const char* threads : {"1", "2"}) {
        SCOPED_TRACE(std::string("threads of a rank: ") + threads);
        environment_["OMP_NUM_THREADS"] = threads;
        TemporaryFolder folder;
        Ranks ranks(2, command(file, folder.path()), folder.path(), environment_);
        ASSERT_TRUE(ranks.wait_for_events(0, "step", 1, 90s)) << ranks.log(0);
        for (int rank = 0; rank < 2; ++rank) {
            for (const char* name : {"environ", "cmdline"}) {
                const auto text = read_text_file("/proc/" + std::to_string(ranks.pid(rank)) + "/" + name);
                ASSERT_TRUE(text) << text.error().line();
                EXPECT_EQ(text->find(environment_["FOURFOLD_TOKEN"]), std::string::npos) << name << " of rank " << rank;
            }
        }
    }
}

} // namespace
} // namespace fourfold::testing
