// SPDX-License-Identifier: GPL-3.0-or-later
// The page of paper about what Compare shows.
#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_page.h"
#include "app/desktop/pages/compare/compare_timelines.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/widgets/charts/comparison_chart.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"

#include <QDate>
#include <QTabBar>

namespace fourfold::ui {

ReportPage ComparePage::report() const
{
    ReportPage page;
    const std::vector<CompareEntry>& entries = m_model.entries();
    if (m_views->currentIndex() == static_cast<int>(View::sweep)) {
        page.title = m_sweep->map().title();
        page.lines << m_sweep->map().subtitle();
        if (!m_sweep->summary().isEmpty())
            page.lines << m_sweep->summary();
        if (!m_sweep->map().grid().rows.isEmpty())
            page.parts = {{&m_sweep->map(), 900, {}}};
    } else if (m_views->currentIndex() == static_cast<int>(View::timelines) && !entries.empty()) {
        page.title = tr("Two timelines");
        if (!m_timelines->difference().isEmpty())
            page.lines << m_timelines->difference();
        for (TimelineView* view : m_timelines->views()) {
            if (view->hasPicture())
                page.parts.push_back({view, 320, {}});
        }
    } else if (!entries.empty()) {
        QStringList names; // numbered as over the columns, which may have no room for all of a name
        for (const CompareEntry& entry : entries)
            names << QStringLiteral("%1 %2: %3").arg(names.size() + 1).arg(entryKindLabel(entry.kind), entry.name);
        page.title = tr("Comparison of %1").arg(counted(double(entries.size()), tr("entry"), tr("entries")));
        page.lines << names.join(QStringLiteral("; "))
                   << tr("Differences against %1").arg(entries[static_cast<std::size_t>(m_model.reference())].name);
        for (std::size_t i = 0; i < entries.size(); ++i) { // sentences, which no column has room for
            for (const std::string& warning :
                entries[i].prediction ? entries[i].prediction->warnings : std::vector<std::string>())
                page.lines << tr("Warning for %1: %2").arg(i + 1).arg(fromUtf8(warning));
        }
        page.parts = {{nullptr, 0, reportTable()}, {&m_charts->throughput(), 240, {}, true},
            {&m_charts->utilisation(), 240, {}, true}, {&m_charts->time(), 240, {}, true},
            {&m_charts->memory(), 240, {}, true}};
    }
    page.lines << tr("Fourfold, %1").arg(QDate::currentDate().toString(Qt::ISODate));
    return page;
}

// The table on show as people read it, without its headings.
Table ComparePage::reportTable() const
{
    Table table;
    for (int column = 0; column < m_model.columnCount(); ++column) {
        const QString title = m_model.headerData(column, Qt::Horizontal).toString().section(QLatin1Char('\n'), 0, 0);
        table.columns.push_back({title.toStdString(), {}});
    }
    for (int row = 0; row < m_model.rowCount(); ++row) {
        if (m_model.index(row, 0).data(CompareModel::HeadingRole).toBool()
            || m_model.index(row, 0).data().toString() == CompareModel::tr("Warnings"))
            continue;
        std::vector<Cell> cells;
        for (int column = 0; column < m_model.columnCount(); ++column)
            cells.emplace_back(m_model.index(row, column).data().toString().toStdString());
        table.rows.push_back(std::move(cells));
    }
    return table;
}

} // namespace fourfold::ui
