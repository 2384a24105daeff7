// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts x numbers of GPUs of one job as a heat map: predicted, as a published table measured them, or the error.
#pragma once

#include "app/models/plan/plan_tabs.h"
#include "app/models/search/heat_grid.h"
#include "app/models/shared/background.h"
#include "app/view/compare/published.h"

#include <QWidget>

#include <memory>

class QComboBox;
class QLabel;
class QPushButton;

namespace fourfold::ui {

class HeatMap;

class SweepView : public QWidget {
    Q_OBJECT
public:
    // `plans` outlives the view.
    explicit SweepView(PlanTabs& plans, QWidget* parent = nullptr);
    // Takes the layouts and measurements of a table; false: it cannot be read, which was said.
    bool useTable(const std::filesystem::path& csv);
    void setShow(HeatShow show);
    [[nodiscard]] HeatMap& map() { return *m_map; }
    [[nodiscard]] QString summary() const; // predicted against measured in one line; empty without measurements

signals:
    void compareRequested(const std::vector<fourfold::ResolvedPlan>& plans);
    void applied(); // the current plan has another layout
    void message(const QString& text);
    void ready(); // the map shows what was asked for

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeControls();
    void chooseTable(int index);
    void fillJobs();
    void start();
    void showGrid();
    void showState();
    [[nodiscard]] const ResolvedPlan* base() const; // null: the open plan does not resolve
    [[nodiscard]] std::optional<ResolvedPlan> chosenPlan() const;
    void apply();
    void derive(); // the figure on show of the chosen cell

    PlanTabs& m_plans;
    std::optional<MeasuredTable> m_tableRead;
    std::vector<view::TableJob> m_jobs;
    ResolvedPlan m_base; // of the grid on show
    LayoutGrid m_grid;
    std::shared_ptr<const MeasuredGrid> m_measured; // null: nothing was measured
    Background m_work;
    QComboBox *m_table, *m_job, *m_value, *m_show;
    QLabel *m_summary, *m_problem;
    QPushButton *m_apply, *m_compare;
    HeatMap* m_map;
};

} // namespace fourfold::ui
