// SPDX-License-Identifier: GPL-3.0-or-later
// The open plans in a table: names, what differs, verdicts. It stays open and follows them; Enter shows one.
#pragma once

#include "app/models/plan/plan_tabs.h"
#include "app/models/shared/table_model.h"

#include <QDialog>
#include <QTimer>

class QPushButton;

namespace fourfold::ui {

class DataTable;

class PlansDialog : public QDialog {
    Q_OBJECT
public:
    // `plans` outlives it.
    PlansDialog(PlanTabs& plans, QWidget* parent);

signals:
    void planChosen(int index);
    void closeRequested(int index); // of the plan

private:
    void watch(int index);
    void showPlans();
    void showState();

    PlanTabs& m_plans;
    TableModel m_model;
    DataTable* m_table;
    QPushButton *m_show, *m_close;
    QTimer m_later; // many edits are one change of the table
};

} // namespace fourfold::ui
