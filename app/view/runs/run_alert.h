// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's own watch (`run.watch` of the plan) reports while it trains: a loss or gradient norm that stands out.
#pragma once

#include "core/base/json.h"

#include <limits>
#include <optional>
#include <string>

namespace fourfold::view {

struct RunAlert {
    int step = 0;
    std::string text; // what the run says of it
    bool stops = false; // the run ends by it
    std::string time; // "12:34:56", local; empty: not told
    std::string rule; // "run.watch.spike = warn"
    double age_s
        = std::numeric_limits<double>::infinity(); // since it was written, when it was read; infinite: not known
};
// Of a `warning` of the watch; other events and other warnings are none. Alerts of hours ago come when a run is caught
// up with: `age_s` is by this computer's clock.
std::optional<RunAlert> alert_of(const Json& event);
// "12:34:56 step 12, run.watch.spike = warn: the loss 9.0 stands out"
std::string alert_line(const RunAlert& alert);

} // namespace fourfold::view
