// SPDX-License-Identifier: GPL-3.0-or-later
// A timeline as Chrome's trace event format ("Trace Event Format", Google, 2016), read by chrome://tracing and
// Perfetto: what `fourfold timeline` writes for a prediction and the trainer for a measured step.
#pragma once

#include "core/base/json.h"
#include "core/schedule/timeline.h"

namespace fourfold {

// One "X" event a span in microseconds, one track (tid) a stage, metadata names the tracks.
Json chrome_trace(const Timeline& timeline, const std::string& title);
// The timeline that chrome_trace() wrote. Errors name `where` and the event.
Expected<Timeline> timeline_from_chrome_trace(const Json& trace, const std::string& where);

} // namespace fourfold
