// SPDX-License-Identifier: GPL-3.0-or-later
// Compare mode: open plans, stored runs and published measurements side by side, as table, charts and timelines.
#pragma once

#include "app/models/compare_model.h"
#include "app/models/plan_tabs.h"

#include <QTimer>
#include <QWidget>

#include <filesystem>

class QCheckBox;
class QComboBox;
class QListWidget;
class QMenu;
class QPushButton;

namespace fourfold::ui {

class CompareCharts;
class DataTable;

class ComparePage : public QWidget {
    Q_OBJECT
public:
    // `plans` outlives the page. Every open plan is in the comparison by itself.
    explicit ComparePage(PlanTabs& plans, QWidget* parent = nullptr);
    ~ComparePage() override;
    // Instead of the user's history.
    void setHistoryFile(const std::filesystem::path& file) { m_history = file; }
    bool addRun(const QString& id); // false: it cannot be read, which was said
    bool addTable(const std::filesystem::path& csv); // asks which rows; false: it cannot be read, which was said
    void addPlans(const std::vector<ResolvedPlan>& plans); // found layouts
    void addRows(const MeasuredTable& table, const std::vector<std::size_t>& rows);
    [[nodiscard]] CompareModel& model() { return m_model; }
    [[nodiscard]] CompareCharts& charts() { return *m_charts; }

signals:
    void openRequested(); // a plan, by its file
    void message(const QString& text); // for the status bar

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeSide();
    QWidget* makeTable();
    void fillAddMenu();
    void watchPlans();
    void planChanged();
    void refresh();
    void showEntries();
    void removeSelected();

    PlanTabs& m_plans;
    std::filesystem::path m_history;
    std::vector<CompareEntry> m_added; // runs and published rows, behind the open plans
    CompareModel m_model;
    QTimer m_later; // several edits are one refresh
    QListWidget* m_list;
    QComboBox* m_reference;
    QCheckBox* m_differences;
    QPushButton *m_add, *m_remove;
    QMenu* m_addMenu;
    DataTable* m_table;
    CompareCharts* m_charts;
};

} // namespace fourfold::ui
