// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a run, a struct for each kind with one table of its keys, through which whoever writes one and whoever
// reads one go; resources/schemas/events.schema.json has the same keys. Units are there.
#pragma once

#include "core/history/run_event.h"

#include <cmath>
#include <cstdint>
#include <variant>

namespace fourfold {

// A key beside the member that holds it. An empty member is not written, or as null where `always`.
template <typename Event>
struct EventKey {
    const char* key;
    std::variant<std::string Event::*, std::optional<std::int64_t> Event::*, std::optional<double> Event::*,
        Json Event::*>
        member;
    bool always = false;
};
// Of each event, in the order in which they are written.
template <typename Event>
inline constexpr auto kEventKeys = nullptr;

// The rank stands before the kind of event, and is written with it.
struct StartEvent {
    static constexpr EventKind kKind = EventKind::start;
    std::string run{}, plan_hash{};
    Json mesh{}, hosts{}, versions{}, hardware{}, environment{}, watch{};
    std::optional<std::int64_t> steps{}, global_batch{}, seq_len{};
};
template <>
inline constexpr auto kEventKeys<StartEvent> = std::to_array<EventKey<StartEvent>>(
    {{"run", &StartEvent::run, true}, {"plan_hash", &StartEvent::plan_hash}, {"mesh", &StartEvent::mesh},
        {"hosts", &StartEvent::hosts}, {"versions", &StartEvent::versions}, {"hardware", &StartEvent::hardware},
        {"environment", &StartEvent::environment}, {"steps", &StartEvent::steps}, {"watch", &StartEvent::watch},
        {"global_batch", &StartEvent::global_batch}, {"seq_len", &StartEvent::seq_len}});

struct StepEvent : StepValues {
    static constexpr EventKind kKind = EventKind::step;
    std::optional<std::int64_t> step{}, global_batch{}, skipped_steps{}, nan_steps{};
    std::optional<double> tokens{}, samples{}, loss_scale{}, data_time_s{}, memory_allocated_gib{},
        memory_reserved_gib{};
    Json ranks{}, experts{};
};
template <>
inline constexpr auto kEventKeys<StepEvent> = std::to_array<EventKey<StepEvent>>(
    {{"step", &StepEvent::step}, {"loss", &StepEvent::loss, true}, {"grad_norm", &StepEvent::grad_norm, true},
        {"learning_rate", &StepEvent::learning_rate}, {"step_time_s", &StepEvent::step_time_s},
        {"tps_per_gpu", &StepEvent::tps_per_gpu}, {"tflops_per_gpu", &StepEvent::tflops_per_gpu},
        {"mfu", &StepEvent::mfu, true}, {"memory_peak_gib", &StepEvent::memory_peak_gib}, {"ranks", &StepEvent::ranks},
        {"tokens", &StepEvent::tokens}, {"samples", &StepEvent::samples}, {"global_batch", &StepEvent::global_batch},
        {"loss_scale", &StepEvent::loss_scale}, {"skipped_steps", &StepEvent::skipped_steps},
        {"nan_steps", &StepEvent::nan_steps}, {"data_time_s", &StepEvent::data_time_s},
        {"memory_allocated_gib", &StepEvent::memory_allocated_gib},
        {"memory_reserved_gib", &StepEvent::memory_reserved_gib}, {"experts", &StepEvent::experts}});

struct EvalEvent {
    static constexpr EventKind kKind = EventKind::eval;
    std::optional<std::int64_t> step{}, tokens{};
    std::optional<double> loss{}, time_s{}, unigram_entropy{};
};
template <>
inline constexpr auto kEventKeys<EvalEvent> = std::to_array<EventKey<EvalEvent>>(
    {{"step", &EvalEvent::step}, {"loss", &EvalEvent::loss, true}, {"tokens", &EvalEvent::tokens},
        {"time_s", &EvalEvent::time_s}, {"unigram_entropy", &EvalEvent::unigram_entropy}});

struct TraceEvent {
    static constexpr EventKind kKind = EventKind::trace;
    std::optional<std::int64_t> step{};
    Json traceEvents{}, displayTimeUnit{}, otherData{};
};
template <>
inline constexpr auto kEventKeys<TraceEvent> = std::to_array<EventKey<TraceEvent>>(
    {{"step", &TraceEvent::step}, {"traceEvents", &TraceEvent::traceEvents},
        {"displayTimeUnit", &TraceEvent::displayTimeUnit}, {"otherData", &TraceEvent::otherData}});

struct CheckpointEvent {
    static constexpr EventKind kKind = EventKind::checkpoint;
    std::optional<std::int64_t> step{}, bytes{};
    std::string path{};
    std::optional<double> time_s{}, stopped_s{};
};
template <>
inline constexpr auto kEventKeys<CheckpointEvent> = std::to_array<EventKey<CheckpointEvent>>(
    {{"step", &CheckpointEvent::step}, {"path", &CheckpointEvent::path}, {"bytes", &CheckpointEvent::bytes},
        {"time_s", &CheckpointEvent::time_s}, {"stopped_s", &CheckpointEvent::stopped_s}});

struct WarningEvent {
    static constexpr EventKind kKind = EventKind::warning;
    std::string kind{}, host{}, message{};
    std::optional<std::int64_t> step{};
    Json watch{}, ranks{};
};
template <>
inline constexpr auto kEventKeys<WarningEvent> = std::to_array<EventKey<WarningEvent>>(
    {{"kind", &WarningEvent::kind}, {"host", &WarningEvent::host}, {"message", &WarningEvent::message},
        {"watch", &WarningEvent::watch}, {"step", &WarningEvent::step}, {"ranks", &WarningEvent::ranks}});

struct ErrorEvent {
    static constexpr EventKind kKind = EventKind::error;
    std::string kind{}, host{}, message{}, last_collective{}, origin{};
    Json mesh{}, coordinates{}, log{}; // the place in the mesh as the rank says it, and as its agent does
};
template <>
inline constexpr auto kEventKeys<ErrorEvent> = std::to_array<EventKey<ErrorEvent>>({{"kind", &ErrorEvent::kind},
    {"host", &ErrorEvent::host}, {"mesh", &ErrorEvent::mesh}, {"coordinates", &ErrorEvent::coordinates},
    {"message", &ErrorEvent::message}, {"last_collective", &ErrorEvent::last_collective, true},
    {"origin", &ErrorEvent::origin}, {"log", &ErrorEvent::log}});

struct EndEvent {
    static constexpr EventKind kKind = EventKind::end;
    std::string status{}, message{};
};
template <>
inline constexpr auto kEventKeys<EndEvent> = std::to_array<EventKey<EndEvent>>(
    {{"status", &EndEvent::status}, {"message", &EndEvent::message}});

namespace event_values {
inline void read(const Json& json, std::string& out)
{
    if (json.is_string())
        out = json.get<std::string>();
}
inline void read(const Json& json, std::optional<std::int64_t>& out)
{
    constexpr double kMost = 9007199254740992; // the whole numbers that a double holds
    if (json.is_number_unsigned() ? json.get<std::uint64_t>() <= std::uint64_t(kMost) : json.is_number_integer())
        out = json.get<std::int64_t>();
    else if (json.is_number() && std::abs(json.get<double>()) <= kMost)
        out = std::int64_t(json.get<double>());
}
inline void read(const Json& json, std::optional<double>& out)
{
    if (json.is_number())
        out = json.get<double>();
}
inline void read(const Json& json, Json& out)
{
    out = json;
}

// Null: nothing to write.
inline Json written(const std::string& value)
{
    return value.empty() ? Json() : Json(value);
}
inline Json written(const std::optional<std::int64_t>& value)
{
    return value ? Json(*value) : Json();
}
inline Json written(const std::optional<double>& value)
{
    return number_or_null(value);
}
inline Json written(const Json& value)
{
    return value;
}
} // namespace event_values

// What stands in an event comes from other programs: what is missing or of another type is empty.
template <typename Event>
Event read_event(const Json& json)
{
    Event event;
    if (!json.is_object())
        return event;
    for (const EventKey<Event>& key : kEventKeys<Event>) {
        if (const auto found = json.find(key.key); found != json.end())
            std::visit([&](auto member) { event_values::read(*found, event.*member); }, key.member);
    }
    return event;
}

// Sets the keys of `json`, behind those that it has.
template <typename Event>
void write_event(const Event& event, Json& json)
{
    for (const EventKey<Event>& key : kEventKeys<Event>) {
        Json value = std::visit([&](auto member) { return event_values::written(event.*member); }, key.member);
        if (key.always || !value.is_null())
            json[key.key] = std::move(value);
    }
}

template <typename Event>
Json event_json(const Event& event)
{
    Json json = Json::object();
    write_event(event, json);
    return json;
}

// A line of a stream that is made of what somebody else measured.
template <typename Event>
Json event_of_import(std::size_t seq, const std::string& time, const Event& event)
{
    Json json = {{"seq", seq}, {"time", time}, {"rank", 0}, {"event", name(Event::kKind)}};
    write_event(event, json);
    return json;
}

} // namespace fourfold
