// SPDX-License-Identifier: GPL-3.0-or-later
// A timeline as Chrome's trace event format ("Trace Event Format", Google, 2016), read by chrome://tracing and
// Perfetto: what `fourfold timeline` writes for a prediction and the trainer for a measured step.
#pragma once

#include "core/base/json.h"
#include "core/schedule/steady_part.h"

namespace fourfold {

// One "X" event a span in microseconds, one track (tid) a stage, metadata names the tracks. Of micro-batches that have
// no spans an event for each stage, as long as they take.
Json chrome_trace(const ListedStep& step, const std::string& title);
// The timeline that chrome_trace() wrote. Errors name `where` and the event.
Expected<Timeline> timeline_from_chrome_trace(const Json& trace, const std::string& where);
// What such a timeline leaves out.
std::optional<SteadyPart> steady_part_of_chrome_trace(const Json& trace);

} // namespace fourfold
