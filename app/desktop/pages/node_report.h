// SPDX-License-Identifier: GPL-3.0-or-later
// What a look at the nodes brought up: findings with their cures, the nodes and the links between them.
#pragma once

#include "app/models/table_model.h"
#include "runner/preflight/probe.h"

#include <QWidget>

class QLabel;

namespace fourfold::ui {

class DataTable;

class NodeReport : public QWidget {
    Q_OBJECT
public:
    explicit NodeReport(QWidget* parent = nullptr);
    void showLooking(const QString& target);
    void show(const Expected<ProbeReport>& report);
    using QWidget::show;
    [[nodiscard]] QString verdict() const;
    [[nodiscard]] const TableModel& findings() const { return m_findings; }

private:
    TableModel m_findings, m_nodes, m_links;
    QLabel* m_verdict;
    DataTable *m_findingTable, *m_nodeTable, *m_linkTable;
};

} // namespace fourfold::ui
