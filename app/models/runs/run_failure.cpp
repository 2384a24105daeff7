// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/runs/run_failure.h"

#include "app/models/runs/event_fields.h"
#include "app/models/shared/text.h"
#include "core/history/run_event.h"
#include "runner/protocol/straggler.h"

namespace fourfold::ui {

RunFailure failureOf(const Json& event)
{
    RunFailure failure;
    failure.rank = whole(event, "rank");
    failure.host = words(event, "host");
    failure.kind = words(event, "kind");
    failure.message = words(event, "message");
    failure.collective = words(event, "last_collective");
    // The trainer says where it is, and the agent does for a rank that could not.
    for (const char* key : {"mesh", "coordinates"}) {
        if (failure.mesh.isEmpty() && event.contains(key) && event[key].is_object())
            failure.mesh = fromUtf8(describe(event[key]));
    }
    if (event.contains("log") && event["log"].is_array()) {
        for (const Json& line : event["log"])
            failure.log += fromUtf8(line.is_string() ? line.get<std::string>() : line.dump()) + QLatin1Char('\n');
    } else {
        failure.log = words(event, "log");
    }
    return failure;
}

std::optional<RunFailure> failureOf(const RunDetail& run)
{
    for (const Json& event : run.other_events) {
        if (kind_of(event) == EventKind::error)
            return failureOf(event);
    }
    return {};
}

QStringList failureLines(const RunFailure& failure)
{
    const QString who = failure.rank ? tr("Rank %1 failed first").arg(*failure.rank) : tr("A rank failed");
    QStringList lines{failure.host.isEmpty() ? who : tr("%1, on %2").arg(who, failure.host)};
    if (!failure.mesh.isEmpty())
        lines << tr("Place in the mesh: %1").arg(failure.mesh);
    lines << tr("What happened: %1").arg(failure.message);
    lines << (failure.collective.isEmpty() ? tr("Last collective: none was told")
                                           : tr("Last collective: %1").arg(failure.collective));
    return lines;
}

} // namespace fourfold::ui
