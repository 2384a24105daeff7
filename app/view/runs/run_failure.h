// SPDX-License-Identifier: GPL-3.0-or-later
// Why a run failed, as the error event of the first rank tells: live, and of a run that is stored.
#pragma once

#include "core/history/store.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

struct RunFailure {
    std::optional<int> rank;
    std::string host, mesh, message; // mesh: "tp 1, cp 0, pp 0, dp 3"
    std::string collective; // that the rank was in; empty when it was in none
    std::string log; // the last lines of its output
};
RunFailure failure_of(const Json& error_event);
// The first error event is the cause, the others follow from it. Empty where none is stored.
std::optional<RunFailure> failure_of(const RunDetail& run);
// "Rank 3 failed first, on node2", then place, message and last collective, a line each.
std::vector<std::string> failure_lines(const RunFailure& failure);
// The same with the end of its output.
std::string failure_text(const RunFailure& failure);

} // namespace fourfold::view
