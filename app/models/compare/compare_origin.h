// SPDX-License-Identifier: GPL-3.0-or-later
// Where an added entry of a comparison comes from, as text that the session keeps: the entry is made again from it.
#pragma once

#include "app/models/compare/compare_entry.h"
#include "core/base/json.h"
#include "core/plan/presets.h"

#include <filesystem>
#include <utility>

namespace fourfold::ui {

QString originOfRun(const QString& id);
QString originOfRow(const MeasuredTable& table, const MeasuredRow& row);
QString originOfLayout(const ResolvedPlan& plan);

// Of a job of a measured table, and back: the table's file and the job's name.
QString originOfSeries(const MeasuredTable& table, const QString& job);
std::pair<std::filesystem::path, QString> seriesOf(const QString& origin);

// An origin as a project keeps it, with files relative to `folder`, and back; empty where it is none.
Json portableOrigin(const QString& origin, const std::filesystem::path& folder);
QString originFrom(const Json& portable, const std::filesystem::path& folder);
Json portableSeries(const QString& origin, const std::filesystem::path& folder);
QString seriesFrom(const Json& portable, const std::filesystem::path& folder);

// A layout that a search found, with its prediction.
CompareEntry layoutEntry(const ResolvedPlan& plan);

// Empty where the run, the file or the row is gone, or the plan cannot be read any more.
std::optional<CompareEntry> entryFrom(
    const QString& origin, const std::filesystem::path& history, const Presets& presets);

} // namespace fourfold::ui
