// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/node_report.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/runs/probe_tables.h"
#include "app/models/shared/text.h"

#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace fourfold::ui {

NodeReport::NodeReport(QWidget* parent)
    : QWidget(parent)
    , m_verdict(new QLabel(tr("\u201cCheck nodes\u201d looks at the target without running anything.")))
    , m_save(new QPushButton(tr("Save as a cluster\u2026")))
    , m_findingTable(new DataTable)
    , m_nodeTable(new DataTable)
    , m_linkTable(new DataTable)
{
    m_verdict->setProperty("role", "heading");
    m_verdict->setWordWrap(true);
    m_verdict->setObjectName(QStringLiteral("nodeVerdict"));
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse);
    const auto prepare = [](DataTable* table, TableModel& model, const QString& name) {
        table->setModel(&model);
        table->setAccessibleName(name);
        table->setAlternatingRowColors(true);
        auto* frame = new QFrame;
        frame->setProperty("role", "frame");
        auto* column = new QVBoxLayout(frame);
        column->setContentsMargins(1, 1, 1, 1);
        column->addWidget(table);
        return frame;
    };
    auto* tables = new QHBoxLayout;
    tables->setSpacing(10);
    tables->addWidget(prepare(m_findingTable, m_findings, tr("Findings")), 3);
    m_findingTable->setWordWrap(true);
    auto* right = new QVBoxLayout;
    right->setSpacing(10);
    right->addWidget(prepare(m_nodeTable, m_nodes, tr("Nodes")));
    m_linkFrame = prepare(m_linkTable, m_links, tr("Links between the nodes"));
    right->addWidget(m_linkFrame);
    tables->addLayout(right, 2);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_save->setProperty("plain", true);
    m_save->setObjectName(QStringLiteral("saveNodes"));
    m_save->setToolTip(tr("Measure the speeds of the nodes and keep them as a cluster that plans can name"));
    connect(m_save, &QPushButton::clicked, this, &NodeReport::saveRequested);
    auto* head = new QHBoxLayout;
    head->addWidget(m_verdict, 1);
    head->addWidget(m_save, 0, Qt::AlignTop);
    column->addLayout(head);
    column->addLayout(tables, 1);
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
    m_verdict->setText(report ? probeVerdict(*report) : fromUtf8(report.error().line()));
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
