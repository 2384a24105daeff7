// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/compare_report.h"

#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_timelines.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"
#include "app/view/prediction/plan_charts.h"

#include <QTabBar>

namespace fourfold::ui {

namespace {
// The table on show as people read it, without its headings.
Table reportTable(const CompareModel& model)
{
    Table table;
    for (int column = 0; column < model.columnCount(); ++column) {
        const QString title = model.headerData(column, Qt::Horizontal).toString().section(QLatin1Char('\n'), 0, 0);
        table.columns.push_back({title.toStdString(), {}});
    }
    for (int row = 0; row < model.rowCount(); ++row) {
        if (model.index(row, 0).data(CompareModel::HeadingRole).toBool()
            || model.index(row, 0).data().toString() == CompareModel::tr("Warnings"))
            continue;
        std::vector<Cell> cells;
        for (int column = 0; column < model.columnCount(); ++column)
            cells.emplace_back(model.index(row, column).data().toString().toStdString());
        table.rows.push_back(std::move(cells));
    }
    return table;
}
} // namespace

ReportPage compareReport(ComparePage::View view, const CompareModel& model, CompareCharts& charts,
    CompareTimelines& timelines, SweepView& sweep)
{
    ReportPage page;
    const std::vector<CompareEntry>& entries = model.entries();
    if (view == ComparePage::View::sweep) {
        page.title = sweep.map().title();
        page.lines << sweep.map().subtitle();
        if (!sweep.summary().isEmpty())
            page.lines << sweep.summary();
        if (!sweep.map().grid().rows.isEmpty())
            page.parts = {{&sweep.map(), 900, {}}};
    } else if (view == ComparePage::View::timelines && !entries.empty()) {
        page.title = ComparePage::tr("Two timelines");
        if (!timelines.difference().isEmpty())
            page.lines << timelines.difference();
        for (TimelineView* timeline : timelines.views()) {
            if (timeline->hasPicture())
                page.parts.push_back({timeline, 320, {}});
        }
    } else if (!entries.empty()) {
        QStringList names; // numbered as over the columns, which may have no room for all of a name
        for (const CompareEntry& entry : entries)
            names << QStringLiteral("%1 %2: %3").arg(names.size() + 1).arg(entryKindLabel(entry.kind), entry.name);
        page.title = ComparePage::tr("Comparison of %1")
                         .arg(counted(double(entries.size()), ComparePage::tr("entry"), ComparePage::tr("entries")));
        page.lines
            << names.join(QStringLiteral("; "))
            << ComparePage::tr("Differences against %1").arg(entries[static_cast<std::size_t>(model.reference())].name);
        for (std::size_t i = 0; i < entries.size(); ++i) { // sentences, which no column has room for
            for (const std::string& warning :
                entries[i].prediction ? entries[i].prediction->warnings : std::vector<std::string>())
                page.lines << ComparePage::tr("Warning for %1: %2").arg(i + 1).arg(fromUtf8(warning));
        }
        page.parts = {{nullptr, 0, reportTable(model)}, {&charts.throughput(), 240, {}, true},
            {&charts.utilisation(), 240, {}, true}, {&charts.time(), 240, {}, true}, {&charts.memory(), 240, {}, true}};
    }
    page.lines << fromUtf8(view::report_day());
    return page;
}

} // namespace fourfold::ui
