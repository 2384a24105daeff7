// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/causes.h"

#include "core/history/event_types.h"
#include "runner/protocol/message.h"

#include <algorithm>

namespace fourfold {

namespace {

constexpr std::size_t kMostErrors = 256; // of a node: the first ones, among which the cause is

// Whether the ranks of a node only missed a rank that failed, or were told of one.
bool of_another(const Json& error)
{
    const std::string origin = read_event<ErrorEvent>(error).origin;
    return error.is_null() || (!origin.empty() && !origin.starts_with("own"));
}

} // namespace

Causes::Causes(const Recorder& recorder, std::size_t nodes)
    : errors_(nodes)
    , ends_(nodes)
{
    for (std::size_t node = 0; node < nodes; ++node) {
        const auto lines = recorder.store().events(recorder.run(), stream_name(static_cast<int>(node)));
        if (!lines)
            continue;
        for (const std::string& line : *lines) {
            if (line.find("\"error\"") == std::string::npos && line.find("\"end\"") == std::string::npos)
                continue;
            if (const auto event = parse_json(line, "event"))
                remember(node, *event);
        }
    }
}

void Causes::remember(std::size_t node, const Json& event)
{
    const EventKind kind = kind_of(event);
    if (kind == EventKind::error && errors_[node].size() < kMostErrors)
        errors_[node].push_back(event);
    else if (kind == EventKind::end)
        ends_[node] = event;
}

Json Causes::of(std::size_t node, int rank) const
{
    for (const Json& error : errors_[node]) {
        if (integer_field(error, "rank", -2) == rank)
            return error;
    }
    return errors_[node].empty() ? Json() : errors_[node].front();
}

std::optional<Json> Causes::better(const Json& error) const
{
    if (!of_another(error))
        return {};
    for (const auto& errors : errors_) {
        const auto own = std::find_if_not(errors.begin(), errors.end(), of_another);
        if (own != errors.end())
            return *own;
    }
    return {};
}

} // namespace fourfold
