// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a run's stream by kind, and the keys of those that more than one program reads. What stands in an event
// comes from other programs: a missing or odd value is empty.
#pragma once

#include "core/base/json.h"
#include "core/base/words.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace fourfold {

enum class EventKind {
    start,
    step,
    eval,
    trace,
    checkpoint,
    warning,
    error,
    rank_end, // `end` of a rank, as the agent hands it on: only the agent ends a run
    end,
    missing, // stands for an event that could not be read
    other
};
template <>
inline constexpr auto kWords<EventKind> = std::to_array<std::string_view>(
    {"start", "step", "eval", "trace", "checkpoint", "warning", "error", "rank_end", "end", "missing", ""});

constexpr EventKind event_kind(std::string_view name)
{
    std::size_t i = 0;
    while (i + 1 < kWords<EventKind>.size() && kWords<EventKind>[i] != name)
        ++i;
    return static_cast<EventKind>(i);
}

inline EventKind kind_of(const Json& event)
{
    if (!event.is_object())
        return EventKind::other;
    const auto found = event.find("event");
    return found == event.end() || !found->is_string() ? EventKind::other
                                                       : event_kind(found->get_ref<const std::string&>());
}

// The number at `key`, empty when it is missing, null or something else.
inline std::optional<double> number_at(const Json& json, const char* key)
{
    if (!json.is_object())
        return std::nullopt;
    const auto found = json.find(key);
    return found == json.end() || !found->is_number() ? std::nullopt : std::optional(found->get<double>());
}

inline std::string string_at(const Json& json, const char* key)
{
    if (!json.is_object())
        return "";
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// What a `step` measures and the history keeps, by the key of the event and the column of the table `steps`.
struct StepValues {
    std::optional<double> loss, grad_norm, learning_rate, step_time_s, tps_per_gpu, tflops_per_gpu, mfu,
        memory_peak_gib;
};
inline constexpr std::array<std::pair<const char*, std::optional<double> StepValues::*>, 8> kStepValues{{
    {"loss", &StepValues::loss},
    {"grad_norm", &StepValues::grad_norm},
    {"learning_rate", &StepValues::learning_rate},
    {"step_time_s", &StepValues::step_time_s},
    {"tps_per_gpu", &StepValues::tps_per_gpu},
    {"tflops_per_gpu", &StepValues::tflops_per_gpu},
    {"mfu", &StepValues::mfu},
    {"memory_peak_gib", &StepValues::memory_peak_gib},
}};

inline StepValues step_values(const Json& event)
{
    StepValues out;
    for (const auto& [key, member] : kStepValues)
        out.*member = number_at(event, key);
    return out;
}

} // namespace fourfold
