// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions with a real agent on this computer: every request, asked well and asked badly.
#include "core/base/random_token.h"
#include "core/base/sha256.h"
#include "runner/local/local_transport.h"
#include "runner/net/socket.h"
#include "runner/protocol/agent_client.h"
#include "runner/protocol/chunk.h"
#include "runner/protocol/message.h"
#include "tests/runner/support.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <random>
#include <thread>

namespace fourfold::test {
namespace {

class AgentSession : public testing::Test {
protected:
    AgentClient connect(const std::string& base = {})
    {
        LocalTransport transport(agent_program());
        auto stream = transport.open({});
        EXPECT_TRUE(stream) << stream.error().line();
        AgentClient client(std::move(*stream), "here");
        const auto facts = client.hello(base.empty() ? (home.path() / "node").string() : base);
        EXPECT_TRUE(facts) << facts.error().line();
        return client;
    }
    RunSpec spec(const std::string& run)
    {
        RunSpec out;
        out.run = run;
        out.host = "here";
        out.address = "127.0.0.1";
        out.world_size = 1;
        out.ranks = {{0, 0, {{"tp", 0}}}};
        out.program = "bin/fake-trainer";
        out.files = {{out.program, {}, 0, std::filesystem::canonical(fake_trainer()).string()}};
        out.plan = {{"model", "m"}};
        out.environment = {{"FAKE_STEPS", "3"}};
        return out;
    }
    // Reads a tail to its end; all lines, and the end's status.
    std::pair<std::string, std::string> follow(AgentClient& client)
    {
        std::string lines;
        for (;;) {
            auto message = client.tail_next(std::chrono::seconds(30));
            if (!message || message->kind == TailMessage::Kind::nothing) {
                ADD_FAILURE() << (message ? "silence" : message.error().line());
                return {lines, ""};
            }
            if (message->kind == TailMessage::Kind::end)
                return {lines, message->status};
            lines += message->lines;
        }
    }
    Home home;
    PieceSource pieces{1};
    // Ranks are found by the id of their run, and the tests may run twice at once.
    const std::string run_ = "RUN" + std::to_string(::getpid()), other_run_ = run_ + "B";
};

TEST_F(AgentSession, SaysWhatTheNodeIs)
{
    LocalTransport transport(agent_program());
    auto stream = transport.open({});
    ASSERT_TRUE(stream);
    AgentClient client(std::move(*stream), "here");
    const auto facts = client.hello((home.path() / "node").string());
    ASSERT_TRUE(facts) << facts.error().line();
    EXPECT_GE(facts->cores, 1);
    EXPECT_GT(facts->memory_gib, 0);
    EXPECT_GT(facts->disk_free_gib, 0);
    EXPECT_FALSE(facts->os.empty());
    EXPECT_TRUE(facts->glibc.starts_with("2.") && !facts->glibc.ends_with(".")) << facts->glibc;
    EXPECT_EQ(facts->boot_id.size(), 36u);
    EXPECT_EQ(facts->base, (home.path() / "node").string());
}

TEST_F(AgentSession, ARunFromPrepareToEnd)
{
    AgentClient client = connect();
    const auto prepared = client.prepare(spec(run_));
    ASSERT_TRUE(prepared) << prepared.error().line();
    EXPECT_GT(prepared->port, 0);
    struct stat info { };
    ASSERT_EQ(stat(prepared->folder.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    {
        AgentClient other = connect();
        const auto busy = other.prepare(spec(run_));
        ASSERT_FALSE(busy);
        EXPECT_EQ(busy.error().code, ProblemCode::refused) << busy.error().line();
    }
    ASSERT_TRUE(client.start(run_, 0, "127.0.0.1", prepared->port, random_token(32)));
    ASSERT_TRUE(client.tail(run_, 0, 0, 0, 60));
    const auto [lines, status] = follow(client);
    EXPECT_EQ(status, "ok");
    EXPECT_EQ(lines, *read_text_file(std::filesystem::path(prepared->folder) / "events.jsonl"));
    const auto again = client.prepare(spec(run_));
    ASSERT_FALSE(again) << "a run is started once";
    EXPECT_EQ(again.error().code, ProblemCode::refused);
    const auto log = client.fetch(run_, 0, "rank0.log", 1000);
    ASSERT_TRUE(log);
    EXPECT_TRUE(log->starts_with("rank 0 of 1")) << *log;
    EXPECT_EQ(client.fetch(run_, 0, "rank0.log", 5)->size(), 5u);
    for (const char* name : {"spec.json", "../../hashes.json", "rank0.jsonl", "rank.log", "rank0x.log"})
        EXPECT_EQ(client.fetch(run_, 0, name, 1000).error().code, ProblemCode::refused) << name;
    // Continued in the middle, and where it does not fit.
    const auto at = static_cast<int64_t>(lines.find('\n') + 1);
    ASSERT_TRUE(client.tail(run_, 0, at, 1, 60));
    EXPECT_EQ(follow(client).first, lines.substr(static_cast<std::size_t>(at)));
    ASSERT_TRUE(client.tail(run_, 0, at, 3, 60));
    EXPECT_EQ(follow(client).first, lines.substr(lines.find("{\"seq\":3,"))) << "the number counts, not the place";
    EXPECT_EQ(text_field(*client.status(run_, 0), "state"), "ended");
}

// A ping, a question or a stop may be on its way when the events end: what is asked next gets its own answer.
TEST_F(AgentSession, WhatCrossesTheEndOfTheEventsDisturbsNothing)
{
    AgentClient client = connect();
    const auto prepared = client.prepare(spec(run_));
    ASSERT_TRUE(prepared) << prepared.error().line();
    ASSERT_TRUE(client.start(run_, 0, "127.0.0.1", prepared->port, random_token(32)));
    ASSERT_TRUE(client.tail(run_, 0, 0, 0, 60));
    EXPECT_EQ(follow(client).second, "ok");
    std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // a ping is due
    ASSERT_TRUE(client.tail_next(std::chrono::milliseconds(1)));
    ASSERT_TRUE(client.diagnose(run_, 0));
    ASSERT_TRUE(client.stop(run_, 0, RunState::cancelled, "", nullptr, 0));
    const auto status = client.status(run_, 0);
    ASSERT_TRUE(status) << status.error().line();
    EXPECT_EQ(text_field(*status, "state"), "ended");
    ASSERT_TRUE(client.stop(run_, 0, RunState::cancelled, "", nullptr, 0));
    const auto log = client.fetch(run_, 0, "rank0.log", 1000);
    ASSERT_TRUE(log) << log.error().line();
    EXPECT_TRUE(log->starts_with("rank 0 of 1"));
}

// From the moment in which the client hears of the port until rank 0 has it, somebody else tries to take it.
TEST_F(AgentSession, ThePortOfTheRanksIsNeverFree)
{
    AgentClient client = connect();
    const std::string run = "PORT" + random_token(8); // a sweep of another test's run must not find it
    RunSpec own = spec(run);
    own.environment = {{"FAKE_STEPS", "1000000"}, {"FAKE_STEP_MS", "20"}};
    const auto prepared = client.prepare(own);
    ASSERT_TRUE(prepared) << prepared.error().line();
    std::atomic<int> tries = 0, taken = 0;
    std::jthread squatter([&](const std::stop_token& stop) {
        std::vector<FileDescriptor> kept;
        while (!stop.stop_requested()) {
            for (const char* address : {"127.0.0.1", "0.0.0.0"}) {
                sockaddr_storage at{};
                const socklen_t size = socket_address(address, prepared->port, at);
                FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
                const int on = 1;
                setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
                ++tries;
                if (bind(fd.get(), reinterpret_cast<sockaddr*>(&at), size) == 0) {
                    ++taken;
                    kept.push_back(std::move(fd));
                }
            }
        }
    });
    EXPECT_TRUE(connect_to("127.0.0.1", prepared->port, 5)) << "it is listened on already";
    EXPECT_TRUE(wait_until([&] { return tries > 100; }));
    ASSERT_TRUE(client.start(run, 0, "127.0.0.1", prepared->port, random_token(32)));
    EXPECT_TRUE(connect_to("127.0.0.1", prepared->port, 5)) << "rank 0 has it";
    const int before = tries;
    EXPECT_TRUE(wait_until([&] { return tries > before + 100; }));
    squatter.request_stop();
    squatter.join();
    EXPECT_EQ(taken, 0) << "of " << tries;
    ASSERT_TRUE(client.stop(run, 0, RunState::cancelled, "", nullptr, 0));
    EXPECT_TRUE(wait_until([&] { return !connect_to("127.0.0.1", prepared->port, 5); })) << "closed with rank 0";
}

TEST_F(AgentSession, WhatIsOpenForOtherNodesIsClosedWhenItHasServed)
{
    AgentClient client = connect();
    const auto probe = client.listen("127.0.0.1", random_token(32));
    ASSERT_TRUE(probe) << probe.error().line();
    EXPECT_TRUE(connect_to("127.0.0.1", *probe, 5));
    ASSERT_TRUE(client.unlisten());
    EXPECT_FALSE(connect_to("127.0.0.1", *probe, 5));
    const auto again = client.listen("127.0.0.1", random_token(32));
    const auto relay = client.relay("127.0.0.1", random_token(32), nullptr);
    ASSERT_TRUE(again && relay);
    EXPECT_TRUE(connect_to("127.0.0.1", *relay, 5));
    ASSERT_TRUE(client.prepare(spec(run_)));
    EXPECT_FALSE(connect_to("127.0.0.1", *again, 5));
    EXPECT_FALSE(connect_to("127.0.0.1", *relay, 5));
}

TEST_F(AgentSession, ARunWithoutATokenIsNotStarted)
{
    AgentClient client = connect();
    const auto prepared = client.prepare(spec(run_));
    ASSERT_TRUE(prepared);
    for (const char* token : {"", "00000000000000000000000000000000"}) {
        const auto started = client.start(run_, 0, "127.0.0.1", prepared->port, token);
        ASSERT_FALSE(started);
        EXPECT_EQ(started.error().code, ProblemCode::bad_input) << started.error().line();
    }
}

TEST_F(AgentSession, ASessionThatDiesBeforeTheStartLeavesARunThatFailed)
{
    {
        AgentClient client = connect();
        ASSERT_TRUE(client.prepare(spec(other_run_)));
    }
    AgentClient client = connect();
    ASSERT_TRUE(client.tail(other_run_, 0, 0, 0, 60));
    EXPECT_EQ(follow(client).second, "fail");
    const auto none = client.status(run_ + "C", 0);
    EXPECT_EQ(text_field(*none, "state"), "absent");
    ASSERT_TRUE(client.tail(run_ + "C", 0, 0, 0, 60));
    EXPECT_EQ(client.tail_next(std::chrono::seconds(30)).error().code, ProblemCode::not_found);
}

TEST_F(AgentSession, FilesAreContinuedWhereTheNodeHasThem)
{
    std::mt19937 random(1);
    std::string content(5u << 20, '\0');
    for (char& c : content)
        c = static_cast<char>(random());
    const auto file = home.path() / "big";
    std::ofstream(file, std::ios::binary) << content;
    const std::string hash = sha256_hex(content);
    std::filesystem::create_directories(home.path() / "node/store");
    chmod((home.path() / "node").c_str(), 0700);
    std::ofstream(home.path() / "node/store" / (hash + ".part"), std::ios::binary) << content.substr(0, 3u << 20);
    AgentClient client = connect();
    const uint64_t before = client.bytes_written();
    uint64_t sent = 0, had = 0;
    const auto result = client.put(
        file, hash, content.size(), pieces, {}, {}, [&](uint64_t bytes, bool now) { (now ? sent : had) += bytes; });
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(*result, PutResult::stored);
    EXPECT_EQ(had, 3u << 20);
    EXPECT_EQ(sent, 2u << 20);
    EXPECT_LT(client.bytes_written() - before, 2200000u) << "only what was missing may travel";
    EXPECT_EQ(*sha256_file(home.path() / "node/store" / hash), hash);
    EXPECT_EQ(*client.put(file, hash, content.size(), pieces, {}, {}, [](uint64_t, bool) {}), PutResult::present);
    const auto have = client.have({{hash, content.size(), {}, {}}, {sha256_hex("x"), 1, {}, {}}});
    ASSERT_TRUE(have);
    EXPECT_EQ(have->found.size(), 1u);
    EXPECT_EQ(have->missing, std::vector<std::string>{sha256_hex("x")});
    // A wrong prefix is found by the hash, thrown away, and the next attempt is right.
    std::ofstream(home.path() / "small") << "small file";
    const std::string small = sha256_hex("small file");
    std::ofstream(home.path() / "node/store" / (small + ".part")) << "SMALL";
    EXPECT_FALSE(client.put(home.path() / "small", small, 10, pieces, {}, {}, [](uint64_t, bool) {}));
    EXPECT_EQ(*client.put(home.path() / "small", small, 10, pieces, {}, {}, [](uint64_t, bool) {}), PutResult::stored);
}

// A sender that the test moves piece by piece.
class SlowSender {
public:
    SlowSender(const std::filesystem::path& base, const std::string& content)
        : stream_(*LocalTransport(agent_program()).open({}))
        , content_(content)
    {
        ask({{"do", "hello"}, {"protocol", kProtocolVersion}, {"base", base.string()}});
    }
    Json begin() { return ask({{"do", "put"}, {"sha256", sha256_hex(content_)}, {"size", content_.size()}}); }
    void send(std::size_t begin, std::size_t end)
    {
        for (; begin < end; begin += kChunkBytes)
            EXPECT_TRUE(stream_->write_all(
                encode_frame(FrameKind::data, compress_chunk(content_.substr(begin, kChunkBytes), 1))));
    }
    Json end() { return ask({{"do", "put-end"}}); }

private:
    Json ask(const Json& request)
    {
        EXPECT_TRUE(stream_->write_all(encode_frame(FrameKind::json, to_wire(request))));
        for (int i = 0; i < 100; ++i) {
            const auto frame = parser_.next();
            if (frame && *frame)
                return Json::parse((*frame)->payload);
            const auto bytes = stream_->read_some(std::chrono::milliseconds(300));
            if (!bytes)
                break;
            parser_.feed(*bytes);
        }
        ADD_FAILURE() << "no answer to " << to_wire(request);
        return {};
    }
    std::unique_ptr<ByteStream> stream_;
    FrameParser parser_;
    const std::string& content_;
};

// A second session that needs a file which a first one is sending.
class TwoSenders : public AgentSession {
protected:
    void SetUp() override
    {
        std::mt19937 random(1);
        for (char& c : content)
            c = static_cast<char>(random());
        std::ofstream(file, std::ios::binary) << content;
    }
    PutResult put(AgentClient& client, PutWay way = {})
    {
        const auto result = client.put(file, hash(), content.size(), pieces, way, {},
            [this](uint64_t bytes, bool now) { sent += now ? bytes : 0; });
        EXPECT_TRUE(result) << result.error().line();
        return result ? *result : PutResult{};
    }
    // As soon as it is no longer busy.
    bool put_when_free(AgentClient& client)
    {
        return wait_until([&] { return put(client) == PutResult::stored; });
    }
    // Nobody has the lock on what has arrived.
    [[nodiscard]] bool let_go() const
    {
        const int fd = open((home.path() / "node/store" / (hash() + ".part")).c_str(), O_RDONLY | O_CLOEXEC);
        const bool free = flock(fd, LOCK_SH | LOCK_NB) == 0;
        close(fd);
        return free;
    }
    [[nodiscard]] std::string hash() const { return sha256_hex(content); }
    [[nodiscard]] std::string stored() const
    {
        const auto found = sha256_file(home.path() / "node/store" / hash());
        return found ? *found : "(none)";
    }
    std::string content = std::string(kChunkBytes * 4, '\0');
    std::filesystem::path file = home.path() / "big";
    uint64_t sent = 0;
};

TEST_F(TwoSenders, ASilentOneIsNotWaitedForAndFindsTheFileWhenItWakesUp)
{
    SlowSender first(home.path() / "node", content);
    EXPECT_EQ(text_field(first.begin(), "state"), "send");
    first.send(0, kChunkBytes);
    AgentClient second = connect();
    PutResult busy;
    ASSERT_TRUE(wait_until([&] {
        busy = put(second);
        return busy.there == kChunkBytes;
    }));
    EXPECT_EQ(busy, PutResult::busy);
    EXPECT_TRUE(busy.sender.starts_with("process ")) << busy.sender;
    ASSERT_TRUE(put_when_free(second));
    EXPECT_EQ(sent, 3 * kChunkBytes) << "what the first one had sent is kept";
    EXPECT_EQ(stored(), hash());
    first.send(kChunkBytes, content.size());
    EXPECT_EQ(text_field(first.end(), "state"), "stored");
    EXPECT_EQ(stored(), hash());
    EXPECT_FALSE(std::filesystem::exists(home.path() / "node/store" / (hash() + ".part")));
}

// It wakes up while the other one is in the middle: its pieces count for nothing, its own command waits its turn.
TEST_F(TwoSenders, ASilentOneThatWakesUpDoesNotDisturb)
{
    SlowSender first(home.path() / "node", content), second(home.path() / "node", content);
    EXPECT_EQ(text_field(first.begin(), "state"), "send");
    first.send(0, kChunkBytes);
    Json answer;
    ASSERT_TRUE(wait_until([&] {
        answer = second.begin();
        return text_field(answer, "state") == "send";
    }));
    EXPECT_EQ(integer_field(answer, "offset"), static_cast<int64_t>(kChunkBytes));
    second.send(kChunkBytes, 2 * kChunkBytes);
    first.send(kChunkBytes, content.size());
    EXPECT_EQ(text_field(first.end(), "state"), "busy");
    second.send(2 * kChunkBytes, content.size());
    EXPECT_EQ(text_field(second.end(), "state"), "stored");
    EXPECT_EQ(stored(), hash());
}

// Nobody wanted the file meanwhile.
TEST_F(TwoSenders, ASilentOneGoesOnWhereItWas)
{
    SlowSender first(home.path() / "node", content);
    EXPECT_EQ(text_field(first.begin(), "state"), "send");
    first.send(0, kChunkBytes);
    EXPECT_TRUE(wait_until([&] { return let_go(); })) << "the lock is still held";
    first.send(kChunkBytes, content.size());
    EXPECT_EQ(text_field(first.end(), "state"), "stored");
    EXPECT_EQ(stored(), hash());
}

// One that holds the file and never lets go of it, as a hung agent: a copy is made beside it, and both are right.
TEST_F(TwoSenders, OneThatHoldsTheFileForEver)
{
    SlowSender first(home.path() / "node", content);
    EXPECT_EQ(text_field(first.begin(), "state"), "send");
    first.send(0, kChunkBytes);
    const auto part = home.path() / "node/store" / (hash() + ".part");
    ASSERT_TRUE(wait_until([&] { return std::filesystem::file_size(part) == kChunkBytes; }));
    AgentClient second = connect();
    EXPECT_EQ(put(second, {false, true}), PutResult::stored);
    EXPECT_EQ(sent, 3 * kChunkBytes);
    EXPECT_EQ(stored(), hash());
    first.send(kChunkBytes, content.size());
    EXPECT_EQ(text_field(first.end(), "state"), "stored");
    EXPECT_EQ(stored(), hash());
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(home.path() / "node/store"))
        files += entry.path().filename().string().starts_with(hash()) ? 1 : 0;
    EXPECT_EQ(files, 1) << "nothing is left beside it";
}

// An agent of another version says so in its first answer, and so does ours to another client.
TEST_F(AgentSession, AnotherVersionIsNamed)
{
    const std::string answer = to_wire({{"is", "hello"}, {"protocol", kProtocolVersion + 1}, {"base", "/"}});
    const auto frame = home.path() / "frame", script = home.path() / "other-agent";
    std::ofstream(frame, std::ios::binary) << encode_frame(FrameKind::json, answer);
    std::ofstream(script) << "#!/bin/sh\ncat '" << frame.string() << "'\ncat >/dev/null\n";
    chmod(script.c_str(), 0700);
    LocalTransport transport(script);
    auto stream = transport.open({});
    ASSERT_TRUE(stream);
    AgentClient client(std::move(*stream), "there");
    const auto facts = client.hello("");
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().code, ProblemCode::unsupported);
    EXPECT_NE(facts.error().line().find("there: the agent speaks protocol " + std::to_string(kProtocolVersion + 1)),
        std::string::npos)
        << facts.error().line();
}

TEST_F(AgentSession, BadRequestsAreAnswered)
{
    LocalTransport transport(agent_program());
    auto stream = transport.open({});
    ASSERT_TRUE(stream);
    FrameParser parser;
    const auto ask = [&](const std::string& text) -> Json {
        EXPECT_TRUE((*stream)->write_all(encode_frame(FrameKind::json, text)));
        for (int i = 0; i < 100; ++i) {
            const auto frame = parser.next();
            if (frame && *frame)
                return Json::parse((*frame)->payload);
            const auto bytes = (*stream)->read_some(std::chrono::milliseconds(300));
            if (!bytes)
                return {};
            parser.feed(*bytes);
        }
        return {};
    };
    EXPECT_EQ(text_field(ask("{\"do\":\"have\"}"), "is"), "error") << "hello comes first";
    EXPECT_EQ(text_field(ask("{\"do\":\"hello\",\"protocol\":99}"), "code"), "unsupported");
    EXPECT_EQ(text_field(ask("{\"do\":\"hello\",\"protocol\":1,\"base\":\"x y\"}"), "is"), "error");
    EXPECT_EQ(
        text_field(ask("{\"do\":\"hello\",\"protocol\":1,\"base\":\"" + (home.path() / "n").string() + "\"}"), "is"),
        "hello");
    for (const char* text : {"{", "[]", "{}", "{\"do\":5}", "{\"do\":\"fly\"}", "{\"do\":\"prepare\"}",
             "{\"do\":\"prepare\",\"spec\":{\"run\":\"../../x\"}}", "{\"do\":\"start\",\"run\":\"A\"}",
             "{\"do\":\"tail\",\"run\":\"/etc\"}", "{\"do\":\"put\",\"sha256\":\"../x\",\"size\":1}",
             "{\"do\":\"have\",\"files\":[{\"sha256\":5}]}", "{\"do\":\"fetch\",\"run\":\"A\",\"name\":\"../x\"}",
             "{\"do\":\"stop\",\"run\":\"NONE\"}"})
        EXPECT_EQ(text_field(ask(text), "is"), "error") << text;
    EXPECT_EQ(text_field(ask("{\"do\":\"sweep\",\"run\":\"NONE\",\"node\":0}"), "is"), "swept");
    // A broken frame ends the session.
    EXPECT_TRUE((*stream)->write_all("rubbish"));
    bool ended = false;
    for (int i = 0; i < 100 && !ended; ++i)
        ended = !(*stream)->read_some(std::chrono::milliseconds(100));
    EXPECT_TRUE(ended);
}

} // namespace
} // namespace fourfold::test
