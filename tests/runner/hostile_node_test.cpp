// SPDX-License-Identifier: GPL-3.0-or-later
// A node that wants the client's terminal, disk or memory: an agent that answers whatever its test says.
#include "core/base/text.h"
#include "core/history/store.h"
#include "runner/preflight/finding.h"
#include "runner/protocol/agent_client.h"
#include "runner/protocol/message.h"
#include "runner/runs/follow.h"
#include "tests/runner/support.h"

#include <chrono>
#include <thread>

namespace fourfold::test {
namespace {

// Colours, a window title, the same with C1, text that runs backwards, line ends of all kinds.
const std::string kEvil = "evil\x1b[31m\x1b]0;t\x07 \xc2\x9b"
                          "31m \xe2\x80\xae\xe2\x80\xa8\r\nfourfold: forged";
const std::string kShown = "evil\\u001b[31m\\u001b]0;t\\u0007 \\u009b31m \\u202e\\u2028 fourfold: forged";

std::string json_frame(const Json& json)
{
    return encode_frame(FrameKind::json, to_wire(json));
}

// What the agent sends when it is asked something.
using Answer = std::function<std::string(const Json& request)>;

class HostileStream : public ByteStream {
public:
    explicit HostileStream(Answer answer)
        : answer_(std::move(answer))
    {
    }
    Expected<std::string> read_some(std::chrono::milliseconds timeout) override
    {
        if (waiting_.empty())
            waiting_ = answer_(Json()); // nothing was asked: what it sends of itself
        if (waiting_.empty())
            std::this_thread::sleep_for(std::min(timeout, std::chrono::milliseconds(5)));
        const std::string some = waiting_.substr(0, 65536);
        waiting_.erase(0, some.size());
        return some;
    }
    Expected<void> write_all(std::string_view bytes) override
    {
        requests_.feed(bytes);
        for (;;) {
            FOURFOLD_TRY(const auto frame, requests_.next());
            if (!frame)
                return {};
            FOURFOLD_TRY(const Json request, parse_json(frame->payload, "request"));
            waiting_ += answer_(request);
        }
    }

private:
    Answer answer_;
    FrameParser requests_;
    std::string waiting_;
};

class HostileTransport : public Transport {
public:
    explicit HostileTransport(Answer answer)
        : answer_(std::move(answer))
    {
    }
    Expected<std::unique_ptr<ByteStream>> open(std::stop_token) override
    {
        return std::unique_ptr<ByteStream>(std::make_unique<HostileStream>(answer_));
    }
    [[nodiscard]] std::string host() const override { return "evil-host"; }

private:
    Answer answer_;
};

// A client of an agent that answers every request with these bytes.
AgentClient client(std::string bytes)
{
    return {std::make_unique<HostileStream>(
                [bytes](const Json& request) { return request.is_null() ? std::string() : bytes; }),
        "evil-host"};
}

Json hello_of(const Json& more = Json::object())
{
    Json hello = {{"is", "hello"}, {"protocol", kProtocolVersion}, {"hostname", "h"}, {"base", "/base"}};
    hello.update(more);
    return hello;
}

void expect_clean(const Json& json)
{
    const Json flat = json.flatten();
    for (const auto& [path, value] : flat.items()) {
        const std::string text = value.is_string() ? value.get<std::string>() : "";
        EXPECT_EQ(text, printable(text, kUncut)) << path;
    }
}

TEST(HostileNode, WhatItSaysHasNoControlCharacters)
{
    const auto facts = client(
        json_frame(hello_of({{"hostname", kEvil}, {"os", kEvil}, {"glibc", kEvil}, {"driver", kEvil}, {"arch", kEvil},
            {"address", kEvil}, {"base", "/" + kEvil}, {"gpus", Json::array({{{"name", kEvil}}})},
            {"interfaces", Json::array({{{"name", kEvil}, {"address", kEvil}}})}})))
                           .hello("");
    ASSERT_TRUE(facts) << facts.error().line();
    EXPECT_EQ(facts->hostname, kShown);
    EXPECT_EQ(facts->gpus.at(0).name, kShown);
    EXPECT_EQ(facts->base, "/" + kShown);
    expect_clean(facts->document);
    expect_clean(facts->interfaces);

    const auto probe = client(json_frame({{"is", "probe"},
                                  {"findings",
                                      Json::array({{{"level", "error"}, {"check", kEvil}, {"message", kEvil},
                                          {"evidence", kEvil}, {"cure", kEvil}}})}}))
                           .probe(1, false, false);
    ASSERT_TRUE(probe);
    const auto findings = findings_from_agent(array_field(*probe, "findings"), "evil-host");
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].message, kShown);
    EXPECT_EQ(findings[0].cure, kShown);

    const auto refused = client(
        json_frame({{"is", "error"}, {"code", "failed"}, {"message", kEvil}, {"hint", kEvil}, {"where", kEvil}}))
                             .hello("");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, kShown);
    EXPECT_EQ(refused.error().hint, kShown);
    const auto unknown = client(json_frame({{"is", kEvil}})).hello("");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().line().find(kShown), std::string::npos) << unknown.error().line();

    AgentClient follower = client(json_frame({{"is", "heartbeat"}, {"state", kEvil}, {"hint", kEvil}, {"why", kEvil}}));
    ASSERT_TRUE(follower.tail("01RUN", 0, 0, 0, 10));
    const auto beat = follower.tail_next(std::chrono::seconds(30));
    ASSERT_TRUE(beat);
    EXPECT_EQ(beat->hint, kShown);
    EXPECT_EQ(beat->why, kShown);
}

// It may be hashing: Ctrl-C does not wait for that.
TEST(HostileNode, AStopDoesNotWaitForAnAnswer)
{
    RunSpec spec;
    spec.run = "01RUN";
    for (const bool prepares : {false, true}) {
        AgentClient silent = client("");
        std::stop_source stop;
        std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            stop.request_stop();
        });
        const auto begin = std::chrono::steady_clock::now();
        const Problem why = prepares ? silent.prepare(spec, stop.get_token()).error()
                                     : silent.have({{std::string(64, 'a'), 1, {}, {}}}, stop.get_token()).error();
        EXPECT_EQ(why.code, ProblemCode::cancelled) << why.line();
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "and not 15 minutes";
    }
}

TEST(HostileNode, AbsurdAnswersAreProblems)
{
    const std::string deep = encode_frame(FrameKind::json, std::string(100000, '[') + std::string(100000, ']'));
    const std::string huge("J\xff\xff\xff\xff", 5);
    for (const std::string& bytes : {deep, huge, std::string("Welcome\n"), encode_frame(FrameKind::data, "x"),
             json_frame(Json::array()), json_frame({{"is", "hello"}}), json_frame(hello_of({{"protocol", 1e308}})),
             json_frame(hello_of({{"base", "relative/../x"}})), json_frame(hello_of({{"base", Json::array()}}))}) {
        const auto facts = client(bytes).hello("");
        ASSERT_FALSE(facts) << bytes.substr(0, 200);
        EXPECT_EQ(facts.error().where.find("evil-host"), 0u) << facts.error().line();
        EXPECT_LT(facts.error().line().size(), 2000u);
    }
    // Of the wrong kinds: as if they had not been said.
    const auto odd = client(json_frame(hello_of({{"cores", "many"}, {"memory_gib", Json::array({1})},
                                {"gpus", {{"a", 1}}}, {"interfaces", 7}, {"disk_free_gib", -1e308}})))
                         .hello("");
    ASSERT_TRUE(odd) << odd.error().line();
    EXPECT_EQ(odd->cores, 0);
    EXPECT_TRUE(odd->gpus.empty());

    EXPECT_FALSE(client(json_frame({{"is", "have"}, {"found", Json::array()}, {"missing", Json::array()}}))
                     .have({{std::string(64, 'a'), 1, {}, {}}}));
    RunSpec spec;
    spec.run = "01RUN";
    for (const Json& port : {Json(99999), Json(-1), Json(0), Json(18446744073709551615u), Json("x")}) {
        const auto prepared = client(json_frame({{"is", "prepared"}, {"folder", "/x"}, {"port", port}})).prepare(spec);
        ASSERT_FALSE(prepared) << port;
        EXPECT_NE(prepared.error().line().find("which is none"), std::string::npos) << prepared.error().line();
        EXPECT_FALSE(client(json_frame({{"is", "listening"}, {"port", port}})).listen("127.0.0.1", "t")) << port;
    }
    // A log that is larger than was asked for.
    std::string log = json_frame({{"is", "file"}, {"size", 10}});
    for (int i = 0; i < 8; ++i)
        log += encode_frame(FrameKind::data, std::string(1u << 20, 'x'));
    const auto fetched = client(log).fetch("01RUN", 0, "rank0.log", 1u << 20);
    ASSERT_FALSE(fetched);
    EXPECT_NE(fetched.error().line().find("more of rank0.log than was asked for"), std::string::npos);
    // Events that are cut within a line, none at all, and data out of place.
    for (const std::string& lines : {std::string("{\"seq\":0"), std::string()}) {
        AgentClient follower
            = client(json_frame({{"is", "lines"}, {"offset", 0}}) + encode_frame(FrameKind::data, lines));
        ASSERT_TRUE(follower.tail("01RUN", 0, 0, 0, 10));
        EXPECT_FALSE(follower.tail_next(std::chrono::seconds(30)));
    }
    AgentClient follower = client(encode_frame(FrameKind::data, "{}\n"));
    ASSERT_TRUE(follower.tail("01RUN", 0, 0, 0, 10));
    EXPECT_FALSE(follower.tail_next(std::chrono::seconds(30)));
}

// The limit of a run's events: a node sends a hundred times as much.
class EventLimit : public testing::Test {
protected:
    EventLimit()
    {
        auto store = HistoryStore::open(HistoryStore::default_file());
        NewRun run;
        run.id = "01EVIL";
        run.name = "evil";
        run.target = "evil-host";
        run.stack = "fourfold";
        run.plan_hash = "aa";
        run.layout_hash = "bb";
        run.plan = {{"gpus", 1}};
        run.prediction = Json::object();
        run.environment = Json::object();
        EXPECT_TRUE(store && store->create_run(run));
        folder = home.path() / "record";
        std::filesystem::create_directories(folder);
    }
    [[nodiscard]] Expected<Recorder> recorder(double most_gib) const
    {
        FOURFOLD_TRY(HistoryStore store, HistoryStore::open(HistoryStore::default_file()));
        return Recorder::open(std::move(store), "01EVIL", folder, {"evil-host"}, most_gib);
    }
    // A run of one node that sends `count` frames of 200 events of 1 kB, then an error and its end.
    FollowResult follow_flood(Recorder& recorder, int count)
    {
        int64_t seq = 0, offset = 0;
        int frames = 0;
        const auto line = [&seq](Json event) {
            event["time"] = "2026-01-01T00:00:00.000Z";
            std::string text = event.dump();
            text.insert(1, "\"seq\":" + std::to_string(seq++) + ",");
            return text + "\n";
        };
        const auto lines = [&](const std::string& text) {
            const std::string frame = json_frame({{"is", "lines"}, {"offset", offset}, {"state", "running"}});
            offset += static_cast<int64_t>(text.size());
            return frame + encode_frame(FrameKind::data, text);
        };
        bool following = false;
        const Answer answer = [&](const Json& request) -> std::string {
            const std::string asked = text_field(request, "do");
            if (asked == "hello")
                return json_frame(hello_of());
            if (asked == "status")
                return json_frame({{"is", "status"}, {"state", "ended"}, {"status", "fail"}});
            if (asked == "kept")
                return json_frame({{"is", "noted"}});
            following = following || asked == "tail";
            if (!request.is_null() || !following)
                return {};
            std::string text;
            if (++frames > count + 1)
                return {};
            if (frames == count + 1) {
                // One after the other: which operand of a sum is worked out first, and so gets the lower `seq`, is
                // open.
                text += line({{"event", "error"}, {"rank", 0}, {"message", "the true cause"}});
                text += line({{"event", "end"}, {"rank", 0}, {"status", "fail"}, {"message", "the true cause"}});
                const std::string last = lines(text);
                return last + json_frame({{"is", "end"}, {"state", "ended"}, {"status", "fail"}});
            }
            for (int i = 0; i < 200; ++i)
                text += line({{"event", "warning"}, {"message", std::string(1000, 'f')}});
            return lines(text);
        };
        std::vector<Node> nodes(1);
        nodes[0].name = "evil-host";
        nodes[0].transport = std::make_unique<HostileTransport>(answer);
        Mailbox mailbox;
        return follow(nodes, recorder, observer, mailbox, {}, {});
    }
    [[nodiscard]] int64_t stored_bytes() const
    {
        int64_t bytes = 0;
        const auto store = HistoryStore::open(HistoryStore::default_file(), StoreMode::read_only);
        const auto lines = store ? store->events("01EVIL") : Expected<std::vector<std::string>>(store.error());
        EXPECT_TRUE(lines);
        for (const std::string& line : lines ? *lines : std::vector<std::string>())
            bytes += static_cast<int64_t>(line.size()) + 1;
        return bytes;
    }
    [[nodiscard]] std::ptrdiff_t told() const
    {
        return std::count_if(observer.texts.begin(), observer.texts.end(),
            [](const std::string& text) { return text.find("the rest stays on the nodes") != std::string::npos; });
    }

    Home home;
    Recording observer;
    std::filesystem::path folder;
};

TEST_F(EventLimit, BeyondItTheRestStaysOnTheNode)
{
    auto store = recorder(1.0 / 1024); // 1 MiB
    ASSERT_TRUE(store) << store.error().line();
    const FollowResult result = follow_flood(*store, 500);
    EXPECT_EQ(result.state, RunState::fail);
    ASSERT_TRUE(result.problem);
    EXPECT_NE(result.problem->line().find("the true cause"), std::string::npos) << result.problem->line();
    EXPECT_EQ(told(), 1);
    EXPECT_GT(stored_bytes(), 700'000);
    EXPECT_LE(stored_bytes(), 1 << 20);
    EXPECT_EQ(static_cast<int64_t>(std::filesystem::file_size(folder / "events.jsonl")), stored_bytes());
    EXPECT_LT(std::filesystem::file_size(HistoryStore::default_file()), 8u << 20);
}

TEST_F(EventLimit, NoneIsNone)
{
    auto store = recorder(0);
    ASSERT_TRUE(store) << store.error().line();
    EXPECT_EQ(follow_flood(*store, 20).state, RunState::fail);
    EXPECT_EQ(told(), 0);
    EXPECT_GT(stored_bytes(), 4'000'000);
}

} // namespace
} // namespace fourfold::test
