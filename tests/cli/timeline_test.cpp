// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold timeline`: files of a step, predicted and measured.
#include "core/schedule/chrome_trace.h"
#include "tests/cli/program.h"

#include <cmath>
#include <map>
#include <utility>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

class TimelineCommand : public ProgramTest { };

TEST_F(TimelineCommand, WritesAllThreeForms)
{
    const std::string plan = file("p.json", plan_text(R"({"layout": {"pp": 2, "dp": 4}})"));
    for (const char* name : {"t.json", "t.svg", "t.png"}) {
        const Output output = fourfold({"timeline", plan, "--output", name});
        EXPECT_EQ(output.status, 0) << output.err;
        EXPECT_EQ(output.out, "");
        EXPECT_GT(std::filesystem::file_size(folder() / name), 100u);
    }
    auto trace = read_json_file(folder() / "t.json");
    ASSERT_TRUE(trace.has_value());
    const Json events = trace->is_array() ? *trace : (*trace)["traceEvents"];
    std::set<int> stages;
    double end = 0;
    for (const Json& event : events) {
        if (event["ph"] != "X")
            continue;
        stages.insert(event["tid"].get<int>());
        end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    }
    EXPECT_EQ(stages.size(), 2u);
    const double step = json_of(fourfold({"predict", plan, "--json"}))["step_time_s"];
    EXPECT_LE(end, step * 1e6 * 1.000001);
    EXPECT_GT(end, step * 1e6 * 0.5);
}

TEST_F(TimelineCommand, ReplacesNothingThatItReads)
{
    const std::string plan = file("p.json", plan_text());
    const std::string events = file("events.svg", "{}\n");
    expect_problem(fourfold({"timeline", plan, "--output", "./p.json"}), 2, "./p.json: is what the command reads");
    expect_problem(fourfold({"timeline", plan, "--measured", events, "--output", events}), 2, "would be lost");
    EXPECT_EQ(*read_text_file(folder() / "p.json"), plan_text());
}

// Of very many micro-batches not all are listed; where the others run no stage is idle.
TEST_F(TimelineCommand, SaysWhatItDoesNotList)
{
    const std::string plan
        = file("p.json", plan_text(R"({"training": {"global_batch": 1640000}})")); // 205,000 micro-batches
    const Output output = fourfold({"timeline", plan, "--output", "t.json"});
    ASSERT_EQ(output.status, 0) << output.err;
    const std::string words = "5,000 more micro-batches like these";
    EXPECT_THAT(output.err, HasSubstr("not listed: " + words + ", from "));

    const auto trace = read_json_file(folder() / "t.json");
    ASSERT_TRUE(trace);
    std::map<int, std::pair<double, double>> without; // of a stage; microseconds
    for (const Json& event : (*trace)["traceEvents"]) {
        if (event["name"] == words)
            without[event["tid"].get<int>()] = {event["ts"].get<double>(), event["dur"].get<double>()};
    }
    ASSERT_EQ(without.size(), 1u);
    const double step = (*trace)["otherData"]["step_time_s"].get<double>() * 1e6;
    EXPECT_NEAR(without[0].second / step, 5000.0 / 205000, 0.01);
    std::size_t spans = 0;
    for (const Json& event : (*trace)["traceEvents"]) {
        if (event["ph"] != "X" || event["name"] == words)
            continue;
        ++spans;
        const auto [begin, length] = without[event["tid"].get<int>()];
        ASSERT_FALSE(event["ts"].get<double>() < begin + length - 1
            && event["ts"].get<double>() + event["dur"].get<double>() > begin + 1)
            << event << " lies where nothing is listed";
    }
    // It is no span of its own for who reads the trace again.
    const auto read = timeline_from_chrome_trace(*trace, "t.json");
    ASSERT_TRUE(read) << read.error().line();
    EXPECT_EQ(read->spans.size(), spans);

    EXPECT_THAT(fourfold({"table", plan, "timeline"}).out, HasSubstr(words));
    const Output few = fourfold({"timeline", file("few.json", plan_text()), "--output", "few.json"});
    EXPECT_THAT(few.err, Not(HasSubstr("not listed")));
}

TEST_F(TimelineCommand, DrawsKernelsAndParts)
{
    const std::string plan = file("p.json", plan_text(R"({"layout": {"pp": 2, "dp": 4}})"));
    const Output output = fourfold({"timeline", plan, "--kernels", "--output", "kernels.svg"});
    ASSERT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.err, HasSubstr("wrote kernels.svg: "));
    EXPECT_THAT(output.err, HasSubstr(" streams, "));
    ASSERT_EQ(fourfold({"timeline", plan, "--kernels", "--between", "0", "0.05", "--output", "part.svg"}).status, 0);
    EXPECT_NE(*read_text_file(folder() / "part.svg"), *read_text_file(folder() / "kernels.svg"));
    ASSERT_EQ(fourfold({"timeline", plan, "--output", "all.svg"}).status, 0);
    ASSERT_EQ(fourfold({"timeline", plan, "--between", "0", "0.5", "--output", "half.svg"}).status, 0);
    EXPECT_NE(*read_text_file(folder() / "half.svg"), *read_text_file(folder() / "all.svg"));
    expect_problem(fourfold({"timeline", plan, "--between", "2", "1", "--output", "t.svg"}), 2, "--between");
    expect_problem(fourfold({"timeline", plan, "--between", "1", "2", "--output", "t.json"}), 2, "--between");
    expect_problem(fourfold({"timeline", plan, "--kernels", "--output", "t.json"}), 2, ".svg");
    EXPECT_FALSE(std::filesystem::exists(folder() / "t.json"));
}

TEST_F(TimelineCommand, DrawsWhatARunMeasured)
{
    const std::string plan = file("p.json", plan_text(R"({"layout": {"pp": 2, "dp": 4}})"));
    ASSERT_EQ(fourfold({"timeline", plan, "--output", "t.json"}).status, 0);
    auto trace = read_json_file(folder() / "t.json");
    ASSERT_TRUE(trace.has_value());
    (*trace)["event"] = "trace";
    const std::string events = file("events.jsonl", "{\"event\": \"start\"}\n" + trace->dump() + "\n");
    // The traced step of a run is drawn as it is, whatever the plan would predict.
    const Output output = fourfold(
        {"timeline", plan, "--set", "layout.pp=1", "--set", "layout.dp=8", "--measured", events, "--output", "m.json"});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.out, HasSubstr("an average stage, the furthest off first\n"));
    EXPECT_THAT(output.out, HasSubstr("  forward: "));
    const auto drawn = read_json_file(folder() / "m.json");
    ASSERT_TRUE(drawn.has_value());
    EXPECT_EQ((*drawn)["traceEvents"].size(), (*trace)["traceEvents"].size());
    expect_problem(fourfold({"timeline", plan, "--measured", "none.jsonl", "--output", "m.svg"}), 2, "none.jsonl");
    expect_problem(fourfold({"timeline", plan, "--measured", file("short.jsonl", "{\"event\": \"start\"}\n"),
                       "--output", "m.svg"}),
        2, "holds no trace event");
    expect_problem(
        fourfold({"timeline", plan, "--measured", file("events.jsonl.gz", "\x1f\x8b\x08\n"), "--output", "m.svg"}), 2,
        "is packed by gzip");
    expect_problem(fourfold({"timeline", plan, "--measured", "/dev/zero", "--output", "m.svg"}), 2,
        "line 1 is longer than 16 MiB");
}

} // namespace
} // namespace fourfold::test
