// SPDX-License-Identifier: GPL-3.0-or-later
// The row of a run that lists show. Everything here runs inside the caller's transaction and throws SQLite::Exception.
#pragma once

#include "core/history/store.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <optional>
#include <string>

namespace fourfold::history {

struct SummaryRow : RunSummary {
    std::string shown_tags, most_off_term; // as stored
    double most_off_predicted_s = 0, most_off_measured_s = 0;
    std::optional<double> spread; // of the headline
    std::string rule; // how the headline was taken
};

// The query of summaries, up to its condition: tables r (runs), p (plans), q (predictions).
std::string summaries_where(const std::string& condition);
// The row that a statement of summaries_where() stands on; of a run that goes on with the headline of its steps so far.
SummaryRow summary_row(SQLite::Statement& statement, SQLite::Database& database);

} // namespace fourfold::history
