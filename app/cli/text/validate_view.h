// SPDX-License-Identifier: GPL-3.0-or-later
// Score cards for people: titled tables as text, Markdown or LaTeX, one flat table as CSV.
#pragma once

#include "core/calibration/score_card.h"
#include "core/report/table/table.h"

#include <string>
#include <vector>

namespace fourfold::cli {

// Everything of one card, left-out figures first.
std::string card_text(const ScoreCard& card, TableFormat format);
// A row for each table, view and section.
Table figures_table(const std::vector<ScoreCard>& cards);
// The report that the repository keeps: what the figures mean, then every card.
std::string validation_report(const std::vector<ScoreCard>& cards, const std::vector<Coverage>& intervals);
// Of nested_coverage(); empty without any.
std::string intervals_text(const std::vector<Coverage>& intervals, TableFormat format);

} // namespace fourfold::cli
