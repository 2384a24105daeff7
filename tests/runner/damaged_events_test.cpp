// SPDX-License-Identifier: GPL-3.0-or-later
// Files of events that are not as an agent wrote them: what can be read of them is, the rest is named, and a run whose
// file is damaged ends as every other.
#include "core/history/store.h"
#include "runner/local/local_transport.h"
#include "runner/protocol/agent_client.h"
#include "runner/protocol/message.h"
#include "runner/runs/event_sieve.h"
#include "runner/runs/stop.h"
#include "tests/runner/support.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>

namespace fourfold::test {
namespace {

std::string event(int64_t seq, const std::string& kind = "step")
{
    return "{\"seq\":" + std::to_string(seq) + ",\"event\":\"" + kind + "\"}\n";
}

// What is stored of these bytes: one letter an event, "-" where something stands for one that is missing.
std::string stored(
    EventSieve& sieve, int64_t offset, const std::string& bytes, std::vector<std::string>* notes = nullptr)
{
    const auto taken = sieve.take(offset, bytes);
    std::string out;
    for (std::size_t i = 0; i < taken.events.size(); ++i) {
        EXPECT_EQ(to_wire(taken.events[i]), taken.lines[i]);
        out += flag_field(taken.events[i], "client") ? '-' : text_field(taken.events[i], "event")[0];
    }
    if (notes)
        *notes = taken.notes;
    return out;
}

TEST(Sieve, SoundEventsPassAsTheyAre)
{
    EventSieve sieve("n1", 0);
    const std::string bytes = event(0, "start") + event(1) + event(2);
    const auto taken = sieve.take(0, bytes);
    ASSERT_EQ(taken.lines.size(), 3u);
    EXPECT_EQ(taken.lines[0].data(), bytes.data()) << "no copy";
    EXPECT_TRUE(taken.made.empty());
    EXPECT_TRUE(taken.notes.empty());
    EXPECT_EQ(sieve.next_seq(), 3);
    EXPECT_EQ(stored(sieve, static_cast<int64_t>(bytes.size()), event(3, "end")), "e");
    EXPECT_TRUE(sieve.end("ok", "").lines.empty());
}

TEST(Sieve, SomethingStandsForEveryEventThatIsMissing)
{
    EventSieve sieve("n1", 0);
    const std::string bytes = event(0) + "{\"seq\":1,\"ev\x01\xff\n" + event(2) + event(5);
    const auto taken = sieve.take(100, bytes);
    ASSERT_EQ(taken.events.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i)
        EXPECT_EQ(integer_field(taken.events[i], "seq"), static_cast<int64_t>(i));
    EXPECT_EQ(text_field(taken.events[1], "message"),
        "event 1 is missing: 1 line (15 bytes) of events.jsonl on n1, from byte 125 on, is not an event");
    EXPECT_EQ(text_field(taken.events[3], "message"), "events 3 to 4 are missing: events.jsonl on n1 has a gap there");
    EXPECT_EQ(text_field(taken.events[4], "event"), "missing");
    EXPECT_TRUE(taken.notes.empty());
}

TEST(Sieve, WhatIsTooMuchIsLeftOut)
{
    EventSieve sieve("n1", 0);
    std::vector<std::string> notes;
    EXPECT_EQ(stored(sieve, 0, event(0) + "garbage\n" + event(0) + event(1), &notes), "ss");
    EXPECT_EQ(notes,
        std::vector<std::string>{"2 lines (33 bytes) of events.jsonl on n1, from byte 25 on, are not events and were "
                                 "left out; no event is missing"});
    // Sent once more after a cut.
    EXPECT_EQ(stored(sieve, 0, event(0) + event(1), &notes), "");
    EXPECT_TRUE(notes.empty());
    EXPECT_EQ(sieve.next_seq(), 2);
}

TEST(Sieve, ASoundEventBehindARestIsKept)
{
    EventSieve sieve("n1", 0);
    EXPECT_EQ(stored(sieve, 0, event(0) + "{\"seq\":1,\"eve" + event(2)), "s-s");
    EXPECT_EQ(stored(sieve, 1000, std::string(500, '\0') + event(3, "end")), "e") << "zeros of a crash";
}

TEST(Sieve, ANumberThatCannotBeIsDamageAndNoGap)
{
    EventSieve sieve("n1", 0);
    EXPECT_EQ(stored(sieve, 0, event(0) + event(int64_t(1) << 60) + event(1)), "ss");
    // A node cannot make this computer store more than it sends, but for a little.
    std::size_t made = 0;
    for (int64_t jump = 1, seq = 2; jump <= 100; ++jump)
        made += stored(sieve, 1000 * jump, event(seq += 5000)).size();
    EXPECT_LE(made, 101'000u);
}

TEST(Sieve, AnEndThatDidNotArriveIsSaid)
{
    EventSieve sieve("n1", 7);
    sieve.skip(500, 12);
    const auto taken = sieve.end("fail", "rank 1: killed");
    ASSERT_EQ(taken.events.size(), 1u);
    EXPECT_EQ(integer_field(taken.events[0], "seq"), 7);
    EXPECT_EQ(text_field(taken.events[0], "status"), "fail");
    EXPECT_EQ(text_field(taken.events[0], "message"),
        "rank 1: killed; the last events are missing: 1 line (12 bytes) of events.jsonl on n1, from byte 500 on, is "
        "not an "
        "event");
    EXPECT_TRUE(sieve.end("ok", "").events.empty()) << "once";
}

class DamagedEvents : public testing::Test {
protected:
    // A run of 60 steps that has ended while nobody followed it.
    void ended_unseen()
    {
        ClientProcess client(request(home, 2, {{"FAKE_STEPS", "60"}}), [](Recording& mine) {
            mine.each_state = [](RunState state, const std::string&) {
                if (state == RunState::running)
                    raise(SIGKILL);
            };
        });
        observer.id = client.id();
        ASSERT_EQ(client.end(), 128 + SIGKILL);
        ASSERT_TRUE(wait_until([&] {
            const auto status = read_json_file(file().parent_path() / "status.json");
            return status && text_field(*status, "state") == "ended";
        }));
        std::ifstream in(file());
        for (std::string line; std::getline(in, line);)
            lines.push_back(line);
        ASSERT_GT(lines.size(), 55u);
    }
    [[nodiscard]] std::filesystem::path file() const
    {
        return home.path() / "data/fourfold/node/runs" / observer.id / "events.jsonl";
    }
    void write(const std::string& tail = {}) const
    {
        std::ofstream out(file(), std::ios::binary | std::ios::trunc);
        for (const std::string& line : lines)
            out << line << "\n";
        out << tail;
    }
    [[nodiscard]] std::vector<Json> history() const
    {
        std::vector<Json> out;
        const auto store = HistoryStore::open(HistoryStore::default_file(), StoreMode::read_only);
        EXPECT_TRUE(store);
        const auto events = store ? store->events(observer.id) : Expected<std::vector<std::string>>(store.error());
        EXPECT_TRUE(events);
        for (const std::string& line : *events)
            out.push_back(Json::parse(line));
        return out;
    }
    // Attaches, and again; both times the run has ended as it did, and what is stored has no gap.
    std::vector<Json> attached()
    {
        for (int twice = 0; twice < 2; ++twice) {
            const auto result = attach(observer.id, observer, {});
            EXPECT_TRUE(result) << result.error().line();
            if (result) {
                EXPECT_EQ(result->state, RunState::ok) << (result->problem ? result->problem->line() : "");
            }
        }
        auto events = history();
        expect_whole(events, "ok");
        return events;
    }
    static int missing(const std::vector<Json>& events)
    {
        return static_cast<int>(std::count_if(events.begin(), events.end(), [](const Json& event) {
            return text_field(event, "kind") == "missing" || text_field(event, "event") == "missing";
        }));
    }

    Home home;
    Recording observer;
    std::vector<std::string> lines;
};

TEST_F(DamagedEvents, FlippedCutMissingDoubledAndForeignLines)
{
    ended_unseen();
    lines[40][10] = '\x01';
    lines[42].resize(20); // cut in the middle
    lines[44] = lines[44].substr(0, 12) + lines[45]; // cut, and the next one joined to it
    lines.erase(lines.begin() + 45);
    lines.erase(lines.begin() + 49, lines.begin() + 52);
    lines.insert(lines.begin() + 50, lines[50]);
    lines.insert(lines.begin() + 51, std::string("\0\xff\xfe binary \x80", 12));
    write();
    const auto events = attached();
    EXPECT_EQ(missing(events), 1 + 1 + 1 + 3);
    for (const int lost : {40, 42, 44, 50, 51, 52})
        EXPECT_TRUE(flag_field(events[static_cast<std::size_t>(lost)], "client")) << events[lost].dump();
    EXPECT_EQ(to_wire(events[45]).substr(0, 10), "{\"seq\":45,") << "the sound half of the joined line";
    EXPECT_FALSE(flag_field(events[45], "client"));
}

TEST_F(DamagedEvents, ALineThatIsTooLongToBeSent)
{
    ended_unseen();
    lines[40] = "{\"seq\":40,\"event\":\"step\",\"x\":\"" + std::string(5u << 20, 'x') + "\"}";
    write();
    EXPECT_EQ(missing(attached()), 1);
}

TEST_F(DamagedEvents, AnEndThatIsCut)
{
    ended_unseen();
    const std::string end = lines.back();
    lines.pop_back();
    write(end.substr(0, end.size() / 2));
    const auto events = attached();
    EXPECT_EQ(missing(events), 0);
    EXPECT_TRUE(flag_field(events.back(), "client"));
    EXPECT_NE(text_field(events.back(), "message").find("the last events are missing"), std::string::npos)
        << events.back().dump();
}

TEST_F(DamagedEvents, AFileThatIsEmptyNow)
{
    ended_unseen();
    lines.clear();
    write();
    attached();
}

TEST_F(DamagedEvents, AFileThatIsGone)
{
    ended_unseen();
    std::filesystem::remove(file());
    attached();
}

// The part that its client has not seen is damaged while the run goes on.
TEST_F(DamagedEvents, AStopEndsARunWhoseEventsAreDamaged)
{
    ClientProcess client(request(home, 2, {{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "10"}}));
    observer.id = client.id();
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(file()) && read_events(file()).size() > 3; }));
    client.end(SIGKILL);
    const auto size = [&] { return std::filesystem::file_size(file()); };
    const auto seen = size();
    ASSERT_TRUE(wait_until([&] { return size() > seen + 20000; }));
    {
        std::fstream out(file(), std::ios::binary | std::ios::in | std::ios::out);
        out.seekp(static_cast<std::streamoff>(size() - 6000));
        out << std::string(2000, '\0');
    }
    const auto result = stop_run(observer.id, observer, {});
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::cancelled);
    EXPECT_EQ(processes_of(observer.id), 0);
    const auto events = history();
    expect_whole(events, "cancelled");
    EXPECT_GT(missing(events), 2);
}

// The file lost its newest part, as after a disk that was set back: nothing that comes later is lost.
TEST_F(DamagedEvents, AFileThatGetsShorterWhileItIsFollowed)
{
    std::stop_source stop;
    bool cut = false;
    int at = 0;
    observer.each_event = [&](const Json& event) {
        const auto step = static_cast<int>(integer_field(event, "step"));
        if (step >= 50 && !std::exchange(cut, true)) {
            at = step;
            std::filesystem::resize_file(file(), 300);
        }
        if (cut && step > at + 100)
            stop.request_stop();
    };
    const auto result
        = launch(request(home, 2, {{"FAKE_STEPS", "100000"}, {"FAKE_STEP_MS", "10"}}), observer, stop.get_token());
    ASSERT_TRUE(result) << result.error().line();
    EXPECT_EQ(result->state, RunState::cancelled);
    expect_whole(history(), "cancelled");
}

} // namespace
} // namespace fourfold::test
