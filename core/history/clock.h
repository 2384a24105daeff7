// SPDX-License-Identifier: GPL-3.0-or-later
// Times as the event stream writes them: ISO 8601, UTC, milliseconds ("2026-01-01T00:00:00.000Z").
#pragma once

#include <optional>
#include <string>

namespace fourfold::history {

std::string now_text();
// Seconds since 1970-01-01 UTC; fractions of any length. Empty for any other form.
std::optional<double> seconds_of(const std::string& text);

} // namespace fourfold::history
