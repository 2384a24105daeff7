// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/event_sieve.h"

#include "core/history/event_types.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace fourfold {

namespace {

std::optional<Json> event_of(std::string_view line)
{
    auto event = parse_json(line, "event");
    if (!event || !event->is_object() || integer_field(*event, "seq", -1) < 0 || text_field(*event, "event").empty())
        return {};
    return *std::move(event);
}

// An event that no node wrote.
template <typename Event>
Json event_of_client(int64_t seq, const Event& event)
{
    Json json = {{"seq", seq}, {"time", utc_now()}, {"event", name(Event::kKind)}, {"client", true}};
    write_event(event, json);
    return json;
}

} // namespace

void EventSieve::add(Taken& taken, std::string_view line, Json event)
{
    ++next_seq_;
    ended_ = kind_of(event) == EventKind::end;
    taken.lines.push_back(line);
    taken.events.push_back(std::move(event));
}

void EventSieve::stand_in(Taken& taken, Json event)
{
    taken.made.push_back(to_wire(event));
    add(taken, taken.made.back(), std::move(event));
}

void EventSieve::leave_out(int64_t offset, int64_t bytes)
{
    if (damaged_lines_++ == 0)
        damaged_at_ = offset;
    damaged_bytes_ += bytes;
}

std::string EventSieve::damage() const
{
    return std::to_string(damaged_lines_) + (damaged_lines_ == 1 ? " line (" : " lines (")
        + std::to_string(damaged_bytes_) + " bytes) of events.jsonl on " + host_ + ", from byte "
        + std::to_string(damaged_at_) + " on, " + (damaged_lines_ == 1 ? "is not an event" : "are not events");
}

// Something stands for every event before `until` that did not come.
void EventSieve::fill(Taken& taken, int64_t until)
{
    const int64_t first = next_seq_;
    filled_ += until - first; // a node must not fill this disk with a line
    if (until > first) {
        std::string message = until - first == 1
            ? "event " + std::to_string(first) + " is missing: "
            : "events " + std::to_string(first) + " to " + std::to_string(until - 1) + " are missing: ";
        message += damaged_lines_ > 0 ? damage() : "events.jsonl on " + host_ + " has a gap there";
        stand_in(taken, event_of_client(next_seq_, WarningEvent{.kind = "missing", .message = std::move(message)}));
        while (next_seq_ < until)
            stand_in(taken, {{"seq", next_seq_}, {"event", name(EventKind::missing)}, {"client", true}});
    } else if (damaged_lines_ > 0) {
        taken.notes.push_back(
            damage() + (damaged_lines_ == 1 ? " and was" : " and were") + " left out; no event is missing");
    }
    damaged_lines_ = damaged_bytes_ = 0;
}

EventSieve::Taken EventSieve::take(int64_t offset, std::string_view bytes)
{
    Taken taken;
    for (std::size_t begin = 0; begin < bytes.size();) {
        const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
        std::string_view line = bytes.substr(begin, end - begin);
        const int64_t at = offset + static_cast<int64_t>(begin);
        begin = end + 1;
        auto event = event_of(line);
        // The rest of a line that was cut, or zeros that a crash left, may stand before a sound one.
        if (const std::size_t sound = event ? 0 : line.rfind("{\"seq\":");
            sound != 0 && sound != std::string_view::npos) {
            if ((event = event_of(line.substr(sound)))) {
                leave_out(at, static_cast<int64_t>(sound));
                line.remove_prefix(sound);
            }
        }
        const int64_t seq = event ? integer_field(*event, "seq") : -1;
        if (seq >= 0 && seq < next_seq_ && at < read_)
            continue; // sent once more
        if (seq < next_seq_ || seq - next_seq_ > kMostMissingEvents - filled_) {
            leave_out(at, static_cast<int64_t>(line.size()) + 1);
            continue;
        }
        if (seq > next_seq_ || damaged_lines_ > 0)
            fill(taken, seq);
        add(taken, line, *std::move(event));
    }
    read_ = std::max(read_, offset + static_cast<int64_t>(bytes.size()));
    return taken;
}

void EventSieve::skip(int64_t offset, int64_t bytes)
{
    leave_out(offset, bytes);
}

EventSieve::Taken EventSieve::end(const std::string& status, const std::string& why)
{
    Taken taken;
    if (ended_) {
        if (damaged_lines_ > 0)
            fill(taken, next_seq_);
        return taken;
    }
    std::string message = why;
    if (damaged_lines_ > 0)
        message += (message.empty() ? "" : "; ") + ("the last events are missing: " + damage());
    else if (message.empty())
        message = "events.jsonl on " + host_ + " ends without an end";
    damaged_lines_ = damaged_bytes_ = 0;
    stand_in(taken, event_of_client(next_seq_, EndEvent{.status = status, .message = std::move(message)}));
    return taken;
}

} // namespace fourfold
