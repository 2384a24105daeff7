// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/compare_origin.h"

#include "app/models/shared/text.h"
#include "app/view/compare/published.h"
#include "app/view/history/history_access.h"
#include "app/view/plan/facts.h"
#include "app/view/project/project.h"
#include "core/base/json_member.h"
#include "core/calibration/user/evidence.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
const QString kRun = QStringLiteral("run:");
const QString kRow = QStringLiteral("row:"); // line number and file
const QString kLayout = QStringLiteral("plan:"); // the plan's JSON

std::optional<CompareEntry> rowFrom(const QString& text, const Presets& presets)
{
    const int line = text.section(QLatin1Char(':'), 0, 0).toInt();
    const std::filesystem::path file = text.section(QLatin1Char(':'), 1).toStdString();
    const Expected<MeasuredTable> table = view::read_table(file, presets);
    if (!table)
        return {};
    const auto row = std::find_if(
        table->rows.begin(), table->rows.end(), [line](const MeasuredRow& at) { return at.line == line; });
    return row == table->rows.end() ? std::nullopt : std::optional(entryOf(*table, *row));
}

std::optional<CompareEntry> layoutFrom(const QString& text, const Presets& presets)
{
    const Expected<Plan> plan = parse_plan(text.toStdString(), "session");
    if (!plan)
        return {};
    const Expected<ResolvedPlan> resolved = resolve(*plan, presets);
    return resolved && check(*resolved).empty() ? std::optional(layoutEntry(*resolved)) : std::nullopt;
}
} // namespace

QString originOfRun(const QString& id)
{
    return kRun + id;
}

QString originOfRow(const MeasuredTable& table, const MeasuredRow& row)
{
    const std::filesystem::path file = std::filesystem::absolute(table.file);
    return QStringLiteral("%1%2:%3").arg(kRow).arg(row.line).arg(exactText(file.string()));
}

QString originOfSeries(const MeasuredTable& table, const QString& job)
{
    return exactText(std::filesystem::absolute(table.file).string()) + QLatin1Char('\n') + job;
}

std::pair<std::filesystem::path, QString> seriesOf(const QString& origin)
{
    return {origin.section(QLatin1Char('\n'), 0, 0).toStdString(), origin.section(QLatin1Char('\n'), 1)};
}

QString originOfLayout(const ResolvedPlan& plan)
{
    return kLayout + exactText(to_json(plan, PresetStyle::ids).dump());
}

Json portableOrigin(const QString& origin, const std::filesystem::path& folder)
{
    if (origin.startsWith(kRun))
        return {{"run", origin.mid(kRun.size()).toStdString()}};
    if (origin.startsWith(kLayout)) {
        const Expected<Json> plan = parse_json(origin.mid(kLayout.size()).toStdString(), "layout");
        return plan ? Json{{"layout", *plan}} : Json();
    }
    if (!origin.startsWith(kRow))
        return {};
    const QString row = origin.mid(kRow.size());
    return {{"table", view::portable_path(row.section(QLatin1Char(':'), 1).toStdString(), folder)},
        {"line", row.section(QLatin1Char(':'), 0, 0).toInt()}};
}

QString originFrom(const Json& portable, const std::filesystem::path& folder)
{
    if (!portable.is_object())
        return {};
    if (const std::string run = member_or(portable, "run", std::string()); !run.empty())
        return originOfRun(exactText(run));
    if (const auto layout = portable.find("layout"); layout != portable.end() && layout->is_object())
        return kLayout + exactText(layout->dump());
    const std::string table = member_or(portable, "table", std::string());
    return table.empty() ? QString()
                         : QStringLiteral("%1%2:%3")
                               .arg(kRow)
                               .arg(member_or(portable, "line", 0))
                               .arg(exactText(view::path_of(table, folder).string()));
}

Json portableSeries(const QString& origin, const std::filesystem::path& folder)
{
    const auto [file, job] = seriesOf(origin);
    return {{"table", view::portable_path(file, folder)}, {"job", job.toStdString()}};
}

QString seriesFrom(const Json& portable, const std::filesystem::path& folder)
{
    const std::string table = portable.is_object() ? member_or(portable, "table", std::string()) : "";
    return table.empty() ? QString()
                         : exactText(view::path_of(table, folder).string()) + QLatin1Char('\n')
            + exactText(member_or(portable, "job", std::string()));
}

CompareEntry layoutEntry(const ResolvedPlan& plan)
{
    CompareEntry entry = entryOf(QStringLiteral("layout:") + fromUtf8(layout_hash(plan)),
        QStringLiteral("%1, %2").arg(fromUtf8(view::layout_line(plan.layout)), fromUtf8(view::gpus_fact(plan))),
        predict_with_evidence(plan));
    entry.origin = originOfLayout(plan);
    return entry;
}

std::optional<CompareEntry> entryFrom(
    const QString& origin, const std::filesystem::path& history, const Presets& presets)
{
    std::optional<CompareEntry> entry;
    if (origin.startsWith(kRun)) {
        if (const Expected<RunDetail> run = view::stored_run(history, origin.mid(kRun.size()).toStdString()))
            entry = entryOf(*run);
    } else if (origin.startsWith(kRow)) {
        entry = rowFrom(origin.mid(kRow.size()), presets);
    } else if (origin.startsWith(kLayout)) {
        entry = layoutFrom(origin.mid(kLayout.size()), presets);
    }
    if (entry)
        entry->origin = origin;
    return entry;
}

} // namespace fourfold::ui
