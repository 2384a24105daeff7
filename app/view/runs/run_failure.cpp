// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/run_failure.h"

#include "app/view/runs/event_fields.h"
#include "core/base/text.h"
#include "core/history/event_types.h"
#include "runner/protocol/straggler.h"

#include <cmath>

namespace fourfold::view {

RunFailure failure_of(const Json& event)
{
    RunFailure failure;
    const ErrorEvent error = read_event<ErrorEvent>(event);
    failure.rank = whole_at(event, "rank");
    failure.host = error.host;
    failure.message = error.message;
    failure.collective = error.last_collective;
    // The trainer says where it is, and the agent does for a rank that could not.
    for (const Json& place : {error.mesh, error.coordinates}) {
        if (failure.mesh.empty() && place.is_object())
            failure.mesh = describe(place);
    }
    if (error.log.is_string())
        failure.log = error.log.get<std::string>();
    else if (error.log.is_array())
        for (const Json& line : error.log)
            failure.log += (line.is_string() ? line.get<std::string>() : line.dump()) + '\n';
    return failure;
}

std::optional<RunFailure> failure_of(const RunDetail& run)
{
    for (const Json& event : run.other_events) {
        if (kind_of(event) == EventKind::error)
            return failure_of(event);
    }
    return {};
}

std::vector<std::string> failure_lines(const RunFailure& failure)
{
    std::vector<std::string> lines{
        failure.rank ? "Rank " + std::to_string(*failure.rank) + " failed first" : "A rank failed"};
    if (!failure.host.empty())
        lines.front() += ", on " + failure.host;
    if (!failure.mesh.empty())
        lines.push_back("Place in the mesh: " + failure.mesh);
    lines.push_back("What happened: " + failure.message);
    lines.push_back("Last collective: " + (failure.collective.empty() ? "none was told" : failure.collective));
    return lines;
}

std::string failure_text(const RunFailure& failure)
{
    std::string text = joined(failure_lines(failure), "\n");
    if (!failure.log.empty())
        text += "\n\n# The end of its output\n" + failure.log;
    return printable_lines(text);
}

} // namespace fourfold::view
