// SPDX-License-Identifier: GPL-3.0-or-later
// The store in which the ranks of a job meet: what it keeps, how it waits, and that nobody gets in without the token.
#include "core/base/random_token.h"
#include "runner/net/proof.h"
#include "runner/trainer/comm/store_client.h"
#include "runner/trainer/comm/store_protocol.h"
#include "runner/trainer/comm/store_server.h"
#include "runner/trainer/comm/watch.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <future>
#include <thread>

namespace fourfold::trainer {
namespace {

using namespace std::chrono_literals;
using Positions = std::vector<std::size_t>;

constexpr auto kLong = 60s;

class Store : public ::testing::Test {
protected:
    void SetUp() override
    {
        auto listener = listen_on("127.0.0.1");
        ASSERT_TRUE(listener) << listener.error().line();
        place = {"127.0.0.1", listener->port, random_token(kTokenBytes)};
        auto started = StoreServer::start(std::move(listener->socket), place.token);
        ASSERT_TRUE(started) << started.error().line();
        server = *std::move(started);
    }
    [[nodiscard]] std::shared_ptr<StoreClient> client() const
    {
        auto connected = StoreClient::connect(place, kLong);
        EXPECT_TRUE(connected) << connected.error().line();
        return connected ? *std::move(connected) : nullptr;
    }
    // A connection that has proved the token, without the client's manners.
    [[nodiscard]] FileDescriptor raw() const
    {
        auto fd = connect_to(place.address, place.port, 60);
        EXPECT_TRUE(fd && prove(fd->get(), place.token, kForRendezvous, seconds_from_now(60)));
        return *std::move(fd);
    }
    StorePlace place;
    std::unique_ptr<StoreServer> server;
};

TEST_F(Store, KeepsWhatItIsTold)
{
    const auto one = client(), two = client();
    const std::string binary("\0\xff\n", 3);
    ASSERT_TRUE(one->set("key", binary));
    EXPECT_EQ(*two->get("key", 0ms), binary);
    ASSERT_TRUE(two->append("key", "more"));
    EXPECT_EQ(*one->get("key", 0ms), binary + "more");
    EXPECT_EQ(*one->add("sum", 3), 3);
    EXPECT_EQ(*two->add("sum", -5), -2);
    EXPECT_EQ(*one->get("sum", 0ms), "-2");
    EXPECT_EQ(*one->count(), 2);
    EXPECT_TRUE(*one->erase("sum"));
    EXPECT_FALSE(*one->erase("sum"));
    EXPECT_EQ(*one->compare_set("new", "other", "x"), "other") << "as c10d's stores answer where there is nothing";
    EXPECT_EQ(*one->compare_set("new", "", "a"), "a");
    EXPECT_EQ(*one->compare_set("new", "b", "c"), "a");
    EXPECT_EQ(*one->compare_set("new", "a", "c"), "c");
    EXPECT_EQ(*one->missing({"key", "no", "new", "nothing"}), (Positions{1, 3}));
    const std::string large(20u << 20, 'x');
    ASSERT_TRUE(one->set("large", large));
    EXPECT_TRUE(*two->get("large", 0ms) == large);
    EXPECT_FALSE(one->set("too large", std::string(kMostMessage, 'x')));
    EXPECT_TRUE(one->set("key", "")) << "the connection goes on";
}

TEST_F(Store, WaitsUntilAllAreThere)
{
    const auto waiting = client(), setting = client();
    std::jthread later([&] {
        for (const char* key : {"c", "a", "b"}) {
            std::this_thread::sleep_for(20ms);
            EXPECT_TRUE(setting->set(key, std::string("value of ") + key));
        }
    });
    const auto values = waiting->get({"a", "b", "c"}, kLong);
    ASSERT_TRUE(values) << values.error().line();
    EXPECT_EQ(*values, (std::vector<std::string>{"value of a", "value of b", "value of c"}));
}

TEST_F(Store, SaysWhatDidNotCome)
{
    const auto own = client();
    ASSERT_TRUE(own->set("1", ""));
    EXPECT_EQ(*own->missing({"0", "1", "2"}, 50ms), (Positions{0, 2}));
    const auto value = own->get({"1", "2", "3"}, 50ms);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, ProblemCode::not_found);
    EXPECT_EQ(value.error().message, "timed out after 50 ms of waiting for 2, 3");
    EXPECT_TRUE(own->set("2", ""));
}

TEST_F(Store, AllRanksOfALargeJobMeet)
{
    constexpr int kRanks = 1024, kThreads = 32;
    std::vector<std::string> keys;
    for (int rank = 0; rank < kRanks; ++rank)
        keys.push_back("present/" + std::to_string(rank));
    std::vector<std::shared_ptr<StoreClient>> ranks(kRanks);
    {
        std::vector<std::jthread> starts;
        for (int thread = 0; thread < kThreads; ++thread)
            starts.emplace_back([&, thread] {
                for (int rank = thread; rank < kRanks; rank += kThreads) {
                    ranks[std::size_t(rank)] = client();
                    ASSERT_TRUE(ranks[std::size_t(rank)]->set(keys[std::size_t(rank)], std::to_string(rank)));
                }
            });
    }
    std::vector<std::jthread> meetings;
    for (int thread = 0; thread < kThreads; ++thread)
        meetings.emplace_back([&, thread] {
            for (int rank = thread; rank < kRanks; rank += kThreads)
                EXPECT_EQ(*ranks[std::size_t(rank)]->missing(keys, kLong), Positions{});
        });
}

TEST_F(Store, NobodyGetsInWithoutTheToken)
{
    const auto own = client();
    StorePlace wrong = place;
    wrong.token = random_token(kTokenBytes);
    const auto refused = StoreClient::connect(wrong, kLong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "the other end does not accept the token") << "long before the time is up";
    // A request without a proof before it.
    MessageWriter request;
    request.number(int64_t(StoreRequest::set));
    request.text("failure");
    request.text("stop");
    const auto fd = connect_to(place.address, place.port, 60);
    ASSERT_TRUE(fd);
    ASSERT_TRUE(send_fully(fd->get(), request.finish() + std::string(100, '\0'), seconds_from_now(60)));
    char c = 0;
    EXPECT_FALSE(read_fully(fd->get(), &c, 1, seconds_from_now(60)));
    EXPECT_EQ(*own->missing({"failure"}), Positions{0});
}

TEST_F(Store, WhoBreaksTheRulesIsSentAwayAlone)
{
    const auto own = client();
    MessageWriter unknown, cut, wait;
    unknown.number(99);
    unknown.text("key");
    cut.number(int64_t(StoreRequest::set));
    cut.number(1u << 30); // a key of so many bytes, which do not follow
    wait.number(int64_t(StoreRequest::fetch));
    for (const int64_t number : {60000, 0, 1})
        wait.number(number);
    wait.text("never");
    const std::string waits = wait.finish();
    for (const std::string& said :
        {std::string("\xff\xff\xff\xff", 4), unknown.finish(), cut.finish(), waits + waits}) {
        const FileDescriptor fd = raw();
        ASSERT_TRUE(send_fully(fd.get(), said, seconds_from_now(60)));
        char c = 0;
        const Deadline deadline = seconds_from_now(60);
        EXPECT_FALSE(read_fully(fd.get(), &c, 1, deadline));
        EXPECT_GT(milliseconds_until(deadline), 0) << "closed";
    }
    {
        const FileDescriptor gone = raw(); // waits, and goes
        ASSERT_TRUE(send_fully(gone.get(), waits, seconds_from_now(60)));
    }
    EXPECT_TRUE(own->set("never", "now"));
    EXPECT_EQ(*own->get("never", 0ms), "now");
}

TEST_F(Store, ItsEndIsNoticedAtOnce)
{
    const auto own = client();
    std::jthread end([this] {
        std::this_thread::sleep_for(100ms);
        server.reset();
    });
    const auto value = own->get("never", kLong);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, ProblemCode::network);
    EXPECT_EQ(value.error().message, "the connection broke");
    EXPECT_FALSE(own->set("key", "value"));
    const auto again = StoreClient::connect(place, 100ms);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, "Connection refused");
}

// Rank 0 leaves as soon as each rank said that it heard; a rank's other thread may ask only then.
TEST_F(Store, WhatARankHeardOutlastsTheMeetingPoint)
{
    const auto watch_of = [&](int rank) {
        Job job;
        job.rank = rank;
        job.world_size = 2;
        job.master_address = place.address;
        job.master_port = place.port;
        job.token = place.token;
        return Watch::join(job);
    };
    const auto first = watch_of(0), other = watch_of(1);
    ASSERT_TRUE(first && other);
    std::promise<std::string> heard;
    other->start([&heard](const std::string& told) { heard.set_value(told); });
    first->tell("rank 0: its disk is full"); // returns when rank 1 has heard
    ASSERT_EQ(heard.get_future().get(), "rank 0: its disk is full");
    server.reset();
    EXPECT_EQ(other->told(Watch::kSilenceSeconds), "rank 0: its disk is full");
}

// What `say` says in a network name space of its own, with these ports for whoever asks for none.
std::string in_a_network_of_its_own(const std::string& ports, const std::function<std::string()>& say)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        std::string said = "no name space";
        if (unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
            const FileDescriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
            ifreq loopback{};
            loopback.ifr_name[0] = 'l';
            loopback.ifr_name[1] = 'o';
            loopback.ifr_flags = IFF_UP;
            if (!ports.empty() && ioctl(any.get(), SIOCSIFFLAGS, &loopback) == 0)
                std::ofstream("/proc/sys/net/ipv4/ip_local_port_range") << ports << std::flush;
            said = say();
        }
        (void)!write(ends[1], said.data(), said.size());
        _exit(0);
    }
    close(ends[1]);
    std::string said(4096, '\0');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(ends[0], said.data(), said.size()))));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return said;
}

// Waiting for rank 0 is of no use where this node cannot even ask.
TEST(StoreClient, WhatLiesWithThisNodeIsSaidAtOnce)
{
    const auto ask = [](int port) {
        const auto begin = std::chrono::steady_clock::now();
        const auto client = StoreClient::connect({"127.0.0.1", port, random_token(kTokenBytes)}, kLong);
        const bool soon = std::chrono::steady_clock::now() - begin < kLong / 2;
        return client ? "connected" : client.error().line() + (soon ? "" : ", late");
    };
    EXPECT_EQ(in_a_network_of_its_own("", [&] { return ask(40000); }),
        "this node has no way to that network (see ip address and ip route: is the interface up, the loopback too?)");
    const std::string no_port = "no port of this node is free for a connection (see net.ipv4.ip_local_port_range and, "
                                "for who has them, ss -tan)";
    const auto with_all_ports_taken = [](const auto& then) {
        const auto one = listen_on("127.0.0.1"), two = listen_on("127.0.0.1");
        return one && two ? then(one->port) : "the first two are not free: " + (one ? two : one).error().line();
    };
    EXPECT_EQ(in_a_network_of_its_own("40000 40001", [&] { return with_all_ports_taken(ask); }), no_port);
    EXPECT_EQ(in_a_network_of_its_own("40000 40001",
                  [&] {
                      return with_all_ports_taken([](int) {
                          const auto third = listen_on("127.0.0.1");
                          return third ? "listens" : third.error().line();
                      });
                  }),
        "127.0.0.1: " + no_port);
}

} // namespace
} // namespace fourfold::trainer
