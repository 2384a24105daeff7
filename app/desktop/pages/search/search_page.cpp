// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/search/search_page.h"

#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/pareto_scatter.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/desktop/widgets/panels/nothing_found_view.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/expression_edit.h"
#include "app/desktop/widgets/tables/filter_bar.h"
#include "app/desktop/widgets/tables/level_delegate.h"
#include "app/desktop/widgets/text/elided_label.h"
#include "app/models/shared/text.h"
#include "app/view/plan/facts.h"
#include "app/view/prediction/whole_training.h"
#include "app/view/search/search_words.h"
#include "core/calibration/user/evidence.h"
#include "core/plan/plan_edit.h"
#include "core/search/search_cost.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QShortcut>
#include <QSpinBox>
#include <QStackedLayout>

#include <cmath>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kMostExported = 100'000;
// Of the session.
const QString kObjective = QStringLiteral("objective"), kGpus = QStringLiteral("gpus"),
              kPlanGpus = QStringLiteral("planGpus"), kUpTo = QStringLiteral("upTo"),
              kConstraint = QStringLiteral("constraint"), kFilter = QStringLiteral("filter"),
              kParetoOnly = QStringLiteral("paretoOnly"), kShowRefused = QStringLiteral("showRefused");

} // namespace

SearchPage::SearchPage(PlanTabs& plans)
    : m_plans(plans)
    , m_objective(new QComboBox)
    , m_gpus(new QSpinBox)
    , m_upTo(named(new QCheckBox(tr("and fewer")), "searchUpTo", tr("Also fewer GPUs")))
    , m_constraint(new ExpressionEdit(tr("Constraint")))
    , m_filter(new ExpressionEdit(tr("Filter")))
    , m_constraintError(makeWords("bad"))
    , m_question(makeWords("muted", {}, new ElidedLabel))
    , m_state(makeWords("muted"))
    , m_progress(new QProgressBar)
    , m_start(makeButton(tr("Search"), "primary", "search"))
    , m_apply(makeButton(
          tr("Apply to plan"), "plain", "applyLayout", tr("Put this layout into the plan (Enter); it can be undone")))
    , m_pin(makeButton(tr("Pin"), "plain", "", tr("Keep this row for comparing (P)")))
    , m_compare(makeButton(tr("Compare pinned"), "plain"))
    , m_paretoOnly(new QCheckBox(tr("Pareto front only")))
    , m_showRefused(named(new QCheckBox(tr("Show refused")), "showRefused", tr("Show what the software refuses")))
    , m_table(new DataTable)
    , m_scatter(new ParetoScatter(m_results))
{
    for (QLabel* line : {m_question, m_state})
        line->setWordWrap(false);
    QWidget* chart = holderOf(columnOf({m_scatter}, 0, {12, 12, 12, 12}));
    QSplitter* split = makeSplitter(QStringLiteral("search.columns"), Qt::Horizontal, {makeResults(), chart}, {79, 21});
    setLayout(columnOf({makeQuestion(), {split, 1}}));
    connectParts();
    showState();
}

QWidget* SearchPage::makeQuestion()
{
    for (const view::ObjectiveChoice& choice : view::objective_choices())
        m_objective->addItem(exactText(choice.label), exactText(choice.field));
    named(m_objective, "objective", tr("Objective"));
    m_objective->setToolTip(tr("\u201cto train\u201d: the tokens, price, failures and power of the plan (card "
                               "\u201cBudget\u201d of its page)"));
    m_showRefused->setToolTip(tr("Also layouts that fit, but at which the plan's software would stop; searches again"));
    m_gpus->setRange(1, 1 << 20);
    m_gpus->setGroupSeparatorShown(true);
    named(m_gpus, "searchGpus", tr("GPUs to search for"));
    fixWidth(m_gpus, 100);
    m_upTo->setToolTip(tr("Also every number of whole nodes below it"));
    named(m_constraint, "constraint")
        ->setPlaceholderText(tr("for example: tp <= 8 and memory_gib < 70 and recompute != full"));
    m_progress->setTextVisible(false);
    m_progress->setRange(0, 1000);
    m_progress->setAccessibleName(tr("Progress of the search"));
    fixHeight(m_progress, 4);
    QSizePolicy policy = m_progress->sizePolicy();
    policy.setRetainSizeWhenHidden(true); // nothing jumps when a search ends
    m_progress->setSizePolicy(policy);
    return makePanel(columnOf(
        {rowOf({labelOf(tr("Best by"), m_objective), m_objective, Item::gap(8), labelOf(tr("on GPUs"), m_gpus), m_gpus,
                   m_upTo, Item::gap(8), labelOf(tr("where"), m_constraint), {m_constraint, 1}, m_start},
             10),
            m_constraintError, rowOf({{m_question, 1}, m_state}, 6), m_progress},
        6, {12, 10, 12, 8}));
}

QWidget* SearchPage::makeResults()
{
    named(m_filter, "resultFilter")->setPlaceholderText(tr("Filter the results: memory_gib < 60 and tp == 8"));
    named(m_paretoOnly, "paretoOnly", m_paretoOnly->text());
    QPushButton* exports = makeButton(tr("Export\u2026"), "plain");
    auto* menu = new QMenu(exports);
    addTableExports(*menu, this, tr("Search results"), [this] { return m_results.results().table(kMostExported); });
    exports->setMenu(menu);
    m_filterBar = new FilterBar(m_filter, 0, {m_paretoOnly, m_showRefused}, {m_apply, m_pin, m_compare, exports});
    m_table->present(m_results, view::kFoundTable, tr("Found layouts"));
    m_table->setItemDelegate(new LevelDelegate(ResultsModel::LevelRole, m_table));
    m_table->setSortingEnabled(true);
    m_table->horizontalHeader()->setSortIndicator(ResultsModel::place, Qt::AscendingOrder);
    m_table->setWidths(ResultsModel::widths());
    m_table->setUsuallyHidden({ResultsModel::days, ResultsModel::cost, ResultsModel::energy});
    m_table->setViewParts({[this](view::SavedView& view) {
                               view.filter = m_filter->text().toStdString();
                               view.front_only = m_paretoOnly->isChecked();
                           },
        [this](const view::SavedView& view) {
            m_filter->setText(exactText(view.filter));
            m_paretoOnly->setChecked(view.front_only);
        }});
    m_table->setFitting({});
    QList<int> all;
    for (int column = ResultsModel::place; column < ResultsModel::confidence; ++column)
        all << column;
    m_table->setGrowing(all); // a wide window shows no empty half
    m_nothing = named(new NothingFoundView(m_cures), "nothingFound");
    QLabel* invitation = makeWords("muted",
        tr("No search yet.\n\nPress Search (Ctrl+Enter; F6 from any page) to try every layout that the plan's "
           "model, cluster and batch allow.\nA condition under \u201cwhere\u201d leaves out what you do not want."));
    named(invitation, "searchInvitation")->setAlignment(Qt::AlignCenter);
    m_found = new QStackedLayout;
    for (QWidget* view : std::initializer_list<QWidget*>{invitation, m_table, m_nothing})
        m_found->addWidget(view);
    return makePanel(columnOf({m_filterBar, {m_found, 1}}));
}

void SearchPage::connectParts()
{
    connect(m_start, &QPushButton::clicked, this, [this] {
        if (m_service.isRunning())
            m_service.cancel();
        else
            start();
        showState();
    });
    connect(m_constraint, &QLineEdit::returnPressed, this, &SearchPage::start);
    connect(m_constraint, &ExpressionEdit::expressionChanged, this, &SearchPage::showState);
    connect(m_filter, &ExpressionEdit::expressionChanged, this, [this] {
        if (m_filter->error().isEmpty())
            m_results.setFilter(m_filter->expression());
        showState();
    });
    connect(m_paretoOnly, &QCheckBox::toggled, &m_results, &ResultsModel::setParetoOnly);
    connect(m_showRefused, &QCheckBox::clicked, this, [this] {
        if (m_service.isRunning() || m_found->currentIndex() > 0) // something was asked: the answer is another one now
            m_again = true;
        m_service.isRunning() ? m_service.cancel() : searchAgain();
    });
    connect(&m_service, &SearchService::found, this, [this](const std::vector<ResultRow>& rows) {
        m_results.append(rows);
        showState();
    });
    connect(&m_service, &SearchService::progressed, this, &SearchPage::showProgress);
    connect(&m_service, &SearchService::finished, this, &SearchPage::showOutcome);
    connect(&m_results, &QAbstractItemModel::modelReset, this, [this] {
        const int row = m_selected < found().size() ? m_results.results().row_of(m_selected) : -1;
        if (row >= 0)
            m_table->setCurrentIndex(m_results.index(row, 0));
        m_scatter->setSelected(row);
        showState();
    });
    connect(&m_results, &ResultsModel::pinsChanged, this, &SearchPage::showState);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        if (index.isValid())
            m_selected = m_results.idOf(index.row());
        m_scatter->setSelected(index.isValid() ? index.row() : -1);
        showState();
    });
    connect(m_scatter, &ParetoScatter::rowClicked, this, &SearchPage::select);
    connect(m_table, &QAbstractItemView::activated, this, &SearchPage::applySelected);
    connect(m_apply, &QPushButton::clicked, this, &SearchPage::applySelected);
    const auto pin = [this] {
        if (m_table->currentIndex().isValid())
            m_results.togglePin(m_table->currentIndex().row());
    };
    connect(m_pin, &QPushButton::clicked, this, pin);
    connect(m_compare, &QPushButton::clicked, this, &SearchPage::comparePinned);
    connect(m_nothing, &NothingFoundView::applyRequested, this, &SearchPage::applyCure);
    m_table->onKey(Qt::Key_P, pin);
    m_table->addRowAction(m_apply->text(), Qt::Key_Return, [this] { applySelected(); });
    m_table->addRowAction(tr("Pin"), Qt::Key_P, pin);
    m_table->addRowAction(
        tr("Compare pinned"), Qt::Key_C, [this] { comparePinned(); },
        [this] { return !m_results.results().pinned().empty(); });
    m_table->onKey(Qt::Key_C, [this] { comparePinned(); });
    m_table->addRowAction(tr("Derivation\u2026"), Qt::Key_D, [this] { deriveSelected(); });
    m_table->onKey(Qt::Key_D, [this] { deriveSelected(); });
    auto* startKey = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this);
    startKey->setContext(Qt::WidgetWithChildrenShortcut);
    connect(startKey, &QShortcut::activated, this, &SearchPage::start);
    connect(&m_plans, &PlanTabs::currentChanged, this, &SearchPage::showPlan);
    connect(&m_plans, &PlanTabs::edited, this, &SearchPage::showPlan);
    connect(&m_plans, &PlanTabs::removed, this, &SearchPage::showPlan);
}

void SearchPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    showPlan();
}

bool SearchPage::focusFilter()
{
    m_filterBar->focusFilter();
    return true;
}

QVariantMap SearchPage::state() const
{
    return {{kObjective, m_objective->currentData()}, {kGpus, m_asked == &m_plans.current() ? m_gpus->value() : 0},
        {kPlanGpus, m_planGpus}, {kUpTo, m_upTo->isChecked()}, {kConstraint, m_constraint->text()},
        {kFilter, m_filter->text()}, {kParetoOnly, m_paretoOnly->isChecked()},
        {kShowRefused, m_showRefused->isChecked()}};
}

void SearchPage::restore(const QVariantMap& state)
{
    if (const int objective = m_objective->findData(state.value(kObjective)); objective >= 0)
        m_objective->setCurrentIndex(objective);
    if (const int gpus = state.value(kGpus).toInt();
        gpus > 0) { // of the plan that was asked about, which is open again
        m_gpus->setValue(gpus);
        m_asked = &m_plans.current();
        m_planGpus = state.value(kPlanGpus).toInt();
    }
    m_upTo->setChecked(state.value(kUpTo).toBool());
    m_constraint->setText(state.value(kConstraint).toString());
    m_filter->setText(state.value(kFilter).toString());
    m_paretoOnly->setChecked(state.value(kParetoOnly).toBool());
    m_showRefused->setChecked(state.value(kShowRefused).toBool());
}

void SearchPage::showPlan()
{
    if (!isVisible())
        return;
    const PlanDocument& document = m_plans.current();
    const std::optional<ResolvedPlan>& plan = document.lastResolved();
    if (plan) {
        // What was typed stays for as long as the plan keeps its own number: a tab may get another plan.
        if (m_asked != &document || m_planGpus != plan->gpus)
            m_gpus->setValue(plan->gpus);
        m_asked = &document;
        m_planGpus = plan->gpus;
        m_question->setText(
            tr("%1 on %2, %3 sequences of %4 tokens, %5")
                .arg(fromUtf8(plan->model.name), fromUtf8(plan->cluster.name), grouped(plan->training.global_batch),
                    grouped(double(plan->training.seq_len)), fromUtf8(plan->stack.name)));
        m_question->setToolTip(m_question->text());
    }
    comparePlan();
    showState();
}

// With the plan that was searched from, while it is open and valid.
void SearchPage::comparePlan()
{
    std::optional<double> its;
    if (m_searched && m_plans.indexOf(*m_searched) >= 0 && m_searched->isAnswered())
        its = view::throughput_to_beat(m_service.request(), *m_searched->resolved(), *m_searched->prediction());
    m_results.setPlan(its ? m_searched->title() : QString(), its);
}

std::vector<int> SearchPage::gpuCounts(const ResolvedPlan& plan) const
{
    return m_upTo->isChecked() ? gpu_counts(plan.cluster, m_gpus->value()) : std::vector<int>{m_gpus->value()};
}

void SearchPage::start()
{
    if (m_service.isRunning())
        return;
    const std::optional<ResolvedPlan>& plan = m_plans.current().resolved();
    if (!plan || !m_constraint->error().isEmpty())
        return; // the page says why
    Expected<SearchRequest> request = view::search_request(m_plans.current().plan(), *plan,
        {gpuCounts(*plan), m_objective->currentData().toString().toStdString(), m_constraint->expression(),
            m_showRefused->isChecked()});
    if (!succeeded(window(), tr("The search cannot start"), request))
        return;
    m_results.clear();
    m_table->sortByColumn(ResultsModel::place, Qt::AscendingOrder); // the order that was asked for, not an old one
    m_cures.forget();
    m_found->setCurrentWidget(m_table);
    m_selected = static_cast<std::size_t>(-1);
    m_progress->setValue(0);
    m_state->setText(tr("Searching\u2026"));
    m_clock.start();
    // What is the same in every row takes no room.
    m_table->setColumnHidden(ResultsModel::gpus, request->space.gpus.size() == 1);
    m_table->setColumnHidden(ResultsModel::ep, !plan->model.experts);
    // Who says what a training costs wants to see it; from then on the columns are the user's.
    if (const bool reckons = has_budget(m_plans.current().plan()); std::exchange(m_reckons, reckons) != reckons) {
        m_table->setColumnHidden(ResultsModel::days, !reckons);
        m_table->setColumnHidden(ResultsModel::cost, !reckons || std::isnan(request->budget.price_per_gpu_hour));
    }
    disconnect(m_searchedChanged);
    m_searched = &m_plans.current();
    m_searchedChanged = connect(m_searched, &PlanDocument::predictionChanged, this, [this] {
        if (isVisible())
            comparePlan();
    });
    m_results.setTrainingTip(view::budget_line(request->budget));
    m_service.start(*std::move(request));
    comparePlan();
    m_results.setWarnings([asked = m_service.request()](const FoundLayout& found) {
        return predict_with_evidence(plan_of(found, asked)).warnings;
    });
    showState();
}

void SearchPage::showProgress(double share, const SearchCounts& counts)
{
    m_progress->setValue(static_cast<int>(share * 1000));
    m_state->setText(
        fromUtf8(view::search_progress_text(counts, seconds_left(share, double(m_clock.elapsed()) / 1000))));
}

void SearchPage::showOutcome(const SearchResult& result)
{
    m_progress->setValue(1000);
    m_results.setOutcome(result.best, result.pareto);
    m_state->setText(fromUtf8(view::search_outcome_text(result)));
    if (m_selected >= found().size() && m_results.rowCount() > 0)
        select(0);
    if (result.best.empty() && !result.cancelled) {
        m_cures.look(m_service.request(), result);
        m_found->setCurrentWidget(m_nothing);
    }
    emit message(fromUtf8(view::search_outcome_text(result)));
    showState();
    searchAgain();
}

void SearchPage::searchAgain()
{
    if (std::exchange(m_again, false))
        start();
}

void SearchPage::select(int row)
{
    m_table->setCurrentIndex(m_results.index(row, 0));
    m_table->scrollTo(m_results.index(row, 0));
    m_table->setFocus();
}

void SearchPage::showState()
{
    const PlanDocument& document = m_plans.current();
    const bool running = m_service.isRunning();
    QString refusal = m_constraint->error();
    if (refusal.isEmpty() && !document.resolved())
        refusal = document.problem() ? fromUtf8(document.problem()->line()) : tr("There is no plan to search from");
    m_constraintError->setText(refusal);
    m_constraintError->setVisible(!refusal.isEmpty());
    m_filterBar->showProblem(m_filter->error());
    m_start->setText(running ? tr("Cancel") : tr("Search"));
    m_start->setToolTip(running ? tr("What was found stays") : tr("Search (Ctrl+Enter)"));
    m_start->setEnabled(running || refusal.isEmpty());
    m_progress->setVisible(running);
    const bool chosen = m_table->currentIndex().isValid();
    m_apply->setEnabled(chosen);
    m_pin->setEnabled(chosen);
    const auto pins = m_results.results().pinned().size();
    m_compare->setEnabled(pins > 0);
    m_compare->setText(pins > 0 ? tr("Compare %1 pinned").arg(pins) : tr("Compare pinned"));
}

bool SearchPage::applySelected()
{
    const QModelIndex at = m_table->currentIndex();
    if (!at.isValid())
        return false;
    PlanDocument& document = m_plans.current();
    const ResolvedPlan found = plan_of(m_results.row(at.row()).found, m_service.request());
    document.apply(tr("Apply layout"), {}, with_layout(document.plan(), found));
    emit message(tr("%1 is in the plan; undo takes it back").arg(fromUtf8(view::layout_line(found.layout))));
    emit applied();
    return true;
}

// Of the figure that the cursor is on, else of the throughput.
void SearchPage::deriveSelected()
{
    const QModelIndex at = m_table->currentIndex();
    if (!at.isValid())
        return;
    const auto figure = [&]() -> std::pair<const char*, QString> {
        switch (at.column()) {
        case ResultsModel::memory:
            return {"memory_gib", tr("the memory")};
        case ResultsModel::mfu:
            return {"mfu", tr("the MFU")};
        case ResultsModel::step_time:
            return {"step_time_s", tr("the step time")};
        case ResultsModel::confidence:
            return {"interval", tr("the interval")};
        default:
            return {"tps_per_gpu", tr("the throughput")};
        }
    }();
    const ResolvedPlan plan = plan_of(m_results.row(at.row()).found, m_service.request());
    showDerivation(this, tr("%1 of %2").arg(figure.second, fromUtf8(view::layout_line(plan.layout))),
        predict_with_evidence(plan), figure.first);
}

bool SearchPage::applyCure(std::size_t index)
{
    PlanDocument& document = m_plans.current();
    if (index >= m_cures.all().size() || !document.resolved())
        return false;
    const QString change = fromUtf8(m_cures.all()[index].edit.summary);
    document.apply(tr("Apply layout"), {}, m_cures.applied(index, document.plan(), *document.resolved()));
    emit message(tr("The layout with %1 is in the plan; undo takes it back").arg(change));
    emit applied();
    return true;
}

void SearchPage::comparePinned()
{
    std::vector<ResolvedPlan> plans;
    for (const std::size_t id : m_results.results().pinned())
        plans.push_back(plan_of(found()[id].found, m_service.request()));
    if (!plans.empty())
        emit compareRequested(plans);
}

} // namespace fourfold::ui
