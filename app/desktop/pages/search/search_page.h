// SPDX-License-Identifier: GPL-3.0-or-later
// Search mode: every layout that the current plan's model, cluster and batch allow, best first.
#pragma once

#include "app/desktop/pages/page.h"
#include "app/models/plan/plan_tabs.h"
#include "app/models/search/cure_finder.h"
#include "app/models/search/results_model.h"
#include "app/models/search/search_service.h"

#include <QElapsedTimer>
#include <QPointer>

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QStackedLayout;

namespace fourfold::ui {

class DataTable;
class ExpressionEdit;
class FilterBar;
class NothingFoundView;
class ParetoScatter;

class SearchPage : public Page {
    Q_OBJECT
public:
    // `plans` outlives the page.
    explicit SearchPage(PlanTabs& plans);
    // Starts a search of the current plan, or says why it cannot.
    void start();
    bool focusFilter() override;
    // For the session: what was asked and what is shown of the answer; restore() after the plans are open.
    [[nodiscard]] QVariantMap state() const override;
    void restore(const QVariantMap& state) override;
    [[nodiscard]] ResultsModel& results() { return m_results; }
    [[nodiscard]] const std::vector<ResultRow>& found() const { return m_results.results().all(); } // by id
    [[nodiscard]] SearchService& service() { return m_service; }
    [[nodiscard]] CureFinder& cures() { return m_cures; }
    // Puts the chosen row's layout into the current plan, as one step that can be undone.
    bool applySelected();
    // Puts a change that would let the search find something into the current plan, likewise.
    bool applyCure(std::size_t index);

signals:
    void applied(); // the plan has another layout
    void compareRequested(const std::vector<fourfold::ResolvedPlan>& plans);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeQuestion();
    QWidget* makeResults();
    void connectParts();
    void showPlan();
    void comparePlan();
    void showState();
    void showProgress(double share, const SearchCounts& counts);
    void showOutcome(const SearchResult& result);
    void searchAgain(); // where that was asked for
    void select(int row);
    void comparePinned();
    void deriveSelected();
    [[nodiscard]] std::vector<int> gpuCounts(const ResolvedPlan& plan) const;

    PlanTabs& m_plans;
    SearchService m_service;
    QElapsedTimer m_clock; // since the search began
    CureFinder m_cures;
    ResultsModel m_results;
    QComboBox* m_objective;
    QSpinBox* m_gpus;
    QCheckBox* m_upTo;
    FilterBar* m_filterBar = nullptr;
    ExpressionEdit *m_constraint, *m_filter;
    QLabel *m_constraintError, *m_question, *m_state;
    QProgressBar* m_progress;
    QPushButton *m_start, *m_apply, *m_pin, *m_compare;
    QCheckBox *m_paretoOnly, *m_showRefused;
    bool m_again = false; // the question was changed while its search ran
    bool m_reckons = false; // the plan that was searched from last has a budget
    DataTable* m_table;
    QStackedLayout* m_found = nullptr; // the table, or why it is empty
    NothingFoundView* m_nothing = nullptr;
    ParetoScatter* m_scatter;
    std::size_t m_selected = static_cast<std::size_t>(-1); // id of the row, kept over sorting and filtering
    QPointer<PlanDocument> m_searched; // what the results answer; null: closed, or no search yet
    QMetaObject::Connection m_searchedChanged;
    const PlanDocument* m_asked = nullptr; // identity only: whose number of GPUs is in the field
    int m_planGpus = 0; // that it had then
};

} // namespace fourfold::ui
