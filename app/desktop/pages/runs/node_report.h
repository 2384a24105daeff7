// SPDX-License-Identifier: GPL-3.0-or-later
// What a look at the nodes brought up: findings with their cures, the nodes and the links between them.
#pragma once

#include "app/models/shared/table_model.h"
#include "runner/preflight/probe.h"

#include <QWidget>

class QFrame;
class QLabel;
class QPushButton;

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
    [[nodiscard]] const ProbeReport& report() const { return m_report; } // without hosts: nothing was looked at
    [[nodiscard]] const TableModel& findings() const { return m_findings; }

signals:
    void saveRequested(); // of the nodes as a cluster

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fit(); // columns and rows to what they hold

    ProbeReport m_report;
    TableModel m_findings, m_nodes, m_links;
    QLabel* m_verdict;
    QPushButton* m_save;
    QFrame* m_linkFrame = nullptr;
    DataTable *m_findingTable, *m_nodeTable, *m_linkTable;
};

} // namespace fourfold::ui
