// SPDX-License-Identifier: GPL-3.0-or-later
// Frames, chunks and specifications against well-meaning, damaged and hostile input.
#include "runner/protocol/attempt.h"
#include "runner/protocol/chunk.h"
#include "runner/protocol/frame.h"
#include "runner/protocol/hash_cache.h"
#include "runner/protocol/interfaces.h"
#include "runner/protocol/message.h"
#include "runner/protocol/run_spec.h"
#include "tests/damaged.h"
#include "tests/runner/support.h"

#include <fstream>
#include <random>

namespace fourfold::test {
namespace {

TEST(Frames, SurviveAnyCutting)
{
    std::mt19937 random(7);
    std::string wire;
    std::vector<std::string> payloads;
    for (int i = 0; i < 200; ++i) {
        std::string payload(random() % 3000, '\0');
        for (char& c : payload)
            c = static_cast<char>(random());
        wire += encode_frame(i % 3 ? FrameKind::data : FrameKind::json, payload);
        payloads.push_back(std::move(payload));
    }
    FrameParser parser;
    std::vector<std::string> found;
    for (std::size_t at = 0; at < wire.size();) {
        const std::size_t size = std::min<std::size_t>(1 + random() % 700, wire.size() - at);
        parser.feed(std::string_view(wire).substr(at, size));
        at += size;
        for (;;) {
            auto frame = parser.next();
            ASSERT_TRUE(frame);
            if (!*frame)
                break;
            found.push_back((*frame)->payload);
        }
    }
    EXPECT_EQ(found, payloads);
    EXPECT_FALSE(parser.in_frame());
}

TEST(Frames, RefuseWhatIsNone)
{
    FrameParser noise;
    noise.feed("Welcome to node1\n");
    const auto frame = noise.next();
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code, ProblemCode::network);
    noise.feed(encode_frame(FrameKind::json, "{}"));
    EXPECT_FALSE(noise.next()) << "a stream out of step stays so";

    FrameParser huge;
    huge.feed(std::string_view("J\xff\xff\xff\xff", 5));
    ASSERT_FALSE(huge.next());
    FrameParser waiting;
    waiting.feed(std::string_view("D\x00\x00\x40\x00", 5)); // 4 MiB exactly: allowed, not there yet
    const auto none = waiting.next();
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
}

TEST(Frames, FuzzedStreamsNeverYieldOversizedFrames)
{
    std::mt19937 random(11);
    for (int round = 0; round < 3000; ++round) {
        const unsigned flips = random() % 4;
        const std::string wire = damaged(
            encode_frame(FrameKind::json, "{\"do\":\"hello\"}") + encode_frame(FrameKind::data, "abc"), flips, random);
        FrameParser parser;
        parser.feed(wire);
        for (int i = 0; i < 10; ++i) {
            const auto frame = parser.next();
            if (!frame || !*frame)
                break;
            ASSERT_LE((*frame)->payload.size(), wire.size());
        }
    }
}

TEST(Attempts, AreRunsOfTheirOwn)
{
    const std::string first = "01M82VXW86DQ2831K30FY6P5CW";
    EXPECT_EQ(attempt_id({first, 0}), first);
    EXPECT_EQ(attempt_id({first, 12}), first + "A12");
    EXPECT_TRUE(is_run_id(attempt_id({first, 12})));
    EXPECT_EQ(attempt_of(first + "A12").run, first);
    EXPECT_EQ(attempt_of(first + "A12").number, 12);
    for (const std::string& id :
        {first, first + "A", first + "A0", first + "B1", first + "A1x", std::string("01AA1")}) {
        EXPECT_EQ(attempt_of(id).run, id);
        EXPECT_EQ(attempt_of(id).number, 0) << id;
    }
}

TEST(Chunks, RoundTripAndDamage)
{
    std::mt19937 random(3);
    std::string raw(kChunkBytes, '\0');
    for (std::size_t i = 0; i < raw.size(); ++i)
        raw[i] = static_cast<char>(random() % 7);
    const std::string small = compress_chunk(raw);
    EXPECT_LT(small.size(), raw.size() / 2);
    const auto back = expand_chunk(small);
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, raw);
    EXPECT_TRUE(expand_chunk(compress_chunk("")));
    EXPECT_FALSE(expand_chunk("not zstd"));
    EXPECT_FALSE(expand_chunk(std::string_view(small).substr(0, small.size() / 2)));
    for (int round = 0; round < 500; ++round) {
        const auto got = expand_chunk(damaged(small, 1, random));
        if (got) {
            ASSERT_LE(got->size(), kChunkBytes);
        }
    }
}

RunSpec spec()
{
    RunSpec out;
    out.run = "01ABC";
    out.node = 1;
    out.nodes = 2;
    out.host = "user@host:22";
    out.address = "10.0.0.1";
    out.world_size = 4;
    out.ranks = {{2, 0, {{"tp", 0}}}, {3, 1, {{"tp", 1}}}};
    out.program = "bin/fourfold-trainer";
    out.files = {{"bin/fourfold-trainer", std::string(64, 'a'), 10, {}}, {"data/0/x.txt", {}, 3, "/data/x.txt"}};
    out.plan = {{"model", "m"}};
    out.environment = {{"NCCL_DEBUG", "a b 'c' $(d)"}};
    out.start_facts = {{"plan_hash", "h"}};
    return out;
}

TEST(Spec, RoundTrip)
{
    const Json json = to_json(spec());
    const auto back = run_spec_from_json(Json::parse(to_wire(json)));
    ASSERT_TRUE(back) << back.error().line();
    EXPECT_EQ(to_json(*back), json);
}

TEST(Spec, RefusesWhatWouldEscape)
{
    const auto refused = [](const std::function<void(RunSpec&)>& change) {
        RunSpec bad = spec();
        change(bad);
        return !run_spec_from_json(to_json(bad));
    };
    EXPECT_TRUE(refused([](RunSpec& s) { s.run = "../x"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.run = ""; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.files[0].name = s.program = "../bin/sh"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.files[0].name = s.program = "/bin/sh"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.files[0].name = s.program = "bin//x"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.files[0].sha256 = "abc"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.files[1].in_place = "relative"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.program = "bin/other"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.ranks[1].rank = 2; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.ranks[1].rank = 4; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.ranks.clear(); }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.node = 2; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.environment["RANK"] = "0"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.environment["A=B"] = "0"; }));
    EXPECT_TRUE(refused([](RunSpec& s) { s.environment["X"] = std::string("a\0b", 3); }));
}

TEST(Spec, FuzzedDocumentsNeverBreakTheReader)
{
    std::mt19937 random(5);
    const std::string text = to_wire(to_json(spec()));
    int read = 0;
    for (int round = 0; round < 5000; ++round) {
        std::string damaged = text;
        for (unsigned flips = 1 + random() % 3; flips > 0; --flips)
            damaged[random() % damaged.size()] = "{}[],:\"0a-\\/."[random() % 13];
        const auto json = parse_json(damaged, "fuzz");
        if (!json)
            continue;
        const auto found = run_spec_from_json(*json);
        if (!found)
            continue;
        ++read;
        ASSERT_TRUE(is_run_id(found->run));
        for (const RunFile& file : found->files)
            ASSERT_TRUE(is_plain_relative_path(file.name));
    }
    EXPECT_GT(read, 0);
}

TEST(Messages, FieldsOfTheWrongTypeAreAbsent)
{
    const Json json = {{"text", 3}, {"number", "x"}, {"flag", 1}, {"list", 5}};
    EXPECT_EQ(text_field(json, "text", "none"), "none");
    EXPECT_EQ(integer_field(json, "number", 7), 7);
    EXPECT_EQ(flag_field(json, "flag", true), true);
    EXPECT_TRUE(array_field(json, "list").empty());
    EXPECT_TRUE(object_field(Json(3), "x").empty());
    const Problem problem{ProblemCode::refused, "no", "try", "there"};
    const Problem back = problem_from_reply(error_reply(problem), "host");
    EXPECT_EQ(back.code, problem.code);
    EXPECT_EQ(back.line(), "host: there: no (try)");
    EXPECT_EQ(problem_from_reply(error_reply(problem), "there").line(), "there: no (try)") << "named once";
    EXPECT_EQ(problem_from_reply(error_reply(problem), "").line(), "there: no (try)")
        << "of a process of the same host";
}

TEST(Hashes, AreRememberedUntilTheFileChanges)
{
    const Home home;
    const auto file = home.path() / "file", cache = home.path() / "cache.json";
    std::ofstream(file) << "one";
    std::string first;
    {
        HashCache hashes(cache);
        first = *hashes.sha256(file);
    }
    HashCache hashes(cache);
    EXPECT_EQ(*hashes.sha256(file), first);
    const auto time = std::filesystem::last_write_time(file);
    std::ofstream(file) << "two";
    std::filesystem::last_write_time(file, time); // as a forger would
    const auto second = hashes.sha256(file);
    ASSERT_TRUE(second);
    EXPECT_NE(*second, first);
    EXPECT_FALSE(hashes.sha256(home.path()));
    EXPECT_FALSE(hashes.sha256(home.path() / "none"));
    std::ofstream(cache) << "{ damaged";
    HashCache damaged(cache);
    EXPECT_EQ(*damaged.sha256(file), *second);
}

TEST(Interfaces, AreFoundAsNcclFindsThem)
{
    const Json there
        = Json::parse(R"([{"name": "lo", "address": "127.0.0.1"}, {"name": "eth10", "address": "10.0.0.10"},
        {"name": "eth1", "address": "10.0.0.1"}, {"name": "ib0", "address": "fd00::1"}, 7, {"name": 5}])");
    const std::pair<const char*, const char*> cases[] = {{"eth1", "10.0.0.1"}, {"eth", "10.0.0.10"}, {"=eth", ""},
        {"=eth1", "10.0.0.1"}, {"ib,eth", "fd00::1"}, {"wlan,eth1", "10.0.0.1"}, {"^lo", ""}, {"", ""}, {"wlan", ""}};
    for (const auto& [wanted, address] : cases)
        EXPECT_EQ(address_of_interface(there, wanted), address) << wanted;
    EXPECT_FALSE(names_interface("^lo"));
    EXPECT_EQ(address_of_interface(Json("text"), "eth0"), "");
    EXPECT_EQ(interfaces_text(Json::array({there[0], there[3]})), "lo 127.0.0.1, ib0 fd00::1");
}

} // namespace
} // namespace fourfold::test
