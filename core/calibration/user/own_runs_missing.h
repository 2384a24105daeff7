// SPDX-License-Identifier: GPL-3.0-or-later
// For answers that show no prediction's warnings.
#pragma once

#include <optional>
#include <string>

namespace fourfold {

// What to say where answers lack own runs, as the history could not be read when it was last looked at; empty: they
// are in it, or there is none.
std::optional<std::string> own_runs_missing();

} // namespace fourfold
