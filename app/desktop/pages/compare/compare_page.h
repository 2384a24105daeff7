// SPDX-License-Identifier: GPL-3.0-or-later
// Compare mode: open plans, stored runs and published measurements side by side, as table, charts and timelines.
#pragma once

#include "app/desktop/pages/compare/compare_series.h"
#include "app/desktop/pages/page.h"
#include "app/models/compare/compare_model.h"
#include "app/models/plan/plan_tabs.h"

#include <QTimer>

#include <filesystem>
#include <set>

class QCheckBox;
class QComboBox;
class QListWidget;
class QMenu;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace fourfold::ui {

class CompareCharts;
class CompareSets;
class CompareTimelines;
class DataTable;
class SweepView;

class ComparePage : public Page {
    Q_OBJECT
public:
    // `plans` outlives the page. `history`: instead of the user's, if not empty. Every open plan is in the comparison
    // by itself.
    explicit ComparePage(PlanTabs& plans, std::filesystem::path history = {});
    ~ComparePage() override;
    bool addRun(const QString& id); // false: it cannot be read, which was said
    bool addTable(const std::filesystem::path& csv); // asks which rows; false: it cannot be read, which was said
    void addPlans(const std::vector<ResolvedPlan>& plans); // found layouts
    void addRows(const MeasuredTable& table, const std::vector<std::size_t>& rows);
    // The best measured throughput of each job of the table that is about a compared model and GPU (of every job, where
    // none is), as series of the scaling chart. Adding it again changes nothing.
    void addSeries(const MeasuredTable& table);
    enum class View { sideBySide, timelines, sweep };
    void showView(View view);
    [[nodiscard]] SweepView& sweep() const { return *m_sweep; }
    // One page about the comparison; no parts while there is nothing to compare.
    [[nodiscard]] ReportPage report() const;
    [[nodiscard]] std::optional<ReportPage> ownReport() const override { return report(); }
    // For the session: added runs, rows and layouts, the reference, what is on show, the comparisons with a name. What
    // restore() brings back takes the place of what was there, as soon as the page is looked at.
    [[nodiscard]] QVariantMap state() const override;
    void restore(const QVariantMap& state) override;
    // What is compared now (comparison_state.h); the other takes its place.
    [[nodiscard]] QVariantMap comparison() const;
    void setComparison(const QVariantMap& comparison);
    [[nodiscard]] CompareSets& sets() const { return *m_sets; }
    [[nodiscard]] CompareModel& model() { return m_model; }
    [[nodiscard]] CompareCharts& charts() { return *m_charts; }
    [[nodiscard]] CompareTimelines& timelines() { return *m_timelines; }

signals:
    void copyRequested(); // of the open plan, to be changed and compared with it
    void reportRequested();
    void openRequested(); // a plan, by its file
    void applied(); // the current plan has another layout

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeSide();
    QWidget* makeTable();
    void addEntry(CompareEntry entry); // unless it is there
    void addKept();
    void fillAddMenu();
    void watchPlans();
    void planChanged();
    void refresh();
    void showEntries();
    void fitColumns();
    void derive(const QModelIndex& index);
    void removeSelected();

    PlanTabs& m_plans;
    std::filesystem::path m_history;
    std::vector<CompareEntry> m_added; // runs and published rows, behind the open plans
    std::set<const PlanDocument*> m_leftOut; // open plans that were taken out of the comparison
    CompareSeries m_series;
    QStringList m_kept; // entries of the last session that were not looked at yet, by their origin
    QString m_keptReference; // of that session, until it is there
    CompareModel m_model;
    QTimer m_later; // several edits are one refresh
    QListWidget* m_list;
    QComboBox* m_reference;
    QCheckBox* m_differences;
    QPushButton *m_add, *m_remove;
    QMenu* m_addMenu;
    CompareSets* m_sets;
    DataTable* m_table;
    CompareCharts* m_charts;
    CompareTimelines* m_timelines;
    SweepView* m_sweep;
    QTabBar* m_views;
    QStackedWidget* m_pages;
};

} // namespace fourfold::ui
