// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's own watch (`run.watch` of the plan) reports while it trains: a loss or gradient norm that stands out.
#pragma once

#include "core/base/json.h"

#include <optional>
#include <string>

namespace fourfold::view {

struct RunAlert {
    int step = 0;
    std::string text; // what the run says of it
    bool stops = false; // the run ends by it
};
// Of a `warning` of the watch; other events and other warnings are none.
std::optional<RunAlert> alert_of(const Json& event);

// Seconds since the event was written, by this computer's clock; events of hours ago come when a run is caught up with.
// Infinite where it has no time.
double age_of(const Json& event);

} // namespace fourfold::view
