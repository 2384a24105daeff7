// SPDX-License-Identifier: GPL-3.0-or-later
// The ports on which a node answers other nodes before a run: strangers cost it nothing and stop nobody.
#include "core/base/random_token.h"
#include "runner/agent/files/chain.h"
#include "runner/agent/node/network_probe.h"
#include "runner/agent/system/processes.h"
#include "runner/net/proof.h"
#include "runner/protocol/message.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <unistd.h>

#include <thread>

namespace fourfold::test {
namespace {

constexpr double kLong = 60;

std::vector<FileDescriptor> strangers(int port, int count)
{
    std::vector<FileDescriptor> out;
    for (int i = 0; i < count; ++i) {
        auto fd = connect_to("127.0.0.1", port, kLong);
        EXPECT_TRUE(fd) << fd.error().line();
        if (fd)
            out.push_back(*std::move(fd));
    }
    return out;
}

TEST(ProbeServer, StartsNoProcessForAStranger)
{
    const std::string token = random_token(kTokenBytes);
    const auto server = start_probe_server("127.0.0.1", token);
    ASSERT_TRUE(server) << server.error().line();
    const auto idle = strangers(server->port(), 100);
    // Behind them all one that knows the token is answered.
    const Json answer = probe_peer({"127.0.0.1", server->port(), token, kLong, false, true});
    EXPECT_EQ(text_field(answer, "state"), "ok") << answer;
    // The server, and at most the process of that one.
    EXPECT_LE(descendants(getpid()).size(), 2u);
}

TEST(ProbeServer, AnswersNobodyWithoutItsToken)
{
    const auto server = start_probe_server("127.0.0.1", random_token(kTokenBytes));
    ASSERT_TRUE(server);
    const Json answer = probe_peer({"127.0.0.1", server->port(), random_token(kTokenBytes), kLong, false, true});
    EXPECT_EQ(text_field(answer, "state"), "failed") << answer;
    EXPECT_EQ(text_field(answer, "error"), "the other end does not accept the token");
    // What the earlier protocol began with.
    for (FileDescriptor& fd : strangers(server->port(), 1)) {
        ASSERT_TRUE(send_fully(fd.get(), std::string(32, '0') + std::string(8, '\1'), seconds_from_now(kLong)));
        char c = 0;
        EXPECT_FALSE(read_fully(fd.get(), &c, 1, seconds_from_now(kLong)));
    }
    EXPECT_FALSE(start_probe_server("127.0.0.1", "short"));
}

TEST(ProbeServer, AnswersSeveralAtOnce)
{
    const std::string token = random_token(kTokenBytes);
    const auto server = start_probe_server("127.0.0.1", token);
    ASSERT_TRUE(server);
    std::vector<FileDescriptor> open;
    for (int i = 0; i < 10; ++i) { // let in, and silent then
        auto fd = connect_to("127.0.0.1", server->port(), kLong);
        ASSERT_TRUE(fd);
        ASSERT_TRUE(prove(fd->get(), token, kForProbe, seconds_from_now(kLong)));
        open.push_back(*std::move(fd));
    }
    const Json answer = probe_peer({"127.0.0.1", server->port(), token, kLong, false, true});
    EXPECT_EQ(text_field(answer, "state"), "ok") << answer;
}

TEST(ProbeServer, ItsPortIsClosedWithIt)
{
    int port = 0;
    {
        const auto server = start_probe_server("127.0.0.1", random_token(kTokenBytes));
        ASSERT_TRUE(server);
        port = server->port();
        EXPECT_TRUE(connect_to("127.0.0.1", port, kLong));
    }
    EXPECT_FALSE(connect_to("127.0.0.1", port, kLong));
}

TEST(Relay, ServesASecondSenderBesideTheFirst)
{
    const std::string token = random_token(kTokenBytes);
    const auto server = start_relay("127.0.0.1", token, [](int fd) {
        char c = 0;
        while (read(fd, &c, 1) == 1)
            (void)!write(fd, &c, 1);
    });
    ASSERT_TRUE(server) << server.error().line();
    const auto idle = strangers(server->port(), 50);
    std::vector<FileDescriptor> senders;
    for (const char said : {'a', 'b', 'c'}) { // the earlier ones stay
        auto fd = connect_to("127.0.0.1", server->port(), kLong);
        ASSERT_TRUE(fd);
        const auto proved = prove(fd->get(), token, kForFiles, seconds_from_now(kLong));
        ASSERT_TRUE(proved) << proved.error().line();
        char heard = 0;
        ASSERT_TRUE(send_fully(fd->get(), {&said, 1}, seconds_from_now(kLong)));
        ASSERT_TRUE(read_fully(fd->get(), &heard, 1, seconds_from_now(kLong)));
        EXPECT_EQ(heard, said);
        senders.push_back(*std::move(fd));
    }
}

// Whoever takes down the first bytes of a sender has not got the token.
TEST(Relay, TheTokenDoesNotTravel)
{
    const std::string token = random_token(kTokenBytes);
    auto listener = listen_on("127.0.0.1");
    ASSERT_TRUE(listener);
    std::string heard;
    std::jthread ear([&] {
        const FileDescriptor peer(accept4(listener->socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
        ASSERT_TRUE(send_fully(peer.get(), std::string(Proof::kBytes, 'x'), seconds_from_now(kLong)));
        char c = 0;
        while (heard.size() < Proof::kWord.size() + 2 * Proof::kBytes
            && read_fully(peer.get(), &c, 1, seconds_from_now(kLong)))
            heard += c;
    });
    EXPECT_FALSE(Downstream::connect({"127.0.0.1", listener->port, token}, 5));
    ear.join();
    EXPECT_GE(heard.size(), 64u) << "it did begin";
    EXPECT_EQ(heard.find(token.substr(0, 8)), std::string::npos);
}

} // namespace
} // namespace fourfold::test
