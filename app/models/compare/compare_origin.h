// SPDX-License-Identifier: GPL-3.0-or-later
// Added entries of a comparison, made again from the text that the session keeps of them (app/view/compare's origins).
#pragma once

#include "app/models/compare/compare_entry.h"
#include "app/view/compare/kept_comparison.h"
#include "core/plan/presets.h"

#include <filesystem>

namespace fourfold::ui {

// Of a job of a measured table, as one text, and back.
QString originOfSeries(const view::SeriesOrigin& series);
view::SeriesOrigin seriesOf(const QString& origin);

// A layout that a search found, with its prediction.
CompareEntry layoutEntry(const ResolvedPlan& plan);

// Empty where the run, the file or the row is gone, or the plan cannot be read any more.
std::optional<CompareEntry> entryFrom(
    const QString& origin, const std::filesystem::path& history, const Presets& presets);

} // namespace fourfold::ui
