// SPDX-License-Identifier: GPL-3.0-or-later
// Who gets through the door of a listening socket, and what those see who do not.
#include "core/base/random_token.h"
#include "runner/net/gate.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/epoll.h>

#include <atomic>
#include <thread>

namespace fourfold::test {
namespace {

constexpr double kLong = 60; // for what must happen

// A gate on loopback, served by a thread that greets everybody who is let in.
class GateTest : public testing::Test {
protected:
    void SetUp() override
    {
        auto listener = listen_on("127.0.0.1");
        ASSERT_TRUE(listener) << listener.error().line();
        port = listener->port;
        server = std::jthread(
            [this, gate = Gate(std::move(listener->socket), token, kForProbe)](const std::stop_token& stop) mutable {
                while (!stop.stop_requested()) {
                    if (auto peer = gate.next(seconds_from_now(0.05))) {
                        ++admitted;
                        (void)send_fully(peer->get(), "welcome", seconds_from_now(kLong));
                        guests.push_back(*std::move(peer));
                    }
                }
            });
    }
    [[nodiscard]] FileDescriptor knock() const
    {
        auto fd = connect_to("127.0.0.1", port, kLong);
        EXPECT_TRUE(fd) << fd.error().line();
        return fd ? *std::move(fd) : FileDescriptor();
    }
    [[nodiscard]] Expected<void> enter(const std::string& with, std::string_view purpose = kForProbe) const
    {
        const FileDescriptor fd = knock();
        FOURFOLD_CHECK(prove(fd.get(), with, purpose, seconds_from_now(kLong)));
        std::string greeting(7, '\0');
        EXPECT_TRUE(read_fully(fd.get(), greeting.data(), greeting.size(), seconds_from_now(kLong)));
        EXPECT_EQ(greeting, "welcome");
        return {};
    }
    // All that comes until the other end closes; "(open)" behind it when it does not.
    static std::string heard(int fd, double seconds = kLong)
    {
        std::string text;
        char c = 0;
        const Deadline deadline = seconds_from_now(seconds);
        while (read_fully(fd, &c, 1, deadline))
            text += c;
        return milliseconds_until(deadline) > 0 ? text : text + "(open)";
    }

    const std::string token = random_token(kTokenBytes);
    int port = 0;
    std::atomic<int> admitted{0};
    std::vector<FileDescriptor> guests;
    std::jthread server;
};

TEST_F(GateTest, LetsInWhoKnowsTheToken)
{
    for (int i = 0; i < 3; ++i) {
        const auto entered = enter(token);
        EXPECT_TRUE(entered) << entered.error().line();
    }
    EXPECT_EQ(admitted, 3);
}

TEST_F(GateTest, RefusesAnotherTokenAndAnotherPurpose)
{
    const auto other = enter(random_token(kTokenBytes));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ProblemCode::refused);
    EXPECT_EQ(other.error().message, "the other end does not accept the token");
    const auto purpose = enter(token, kForFiles);
    ASSERT_FALSE(purpose);
    EXPECT_EQ(purpose.error().code, ProblemCode::refused);
    EXPECT_EQ(admitted, 0);
}

TEST_F(GateTest, SaysNothingToGarbage)
{
    // The beginning of a connection of LibTorch's TCPStore, of HTTP and of TLS, and the token in clear.
    const std::string store("\x00\xce\xf7\x85\x3c\x01", 6);
    for (const std::string& said :
        {store + std::string(80, '\0'), std::string("GET / HTTP/1.1\r\n\r\n") + std::string(80, ' '),
            std::string("\x16\x03\x01", 3) + std::string(80, '\1'), token + token}) {
        const FileDescriptor fd = knock();
        ASSERT_TRUE(send_fully(fd.get(), said, seconds_from_now(kLong)));
        EXPECT_EQ(heard(fd.get()), "");
    }
    EXPECT_EQ(admitted, 0);
}

TEST_F(GateTest, ARecordedProofIsOfNoUse)
{
    std::string hello(Proof::kWord), proof;
    {
        const FileDescriptor fd = knock();
        const Proof own(token, kForProbe);
        hello.append(own.challenge().data(), own.challenge().size());
        Proof::Block challenge{};
        ASSERT_TRUE(send_fully(fd.get(), hello, seconds_from_now(kLong)));
        ASSERT_TRUE(read_fully(fd.get(), challenge.data(), challenge.size(), seconds_from_now(kLong)));
        const Proof::Block said = own.of_client(own.challenge(), challenge);
        proof.assign(said.begin(), said.end());
        ASSERT_TRUE(send_fully(fd.get(), proof, seconds_from_now(kLong)));
        std::string answer(Proof::kBytes + 7, '\0');
        ASSERT_TRUE(read_fully(fd.get(), answer.data(), answer.size(), seconds_from_now(kLong)));
        EXPECT_TRUE(answer.ends_with("welcome"));
    }
    for (const bool at_once : {true, false}) {
        const FileDescriptor fd = knock();
        ASSERT_TRUE(send_fully(fd.get(), at_once ? hello + proof : hello, seconds_from_now(kLong)));
        std::string challenge(Proof::kBytes, '\0');
        ASSERT_TRUE(read_fully(fd.get(), challenge.data(), challenge.size(), seconds_from_now(kLong)));
        if (!at_once) {
            ASSERT_TRUE(send_fully(fd.get(), proof, seconds_from_now(kLong)));
        }
        EXPECT_EQ(heard(fd.get()), "");
    }
    EXPECT_EQ(admitted, 1);
}

TEST_F(GateTest, ManySilentStrangersAreInNobodysWay)
{
    std::vector<FileDescriptor> idle;
    for (std::size_t i = 0; i < 2 * Gate::kMostStrangers; ++i) {
        idle.push_back(knock());
        if (i % 2 == 1) { // some begin, and say no more
            ASSERT_TRUE(send_fully(idle.back().get(), "4FO", seconds_from_now(kLong)));
        }
    }
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(enter(token));
    // One after the other they would have had kPatience each.
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(int(kLong)));
    EXPECT_EQ(admitted, 3);
}

TEST_F(GateTest, WhoIsSilentIsSentAway)
{
    const FileDescriptor fd = knock();
    EXPECT_EQ(heard(fd.get()), "");
}

TEST_F(GateTest, ListensOnItsOwnAddressAlone)
{
    EXPECT_FALSE(connect_to("127.0.0.2", port, 5));
    EXPECT_FALSE(connect_to("::1", port, 5));
    EXPECT_TRUE(enter(token));
    for (const char* everywhere : {"0.0.0.0", "::", "::ffff:0.0.0.0", "255.255.255.255", "224.0.0.1", "ff02::1"}) {
        const auto listener = listen_on(everywhere);
        ASSERT_FALSE(listener) << everywhere;
        EXPECT_NE(listener.error().line().find("is no node's own address"), std::string::npos) << everywhere;
    }
}

// Somebody else who got hold of the port: nothing of what he can say convinces the one who connects.
TEST(Impostors, AreFoundOut)
{
    const std::string token = random_token(kTokenBytes);
    auto listener = listen_on("127.0.0.1");
    ASSERT_TRUE(listener);
    for (const bool mirrors : {true, false}) {
        std::jthread impostor([&] {
            const FileDescriptor peer(accept4(listener->socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
            std::string hello(Proof::kWord.size() + Proof::kBytes, '\0'), proof(Proof::kBytes, '\0');
            ASSERT_TRUE(read_fully(peer.get(), hello.data(), hello.size(), seconds_from_now(kLong)));
            const std::string challenge = mirrors ? hello.substr(Proof::kWord.size()) : std::string(Proof::kBytes, 'x');
            ASSERT_TRUE(send_fully(peer.get(), challenge, seconds_from_now(kLong)));
            ASSERT_TRUE(read_fully(peer.get(), proof.data(), proof.size(), seconds_from_now(kLong)));
            ASSERT_TRUE(send_fully(peer.get(), mirrors ? proof : challenge, seconds_from_now(kLong)));
        });
        const auto fd = connect_to("127.0.0.1", listener->port, kLong);
        ASSERT_TRUE(fd);
        const auto proved = prove(fd->get(), token, kForProbe, seconds_from_now(kLong));
        ASSERT_FALSE(proved);
        EXPECT_EQ(proved.error().code, ProblemCode::conflict) << proved.error().line();
    }
}

TEST(Listeners, AreNeverFreeForSomebodyElse)
{
    const auto own = listen_on("127.0.0.1");
    ASSERT_TRUE(own);
    EXPECT_TRUE(is_listening(own->socket.get(), own->port));
    EXPECT_FALSE(is_listening(own->socket.get(), own->port + 1));
    const auto second = listen_on("127.0.0.1", own->port);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("is taken"), std::string::npos) << second.error().line();
    const FileDescriptor everywhere(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); // as somebody else may try
    sockaddr_storage at{};
    const socklen_t size = socket_address("0.0.0.0", own->port, at);
    EXPECT_NE(bind(everywhere.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_FALSE(listen_on("203.0.113.7"));
    EXPECT_FALSE(listen_on("localhost"));
}

} // namespace
} // namespace fourfold::test
