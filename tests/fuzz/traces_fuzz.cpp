// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of steps that a node sent or a file holds: what is read is the same after it was written.
#include "core/schedule/chrome_trace.h"
#include "must.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace fourfold;
    const auto json = parse_json(fuzz::text_of(data, size), "fuzz");
    if (!json)
        return 0;
    const auto timeline = timeline_from_chrome_trace(*json, "fuzz");
    if (!timeline)
        return 0;
    for (const Span& span : timeline->spans)
        fuzz::must(span.stage >= 0 && span.stage < timeline->stages && span.micro_batch >= -1);
    const auto again = timeline_from_chrome_trace(chrome_trace(*timeline, "fuzz"), "fuzz");
    fuzz::must(again && again->stages == timeline->stages && again->spans.size() == timeline->spans.size());
    return 0;
}
