// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/node_report.h"

#include "app/desktop/widgets/data_table.h"
#include "app/models/probe_tables.h"
#include "app/models/text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace fourfold::ui {

NodeReport::NodeReport(QWidget* parent)
    : QWidget(parent)
    , m_verdict(new QLabel(tr("\u201cCheck nodes\u201d looks at the target without running anything.")))
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
    tables->addWidget(prepare(m_findingTable, m_findings, tr("Findings")), 6);
    auto* right = new QVBoxLayout;
    right->setSpacing(10);
    right->addWidget(prepare(m_nodeTable, m_nodes, tr("Nodes")));
    right->addWidget(prepare(m_linkTable, m_links, tr("Links between the nodes")));
    tables->addLayout(right, 5);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_verdict);
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

void NodeReport::show(const Expected<ProbeReport>& report)
{
    const ProbeReport shown = report ? *report : ProbeReport();
    m_verdict->setText(report ? probeVerdict(*report) : fromUtf8(report.error().line()));
    m_findings.show(findingsTable(shown));
    m_nodes.show(nodesTable(shown));
    m_links.show(linksTable(shown));
    for (DataTable* table : {m_findingTable, m_nodeTable, m_linkTable})
        table->resizeColumnsToContents();
}

} // namespace fourfold::ui
