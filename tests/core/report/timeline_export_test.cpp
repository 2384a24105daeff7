// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/report/chart.h"
#include "core/report/timeline_export.h"
#include "core/report/timeline_painter.h"
#include "core/schedule/schedules.h"
#include "tests/core/report/pixels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

namespace fourfold {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Folder {
public:
    Folder()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "fourfold-report-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }
    [[nodiscard]] int files() const
    {
        int count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_))
            ++count;
        return count;
    }

private:
    std::filesystem::path path_;
};

Timeline pipeline(int pp, int micro_batches)
{
    const auto actions = make_schedule(Schedule::one_f_one_b, pp, 1, micro_batches).value();
    ScheduleTimes times{std::vector<ChunkTimes>(std::size_t(pp), {0.001, 0.002, 0}), 0.0004};
    Timeline timeline = simulate(actions, times, 1);
    return timeline;
}

// Pixels by colour (0xRRGGBB) of the picture.
std::map<unsigned, int> colours(const Timeline& timeline)
{
    return counted_colours(pixels_of(
        timeline_picture_size(timeline), [&](cairo_t* cairo) { paint_timeline(cairo, timeline, "A title"); }));
}

TEST(ChromeTrace, OneTrackAStageInMicroseconds)
{
    const Timeline timeline = pipeline(3, 4);
    const Json trace = chrome_trace(timeline, "three stages");
    std::map<int, int> spans;
    int names = 0;
    for (const Json& event : trace["traceEvents"]) {
        if (event["ph"] == "X") {
            ++spans[event["tid"].get<int>()];
            EXPECT_GE(event["dur"].get<double>(), 0);
        } else if (event["name"] == "thread_name") {
            EXPECT_EQ(event["args"]["name"], "stage " + std::to_string(names++));
        }
    }
    EXPECT_EQ(names, 3);
    EXPECT_EQ(spans.size(), 3U);
    const Json& first = *std::find_if(
        trace["traceEvents"].begin(), trace["traceEvents"].end(), [](const Json& e) { return e["ph"] == "X"; });
    EXPECT_EQ(first["name"], "forward 0");
    EXPECT_EQ(first["ts"], 0);
    EXPECT_NEAR(first["dur"].get<double>(), 1000, 1e-6);
    EXPECT_EQ(first["args"]["micro_batch"], 0);
    EXPECT_THAT(trace.dump(), HasSubstr("three stages"));
}

// A node's word: numbers that no pipeline has are refused before anything is made of them.
TEST(ChromeTrace, AbsurdNumbersAreNamed)
{
    const Json good = chrome_trace(pipeline(2, 3), "t");
    const auto event
        = std::size_t(std::find_if(good["traceEvents"].begin(), good["traceEvents"].end(), [](const Json& e) {
              return e["ph"] == "X";
          }) - good["traceEvents"].begin());
    struct Bad {
        const char *key, *value, *part;
    };
    for (const Bad& bad : {Bad{"tid", "2147483647", "stage"}, Bad{"tid", "-1", "stage"}, Bad{"tid", "1e300", "stage"},
             Bad{"tid", "18446744073709551615", "stage"}, Bad{"cat", "\"sleep\"", "kind of span"},
             Bad{"args", R"({"micro_batch": 1099511627776, "chunk": 0})", "micro_batch"},
             Bad{"args", R"({"micro_batch": 0, "chunk": -3})", "chunk"}}) {
        Json trace = good;
        trace["traceEvents"][event][bad.key] = Json::parse(bad.value);
        const auto timeline = timeline_from_chrome_trace(trace, "trace");
        ASSERT_FALSE(timeline) << bad.key << " " << bad.value;
        EXPECT_THAT(timeline.error().line(), HasSubstr(bad.part));
        EXPECT_THAT(timeline.error().line(), HasSubstr("traceEvents[" + std::to_string(event) + "]"));
    }
}

TEST(ChromeTrace, ReadsBackWhatItWrote)
{
    Timeline timeline = pipeline(2, 3);
    timeline.spans.push_back({1, SpanKind::optimizer, -1, 0, timeline.length_s, timeline.length_s + 0.004});
    timeline.length_s += 0.004;
    const auto back = timeline_from_chrome_trace(chrome_trace(timeline, "t"), "trace");
    ASSERT_TRUE(back) << back.error().line();
    EXPECT_EQ(back->stages, 2);
    EXPECT_DOUBLE_EQ(back->length_s, timeline.length_s);
    ASSERT_EQ(back->spans.size(), timeline.spans.size());
    for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
        EXPECT_EQ(back->spans[i].kind, timeline.spans[i].kind);
        EXPECT_EQ(back->spans[i].stage, timeline.spans[i].stage);
        EXPECT_EQ(back->spans[i].micro_batch, timeline.spans[i].micro_batch);
        EXPECT_EQ(back->spans[i].chunk, timeline.spans[i].chunk);
        EXPECT_NEAR(back->spans[i].start_s, timeline.spans[i].start_s, 1e-12);
        EXPECT_NEAR(back->spans[i].end_s, timeline.spans[i].end_s, 1e-12);
    }

    Json wrong = chrome_trace(timeline, "t");
    wrong["traceEvents"].back()["cat"] = "coffee";
    const auto refused = timeline_from_chrome_trace(wrong, "trace");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().line(), HasSubstr("coffee"));
    EXPECT_FALSE(timeline_from_chrome_trace(Json::parse(R"({"traceEvents":[{"ph":"X"}]})"), "trace"));
}

TEST(Picture, ShowsEveryKindInItsColour)
{
    Timeline timeline = pipeline(4, 8);
    const double end = timeline.length_s;
    timeline.spans.push_back({3, SpanKind::gradient_reduce, -1, 0, end, end + 0.004});
    timeline.spans.push_back({3, SpanKind::optimizer, -1, 0, end + 0.004, end + 0.008});
    timeline.length_s = end + 0.008;
    auto counts = colours(timeline);
    for (unsigned colour : {0x0072B2U, 0xE69F00U, 0xCC79A7U, 0x56B4E9U, 0x009E73U})
        EXPECT_GT(counts[colour], 300) << std::hex << colour;
    EXPECT_GT(counts[0xFFFFFF], 10'000);
    EXPECT_GT(counts[0x1A1A1A] + counts[0x191919], 50) << "no text";
}

// The middle, where no span is though all stages work, does not look as if they waited.
TEST(Picture, HatchesWhatIsNotListed)
{
    Timeline timeline{2, 12, {}};
    for (int stage = 0; stage < 2; ++stage) {
        timeline.spans.push_back({stage, SpanKind::forward, 0, 0, 0, 3});
        timeline.spans.push_back({stage, SpanKind::forward, 1, 0, 9, 12});
    }
    const std::optional<SteadyPart> steady = steady_part(timeline, 1024);
    ASSERT_TRUE(steady);
    EXPECT_EQ(steady->begin_s, 3);
    EXPECT_EQ(steady->end_s, 9);
    const auto counts = [&](const std::optional<SteadyPart>& part) {
        return counted_colours(pixels_of(timeline_picture_size(timeline), [&](cairo_t* cairo) {
            paint_timeline(cairo, {timeline, part}, "A title");
        }));
    };
    constexpr unsigned kIdle = 0xF0F0F0;
    EXPECT_GT(counts({})[kIdle], 50'000);
    auto hatched = counts(steady);
    EXPECT_LT(hatched[kIdle], 1'000);
    int lines = 0; // darker than the ground, and of no kind
    for (const auto& [colour, count] : hatched)
        lines += colour != kIdle && colour % 0x10101 == 0 && colour > 0x808080 && colour < 0xF0F0F0 ? count : 0;
    EXPECT_GT(lines, 5'000);
}

TEST(ChromeTrace, SaysWhatIsNotListed)
{
    const Timeline timeline = pipeline(2, 3);
    const SteadyPart steady{0.004, 0.006, 1544};
    Json trace = chrome_trace({timeline, steady}, "t");
    int said = 0;
    for (const Json& event : trace["traceEvents"]) {
        if (event["name"] != "1,544 more micro-batches like these")
            continue;
        EXPECT_EQ(event["tid"], said++);
        EXPECT_NEAR(event["ts"].get<double>(), 4000, 1e-6);
        EXPECT_NEAR(event["dur"].get<double>(), 2000, 1e-6);
    }
    EXPECT_EQ(said, 2);
    const auto read = timeline_from_chrome_trace(trace, "trace");
    ASSERT_TRUE(read) << read.error().line();
    EXPECT_EQ(read->spans.size(), timeline.spans.size());
    const auto again = steady_part_of_chrome_trace(trace);
    ASSERT_TRUE(again);
    EXPECT_NEAR(again->begin_s, steady.begin_s, 1e-12);
    EXPECT_NEAR(again->end_s, steady.end_s, 1e-12);
    EXPECT_EQ(again->micro_batches, steady.micro_batches);
    EXPECT_FALSE(steady_part_of_chrome_trace(chrome_trace(timeline, "t")));

    for (Json& event : trace["traceEvents"]) { // a file's word
        if (event.value("cat", "") == "steady")
            event["args"]["micro_batches"] = -4;
    }
    EXPECT_FALSE(steady_part_of_chrome_trace(trace));
    for (Json& event : trace["traceEvents"]) {
        if (event.value("cat", "") == "steady")
            event.erase("args");
    }
    EXPECT_FALSE(steady_part_of_chrome_trace(trace));
}

TEST(Picture, ManySpansAreDrawnByColumn)
{
    const Timeline timeline = pipeline(16, 1500);
    ASSERT_GT(timeline.spans.size(), kMostRectangles);
    auto counts = colours(timeline);
    int coloured = 0;
    for (const auto& [colour, count] : counts)
        coloured += colour != 0xFFFFFF && colour != 0xF0F0F0 ? count : 0;
    EXPECT_GT(coloured, 300'000) << "the steady state is busy";
    EXPECT_GT(counts[0xE69F00], 10'000) << "columns that are backward all through";
}

TEST(Picture, IsNeverEmpty)
{
    for (const Timeline& timeline : {Timeline{}, Timeline{2, 0, {}}, Timeline{1, 5, {}}})
        EXPECT_GT(colours(timeline).size(), 10U) << "title and axis have anti-aliased edges";
    Timeline instant{1, 0, {{0, SpanKind::forward, 0, 0, 0, 0}}};
    EXPECT_GT(colours(instant).size(), 10U);
}

TEST(Picture, StaysWithinReasonWithManyStages)
{
    Timeline timeline;
    timeline.stages = 5000;
    timeline.length_s = 1;
    const PictureSize size = timeline_picture_size(timeline);
    EXPECT_LT(size.height, 12'000);
    EXPECT_GT(timeline_picture_size(Timeline{1, 1, {}}).height, 100);
}

TEST(Axis, TicksAreRound)
{
    EXPECT_DOUBLE_EQ(tick_step(69, 10), 10);
    EXPECT_DOUBLE_EQ(tick_step(31, 10), 5);
    EXPECT_DOUBLE_EQ(tick_step(0.0123, 10), 0.002);
    EXPECT_DOUBLE_EQ(tick_step(0, 10), 1);
    EXPECT_EQ(tick_text(20, 10), "20 s");
    EXPECT_EQ(tick_text(0.25, 0.25), "0.2 s");
    EXPECT_EQ(tick_text(0.004, 0.002), "4 ms");
    EXPECT_EQ(tick_text(2e-5, 1e-5), "20 us");
}

TEST(Export, WritesTheFourForms)
{
    const Folder folder;
    const Timeline timeline = pipeline(4, 8);
    for (const char* name : {"a.json", "a.svg", "a.png", "a.pdf"}) {
        const auto written = export_timeline(timeline, "Llama <3> & \"friends\" \xC3\xA4", folder.file(name));
        ASSERT_TRUE(written.has_value()) << written.error().line();
    }
    EXPECT_EQ(folder.files(), 4) << "no temporary file is left";
    EXPECT_TRUE(parse_json(*read_text_file(folder.file("a.json")), "a.json").has_value());
    const std::string svg = *read_text_file(folder.file("a.svg"));
    EXPECT_THAT(svg, StartsWith("<?xml"));
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_GT(svg.size(), 10'000U);
    EXPECT_THAT(*read_text_file(folder.file("a.png")), StartsWith("\x89PNG\r\n"));
    EXPECT_GT(std::filesystem::file_size(folder.file("a.png")), 5'000U);
    EXPECT_THAT(*read_text_file(folder.file("a.pdf")), StartsWith("%PDF-"));
}

// The shorter one ends where it does on the axis of the longer one.
TEST(Picture, TimelinesOverEachOtherHaveOneAxis)
{
    const Timeline half{1, 1, {{0, SpanKind::forward, 0, 0, 0, 1}}}, whole{1, 2, {{0, SpanKind::forward, 0, 0, 0, 2}}};
    const TitledTimeline both[]{{&half, "half"}, {&whole, "whole"}};
    const PictureSize size = timelines_picture_size(both);
    EXPECT_DOUBLE_EQ(size.height, timeline_picture_size(half).height + timeline_picture_size(whole).height);
    const auto blue = [&](std::span<const TitledTimeline> timelines) {
        return counted_colours(pixels_of(timelines_picture_size(timelines), [&](cairo_t* cairo) {
            paint_timelines(cairo, timelines, timelines_picture_size(timelines));
        }))[okabe::kBlue];
    };
    const int alone = blue({both, 1});
    EXPECT_NEAR(double(blue(both)) / alone, 1.5, 0.05) << "alone it is as long as the axis";
}

KernelFacts fact(const char* name, KernelKind kind)
{
    KernelFacts facts;
    facts.name = name;
    facts.kind = kind;
    return facts;
}

// Streams with the kernels of a profiler, in the colours of their kinds, and a part of the axis.
TEST(Picture, KernelsStandOnTheirStreams)
{
    KernelTimeline kernels;
    kernels.length_s = 4;
    kernels.facts = {fact("gemm of the MLP", KernelKind::product), fact("allgather", KernelKind::communication)};
    kernels.tracks = {{"rank 5, stream 7, compute", "", {{0, 2, 0}}}, {"rank 5, stream 20, fsdp", "", {{2, 4, 1}}}};
    const TitledTimeline one{nullptr, "A step", {}, &kernels};
    const PictureSize size = timelines_picture_size({&one, 1});
    const auto counts = [&](const TimePart& part) {
        return counted_colours(pixels_of(size, [&](cairo_t* cairo) { paint_timelines(cairo, {&one, 1}, size, part); }));
    };
    auto whole = counts({}), first = counts(std::pair(0.0, 1.0));
    EXPECT_GT(whole[okabe::kBlue], 10'000);
    EXPECT_NEAR(double(whole[okabe::kPurple]) / whole[okabe::kBlue], 1, 0.1) << "both last two of four seconds";
    EXPECT_NEAR(double(first[okabe::kBlue]) / whole[okabe::kBlue], 2, 0.1) << "it fills the first second";
    EXPECT_LT(first[okabe::kPurple], 500) << "the mark of the legend";

    const Folder folder; // words are curves in an SVG: a part so small that none fits has fewer
    const auto written = [&](const TimePart& part) {
        EXPECT_TRUE(export_timelines({&one, 1}, folder.file("kernels.svg"), {}, part));
        return read_text_file(folder.file("kernels.svg"))->size();
    };
    const std::size_t named = written({});
    kernels.facts[0].name.clear();
    EXPECT_LT(written({}), named) << "the kernel has its name";
}

TEST(Picture, ManyKernelsAreDrawnByColumn)
{
    KernelTimeline kernels;
    kernels.length_s = 1;
    kernels.facts = {fact("gemm", KernelKind::product), fact("silu", KernelKind::other)};
    KernelTrack& track = kernels.tracks.emplace_back(KernelTrack{"stage 0, compute", "", {}});
    constexpr int kMany = 100'000;
    for (int i = 0; i < kMany; ++i)
        track.spans.push_back({double(i) / kMany, (i + 0.9) / kMany, unsigned(i % 5 == 0)});
    const TitledTimeline one{nullptr, "A step", {}, &kernels};
    const PictureSize size = timelines_picture_size({&one, 1});
    auto counts = counted_colours(pixels_of(size, [&](cairo_t* cairo) { paint_timelines(cairo, {&one, 1}, size); }));
    int busy = 0;
    for (const auto& [colour, count] : counts)
        busy += (colour & 0xff) > (colour >> 16) + 0x40 ? count : 0; // blue, on idle ground
    EXPECT_GT(busy, 50'000);
}

TEST(Export, APictureIsAsLargeAsItIsAskedFor)
{
    const Folder folder;
    const Timeline timeline = pipeline(4, 8);
    const TitledTimeline both[]{{&timeline, "one"}, {&timeline, "the same"}};
    const auto number = [&](const std::string& file, std::size_t at) { // of a PNG's header, the greatest byte first
        const std::string bytes = *read_text_file(folder.file(file));
        unsigned value = 0;
        for (std::size_t i = at; i < at + 4; ++i)
            value = value << 8 | static_cast<unsigned char>(bytes[i]);
        return value;
    };
    for (const PictureSize& asked : {PictureSize{1600, 901}, PictureSize{200, 200}}) {
        ASSERT_TRUE(export_timelines(both, folder.file("both.png"), asked));
        EXPECT_EQ(number("both.png", 16), asked.width);
        EXPECT_EQ(number("both.png", 20), asked.height);
    }
    ASSERT_TRUE(export_timeline(timeline, "one", folder.file("one.svg"), PictureSize{700, 500}));
    EXPECT_THAT(*read_text_file(folder.file("one.svg")), HasSubstr("viewBox=\"0 0 700 500\""));
    EXPECT_FALSE(export_timelines(both, folder.file("both.json"))) << "two have no one trace";
}

TEST(Export, NamesTheEndingsItKnows)
{
    const Folder folder;
    const auto written = export_timeline(pipeline(2, 2), "x", folder.file("timeline.eps"));
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code, ProblemCode::bad_input);
    EXPECT_THAT(written.error().line(), HasSubstr(".json, .svg, .pdf or .png"));
    EXPECT_EQ(folder.files(), 0);
}

TEST(Export, AFolderThatDoesNotExistIsAProblem)
{
    const Folder folder;
    const auto written = export_timeline(pipeline(2, 2), "x", folder.file("no/such/folder/t.png"));
    ASSERT_FALSE(written.has_value());
    EXPECT_THAT(written.error().line(), HasSubstr("no/such/folder"));
    EXPECT_EQ(folder.files(), 0);
}

} // namespace
} // namespace fourfold
