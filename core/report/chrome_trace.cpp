// SPDX-License-Identifier: GPL-3.0-or-later
// Chrome's trace event format ("Trace Event Format", Google, 2016), read by chrome://tracing and Perfetto.
#include "core/report/timeline_export.h"

namespace fourfold {
namespace {

std::string label(const Span& span)
{
    std::string text(name(span.kind));
    if (span.micro_batch >= 0)
        text += " " + std::to_string(span.micro_batch);
    return text;
}

} // namespace

Json chrome_trace(const Timeline& timeline, const std::string& title)
{
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
    return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"},
        {"otherData", {{"title", title}, {"step_time_s", timeline.length_s}}}};
}

} // namespace fourfold
