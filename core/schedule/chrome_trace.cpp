// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/chrome_trace.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

constexpr const char* kSteady = "steady"; // category of the micro-batches without spans
constexpr int kMostCount = 1 << 30; // of micro-batches and chunks

std::string label(const Span& span)
{
    std::string text(name(span.kind));
    if (span.micro_batch >= 0)
        text += " " + std::to_string(span.micro_batch);
    return text;
}

// A whole number from `least` to `most`.
std::optional<int> whole(const Json& value, int least, int most)
{
    if (!value.is_number_integer() || value.get<double>() > most || value.get<double>() < least)
        return std::nullopt;
    return value.get<int>();
}

Expected<Span> span_of(const Json& event)
{
    constexpr int kMostStages = 1 << 16;
    const auto wrong = [](const std::string& message) {
        return Problem{ProblemCode::bad_input, message, "give a trace that Fourfold wrote", ""};
    };
    const auto kind = from_text<SpanKind>(event.at("cat").get<std::string>(), "");
    if (!kind)
        return wrong("unknown kind of span " + printable(event["cat"].dump(), 60));
    const auto stage = whole(event.at("tid"), 0, kMostStages - 1);
    if (!stage)
        return wrong("expected a stage from 0 to " + std::to_string(kMostStages - 1) + ", found "
            + printable(event["tid"].dump(), 60));
    Span span{*stage, *kind, -1, 0, event.at("ts").get<double>() * 1e-6, 0};
    span.end_s = span.start_s + event.at("dur").get<double>() * 1e-6;
    if (!std::isfinite(span.start_s) || !std::isfinite(span.end_s))
        return wrong("the times of the span are no finite numbers");
    if (event.contains("args")) {
        const auto micro_batch = whole(event["args"].at("micro_batch"), -1, kMostCount);
        const auto chunk = whole(event["args"].at("chunk"), 0, kMostCount);
        if (!micro_batch || !chunk)
            return wrong("expected whole numbers micro_batch and chunk, found " + printable(event["args"].dump(), 60));
        span.micro_batch = *micro_batch;
        span.chunk = *chunk;
    }
    return span;
}

} // namespace

Json chrome_trace(const ListedStep& step, const std::string& title)
{
    const Timeline& timeline = step.timeline;
    Json events = Json::array();
    events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"args", {{"name", title}}}});
    for (int stage = 0; stage < timeline.stages; ++stage) {
        events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 0}, {"tid", stage},
            {"args", {{"name", "stage " + std::to_string(stage)}}}});
        events.push_back({{"name", "thread_sort_index"}, {"ph", "M"}, {"pid", 0}, {"tid", stage},
            {"args", {{"sort_index", stage}}}});
    }
    for (const Span& span : timeline.spans) {
        Json event{{"name", label(span)}, {"cat", std::string(name(span.kind))}, {"ph", "X"}, {"pid", 0},
            {"tid", span.stage}, {"ts", span.start_s * 1e6}, {"dur", (span.end_s - span.start_s) * 1e6}};
        if (span.micro_batch >= 0)
            event["args"] = {{"micro_batch", span.micro_batch}, {"chunk", span.chunk}};
        events.push_back(std::move(event));
    }
    for (int stage = 0; step.steady && stage < timeline.stages; ++stage)
        events.push_back(
            {{"name", steady_words(*step.steady)}, {"cat", kSteady}, {"ph", "X"}, {"pid", 0}, {"tid", stage},
                {"ts", step.steady->begin_s * 1e6}, {"dur", (step.steady->end_s - step.steady->begin_s) * 1e6},
                {"args", {{"micro_batches", step.steady->micro_batches}}}});
    return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"},
        {"otherData", {{"title", title}, {"step_time_s", timeline.length_s}}}};
}

Expected<Timeline> timeline_from_chrome_trace(const Json& trace, const std::string& where)
{
    Timeline timeline;
    int number = 0;
    try {
        for (const Json& event : trace.at("traceEvents")) {
            ++number;
            if (event.at("ph") != "X" || event.at("cat") == kSteady)
                continue;
            auto span = span_of(event);
            if (!span) {
                span.error().where = where + " traceEvents[" + std::to_string(number - 1) + "]";
                return std::move(span).error();
            }
            timeline.stages = std::max(timeline.stages, span->stage + 1);
            timeline.spans.push_back(*span);
        }
        timeline.length_s = trace.at("otherData").at("step_time_s").get<double>();
        if (!std::isfinite(timeline.length_s))
            return Problem{ProblemCode::bad_input, "the step's time is no finite number",
                "give a trace that Fourfold wrote", where + " otherData.step_time_s"};
    } catch (const Json::exception&) {
        return Problem{ProblemCode::bad_input, "not a trace of a step: a key is missing or of another kind",
            "give a trace that Fourfold wrote",
            where + " traceEvents[" + std::to_string(std::max(0, number - 1)) + "]"};
    }
    return timeline;
}

std::optional<SteadyPart> steady_part_of_chrome_trace(const Json& trace)
{
    try {
        for (const Json& event : trace.at("traceEvents")) {
            if (event.at("ph") != "X" || event.at("cat") != kSteady)
                continue;
            const double begin_s = event.at("ts").get<double>() * 1e-6, length_s = event.at("dur").get<double>() * 1e-6;
            const std::optional<int> micro_batches = whole(event.at("args").at("micro_batches"), 1, kMostCount);
            if (micro_batches && std::isfinite(begin_s + length_s) && length_s > 0)
                return SteadyPart{begin_s, begin_s + length_s, *micro_batches};
        }
    } catch (const Json::exception&) {
        return {}; // of another form: as if nothing were left out
    }
    return {};
}

} // namespace fourfold
