// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_alert.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/history/run_event.h"

#include <algorithm>
#include <ctime>
#include <limits>

namespace fourfold::view {

std::optional<RunAlert> alert_of(const Json& event)
{
    if (kind_of(event) != EventKind::warning)
        return {};
    const auto watch = event.find("watch");
    if (watch == event.end() || !watch->is_object())
        return {};
    RunAlert alert;
    alert.step = static_cast<int>(std::clamp(number_at(event, "step").value_or(0), 0.0, 2e9));
    alert.text = printable(string_at(event, "message"), 500);
    alert.stops = string_at(*watch, "action") == "stop";
    return alert;
}

double age_of(const Json& event)
{
    const std::optional<std::time_t> written = seconds_of(string_at(event, "time"));
    return written ? std::difftime(std::time(nullptr), *written) : std::numeric_limits<double>::infinity();
}

} // namespace fourfold::view
