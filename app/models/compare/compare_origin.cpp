// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/compare_origin.h"

#include "app/models/shared/text.h"
#include "app/view/compare/published.h"
#include "app/view/history/history_access.h"
#include "core/calibration/user/evidence.h"
#include "core/search/refit.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
std::optional<CompareEntry> rowFrom(const view::Origin& origin, const Presets& presets)
{
    const Expected<MeasuredTable> table = view::read_table(origin.table, presets);
    if (!table)
        return {};
    const auto row = std::ranges::find(table->rows, origin.line, &MeasuredRow::line);
    return row == table->rows.end() ? std::nullopt : std::optional(entryOf(*table, *row));
}

std::optional<CompareEntry> layoutFrom(const std::string& text, const Presets& presets)
{
    const Expected<Plan> plan = parse_plan(text, "session");
    if (!plan)
        return {};
    const Expected<ResolvedPlan> resolved = resolve(*plan, presets);
    return resolved && check(*resolved).empty() ? std::optional(layoutEntry(*resolved)) : std::nullopt;
}
} // namespace

QString originOfSeries(const view::SeriesOrigin& series)
{
    return exactText(series.table.string()) + QLatin1Char('\n') + exactText(series.job);
}

view::SeriesOrigin seriesOf(const QString& origin)
{
    return {origin.section(QLatin1Char('\n'), 0, 0).toStdString(), origin.section(QLatin1Char('\n'), 1).toStdString()};
}

CompareEntry layoutEntry(const ResolvedPlan& plan)
{
    // As the history writes it: short enough to be read whole over a column.
    CompareEntry entry = entryOf(QStringLiteral("layout:") + fromUtf8(layout_hash(plan)), fromUtf8(layout_words(plan)),
        predict_with_evidence(plan));
    entry.origin = exactText(view::origin_of_layout(plan));
    return entry;
}

std::optional<CompareEntry> entryFrom(
    const QString& origin, const std::filesystem::path& history, const Presets& presets)
{
    std::optional<CompareEntry> entry;
    const view::Origin read = view::read_origin(origin.toStdString());
    if (read.kind == view::Origin::Kind::run) {
        if (const Expected<RunDetail> run = view::stored_run(history, read.text))
            entry = entryOf(*run);
    } else if (read.kind == view::Origin::Kind::row) {
        entry = rowFrom(read, presets);
    } else if (read.kind == view::Origin::Kind::layout) {
        entry = layoutFrom(read.text, presets);
    }
    if (entry)
        entry->origin = origin;
    return entry;
}

} // namespace fourfold::ui
