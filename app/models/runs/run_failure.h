// SPDX-License-Identifier: GPL-3.0-or-later
// Why a run failed, as the error event of the first rank tells: live, and of a run that is stored.
#pragma once

#include "core/history/store.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace fourfold::ui {

struct RunFailure {
    std::optional<int> rank;
    QString host, mesh, kind, message; // mesh: "tp 1, cp 0, pp 0, dp 3"
    QString collective; // that the rank was in; empty when it was in none
    QString log; // the last lines of its output
};

RunFailure failureOf(const Json& errorEvent);
// The first error event is the cause, the others follow from it. Empty where none is stored.
std::optional<RunFailure> failureOf(const RunDetail& run);

// "Rank 3 failed first, on node2", then place, message and last collective, a line each; plain text.
QStringList failureLines(const RunFailure& failure);

} // namespace fourfold::ui
