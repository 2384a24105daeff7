// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/node_report.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/runs/probe_tables.h"
#include "app/models/shared/text.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

NodeReport::NodeReport(QWidget* parent)
    : QWidget(parent)
    , m_verdict(named(makeWords("heading"), "nodeVerdict"))
    , m_save(makeButton(tr("Save as a cluster\u2026"), "plain", "saveNodes",
          tr("Measure the speeds of the nodes and keep them as a cluster that plans can name")))
    , m_findingTable(new DataTable)
    , m_nodeTable(new DataTable)
    , m_linkTable(new DataTable)
{
    const auto framed = [](DataTable* table, TableModel& model, const QString& name) {
        table->present(model, "", name);
        return makeFrame(columnOf({table}, 0, {1, 1, 1, 1}));
    };
    m_findingTable->setWordWrap(true);
    m_linkFrame = framed(m_linkTable, m_links, tr("Links between the nodes"));
    setLayout(columnOf({rowOf({{m_verdict, 1}, {m_save, 0, Qt::AlignTop}}),
                           {rowOf({{framed(m_findingTable, m_findings, tr("Findings")), 3},
                                      {columnOf({framed(m_nodeTable, m_nodes, tr("Nodes")), m_linkFrame}, 10), 2}},
                                10),
                               1}},
        6));
    connect(m_save, &QPushButton::clicked, this, &NodeReport::saveRequested);
    show(ProbeReport());
    m_verdict->setText(tr("\u201cCheck nodes\u201d looks at the target without running anything."));
}

void NodeReport::showLooking(const QString& target)
{
    show(ProbeReport());
    m_verdict->setText(tr("Looking at %1\u2026").arg(target));
}

QString NodeReport::verdict() const
{
    return m_verdict->text();
}

void NodeReport::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    fit(); // the zoom may have changed while it was hidden
}

void NodeReport::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

void NodeReport::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fit();
}

void NodeReport::show(const Expected<ProbeReport>& report)
{
    m_report = report ? *report : ProbeReport();
    m_save->setEnabled(!m_report.hosts.empty());
    m_verdict->setText(report ? probeVerdict(*report) : labelText(fromUtf8(report.error().line())));
    m_findings.show(findingsTable(m_report));
    m_nodes.show(nodesTable(m_report));
    m_links.show(linksTable(m_report));
    m_linkFrame->setVisible(m_links.rowCount() > 0);
    fit();
}

void NodeReport::fit()
{
    for (DataTable* table : {m_findingTable, m_nodeTable, m_linkTable})
        table->resizeColumnsToContents();
    // What was found and what to do share the room by what they say, over several lines; the evidence is to the right
    // of it.
    constexpr int finding = 3, cure = 4;
    int room = m_findingTable->viewport()->width();
    for (int column = 0; column < finding; ++column)
        room -= m_findingTable->columnWidth(column);
    const int least = px(140), said = m_findingTable->columnWidth(finding), told = m_findingTable->columnWidth(cure);
    const int first = std::max(least, said + told > room ? std::min(said, room / 2) : said);
    m_findingTable->setColumnWidth(finding, first);
    m_findingTable->setColumnWidth(cure, std::max(least, room - first));
    m_findingTable->resizeRowsToContents();
    for (int row = 0; row < m_findings.rowCount(); ++row)
        m_findingTable->setRowHeight(row, m_findingTable->rowHeight(row) + px(6));
}

} // namespace fourfold::ui
