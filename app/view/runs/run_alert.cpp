// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_alert.h"

#include "app/view/text.h"
#include "core/base/text.h"
#include "core/history/run_event.h"

#include <algorithm>
#include <ctime>

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
    const std::string action = printable(string_at(*watch, "action"));
    alert.stops = action == "stop";
    // What is not finite has no limit that it went beyond.
    alert.rule = std::string("run.watch.") + (number_at(*watch, "limit") ? "spike" : "not_finite")
        + (action.empty() ? "" : " = " + action);
    const std::string written = string_at(event, "time");
    alert.time = local_time(written, "%H:%M:%S").value_or("");
    if (const std::optional<std::time_t> seconds = seconds_of(written))
        alert.age_s = std::difftime(std::time(nullptr), *seconds);
    return alert;
}

std::string alert_line(const RunAlert& alert)
{
    return alert.time + (alert.time.empty() ? "" : " ") + "step " + grouped(alert.step) + ", " + alert.rule + ": "
        + alert.text;
}

} // namespace fourfold::view
