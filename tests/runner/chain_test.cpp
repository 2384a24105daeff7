// SPDX-License-Identifier: GPL-3.0-or-later
// Files from node to node: three real agents on this computer, each with a base folder of its own, the client's word to
// each, and one upload for all.
#include "core/base/random_token.h"
#include "core/base/sha256.h"
#include "runner/local/local_transport.h"
#include "runner/net/proof.h"
#include "runner/protocol/agent_client.h"
#include "runner/protocol/chunk.h"
#include "runner/protocol/message.h"
#include "tests/runner/support.h"

#include <sys/time.h>

#include <fstream>
#include <random>

namespace fourfold::test {
namespace {

class UploadChain : public testing::Test {
protected:
    void SetUp() override
    {
        std::mt19937 random(3);
        content.resize(5u << 20);
        for (char& c : content)
            c = static_cast<char>(random());
        std::ofstream(file, std::ios::binary) << content;
        hash = sha256_hex(content);
    }
    std::unique_ptr<AgentClient> connect(const std::string& name)
    {
        LocalTransport transport(agent_program());
        auto stream = transport.open({});
        EXPECT_TRUE(stream) << stream.error().line();
        auto client = std::make_unique<AgentClient>(std::move(*stream), name);
        const auto facts = client->hello((home.path() / name).string());
        EXPECT_TRUE(facts) << facts.error().line();
        return client;
    }
    // A port of the first that leads to the second and so on; links the sender to it.
    void link(AgentClient& sender, const std::vector<AgentClient*>& others)
    {
        Json next = nullptr;
        for (auto node = others.rbegin(); node != others.rend(); ++node) {
            const std::string token = random_token(32);
            const auto port = (*node)->relay("127.0.0.1", token, next);
            ASSERT_TRUE(port) << port.error().line();
            next = {{"address", "127.0.0.1"}, {"port", *port}, {"token", token}};
        }
        const auto linked = sender.chain(next);
        ASSERT_TRUE(linked) << linked.error().line();
    }
    Expected<PutResult> put(AgentClient& client, bool chain)
    {
        return client.put(
            file, hash, content.size(), pieces, {chain}, {}, [this](uint64_t bytes, bool) { sent += bytes; });
    }
    [[nodiscard]] std::string stored(const std::string& name) const
    {
        const auto found = sha256_file(home.path() / name / "store" / hash);
        return found ? *found : "(none)";
    }
    void give_part(const std::string& name, std::size_t bytes) const
    {
        std::ofstream(home.path() / name / "store" / (hash + ".part"), std::ios::binary) << content.substr(0, bytes);
    }

    Home home;
    std::filesystem::path file = home.path() / "big";
    std::string content, hash;
    PieceSource pieces{1};
    uint64_t sent = 0;
};

TEST_F(UploadChain, OneUploadReachesAllNodes)
{
    const auto a = connect("a"), b = connect("b"), c = connect("c");
    link(*a, {b.get(), c.get()});
    const uint64_t before = b->bytes_written() + c->bytes_written();
    const auto result = put(*a, true);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(*result, PutResult::stored);
    for (const char* name : {"a", "b", "c"})
        EXPECT_EQ(stored(name), hash) << name;
    EXPECT_EQ(b->bytes_written() + c->bytes_written(), before) << "the client sent them nothing";
    // A second file over the same chain, and one that everybody has.
    EXPECT_EQ(*put(*a, true), PutResult::present);
}

TEST_F(UploadChain, BeginsWhereTheNodeThatLacksMostNeedsIt)
{
    const auto a = connect("a"), b = connect("b"), c = connect("c");
    give_part("a", 4u << 20);
    give_part("b", content.size()); // whole, but not yet in its place
    give_part("c", (3u << 19) + 7); // 1.5 MiB and a bit
    link(*a, {b.get(), c.get()});
    const auto result = put(*a, true);
    ASSERT_TRUE(result) << result.error().line();
    for (const char* name : {"a", "b", "c"})
        EXPECT_EQ(stored(name), hash) << name;
    EXPECT_EQ(sent, content.size()) << "progress counts what was there as well";
    EXPECT_LT(a->bytes_written(), content.size() - (3u << 19) + 100000) << "the common beginning does not travel";
}

TEST_F(UploadChain, ANodeThatHasTheFileHandsItOn)
{
    const auto a = connect("a"), b = connect("b"), c = connect("c");
    ASSERT_TRUE(put(*a, false));
    ASSERT_TRUE(put(*b, false));
    link(*a, {b.get(), c.get()});
    EXPECT_EQ(*put(*a, true), PutResult::stored);
    EXPECT_EQ(stored("c"), hash);
}

TEST_F(UploadChain, ABrokenChainHarmsNobodyBeforeTheBreak)
{
    const auto a = connect("a"), b = connect("b");
    auto c = connect("c");
    link(*a, {b.get(), c.get()});
    c.reset(); // its session ends, and what it relays with it
    const auto result = put(*a, true);
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(stored("a"), hash);
    EXPECT_EQ(stored("b"), hash);
    EXPECT_EQ(stored("c"), "(none)");
    c = connect("c");
    EXPECT_EQ(*put(*c, false), PutResult::stored);
}

// What a stranger gets who reaches the port of a relaying node.
class Stranger {
public:
    Stranger(int port, const std::string& token)
    {
        auto fd = connect_to("127.0.0.1", port, 5);
        EXPECT_TRUE(fd) << fd.error().line();
        fd_ = *std::move(fd);
        const timeval limit{5, 0};
        setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        (void)prove(fd_.get(), token, kForFiles, seconds_from_now(5));
    }
    std::string ask(const Json& request)
    {
        const std::string frame = encode_frame(FrameKind::json, to_wire(request));
        (void)!send(fd_.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
        std::string block(65536, '\0');
        const ssize_t got = recv(fd_.get(), block.data(), block.size(), 0);
        block.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return block;
    }

private:
    FileDescriptor fd_;
};

TEST_F(UploadChain, OnlyWhoKnowsTheWordSendsFilesAndNothingElse)
{
    const auto a = connect("a"), b = connect("b");
    const std::string token = random_token(32);
    const auto port = b->relay("127.0.0.1", token, nullptr);
    ASSERT_TRUE(port);
    EXPECT_EQ(Stranger(*port, random_token(32)).ask({{"do", "put"}, {"sha256", hash}, {"size", 10}}), "");
    {
        Stranger knows(*port, token);
        for (const char* what : {"hello", "have", "start", "fetch", "relay", "tail", "stop"}) {
            const std::string answer = knows.ask({{"do", what}, {"base", "/"}, {"protocol", kProtocolVersion}});
            EXPECT_NE(answer.find("may only send files"), std::string::npos) << what << ": " << answer;
        }
        EXPECT_NE(
            knows.ask({{"do", "put"}, {"sha256", hash}, {"size", content.size()}}).find("\"send\""), std::string::npos);
    }
    EXPECT_FALSE(b->relay("not-an-address", token, nullptr));
    EXPECT_FALSE(b->relay("127.0.0.1", "short", nullptr));
    EXPECT_FALSE(a->chain({{"address", "127.0.0.1"}, {"port", *port}}));
}

TEST_F(UploadChain, ANodesOwnLibraryOfTheSameContentIsUsed)
{
    const auto package = home.path() / ".local/lib/python3.11/site-packages/torch/lib";
    std::filesystem::create_directories(package);
    std::filesystem::copy_file(file, package / "libtorch_cpu.so");
    // The same name and size with another content lies where it is looked for first.
    const auto other = home.path() / ".cache/fourfold/libtorch-1/torch/lib";
    std::filesystem::create_directories(other);
    std::string wrong = content;
    wrong.back() = static_cast<char>(wrong.back() + 1);
    std::ofstream(other / "libtorch_cpu.so", std::ios::binary) << wrong;
    const auto a = connect("a");
    auto have = a->have({{hash, content.size(), {}, "libtorch_cpu.so"}});
    ASSERT_TRUE(have) << have.error().line();
    ASSERT_EQ(have->found.size(), 1u);
    EXPECT_EQ(have->found[0].path, (package / "libtorch_cpu.so").string());
    have = a->have({{hash, content.size(), {}, "libtorch_cuda.so"}});
    ASSERT_TRUE(have);
    EXPECT_EQ(have->missing.size(), 1u);
    have = a->have({{hash, content.size(), {}, {}}});
    ASSERT_TRUE(have);
    EXPECT_EQ(have->missing.size(), 1u) << "looked for only when asked to";
}

TEST(PieceSources, GiveEveryNodeTheSameBytes)
{
    const Home home;
    const auto file = home.path() / "file";
    std::string content((3u << 20) + 12345, '\0');
    for (std::size_t i = 0; i < content.size(); ++i)
        content[i] = static_cast<char>((i * i) >> 7);
    std::mt19937_64 random(1); // does not shrink, then does again
    for (std::size_t i = 0; i < 10u << 20; i += 8) {
        const uint64_t value = random();
        content.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    content.append(12u << 20, 'z');
    std::ofstream(file, std::ios::binary) << content;
    PieceSource pieces(2);
    for (const uint64_t begin : {uint64_t(0), uint64_t(777), uint64_t(3u << 20)}) {
        std::string joined;
        std::size_t sent = 0;
        for (uint64_t at = begin; at < content.size();) {
            const auto piece = pieces.get(file, at, content.size());
            ASSERT_TRUE(piece) << piece.error().line();
            const auto raw = expand_chunk((*piece)->compressed);
            ASSERT_TRUE(raw);
            EXPECT_EQ(raw->size(), (*piece)->raw_bytes);
            EXPECT_LT((*piece)->compressed.size(), raw->size() + 4096);
            sent += (*piece)->compressed.size();
            joined += *raw;
            at += raw->size();
        }
        EXPECT_TRUE(joined == content.substr(begin));
        EXPECT_LT(sent, 15u << 20) << "what shrinks behind what does not is compressed again";
    }
    EXPECT_FALSE(pieces.get(file, content.size() - 5, content.size() + 1))
        << "the file is shorter than it was said to be";
    EXPECT_FALSE(pieces.get(home.path() / "none", 0, 10));
}

} // namespace
} // namespace fourfold::test
