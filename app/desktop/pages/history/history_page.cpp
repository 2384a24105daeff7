// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/history/history_page.h"

#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/history/history_detail.h"
#include "app/desktop/pages/history/history_import.h"
#include "app/desktop/pages/history/recalibrate_dialog.h"
#include "app/desktop/pages/history/run_curves_view.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/charts/error_scatter.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/expression_edit.h"
#include "app/desktop/widgets/tables/filter_bar.h"
#include "app/desktop/widgets/tables/level_delegate.h"
#include "app/models/compare/compare_entry.h"
#include "app/models/history/history_command.h"
#include "app/models/runs/live_run.h"
#include "app/models/shared/text.h"
#include "app/view/history/history_access.h"
#include "app/view/runs/run_again.h"
#include "core/calibration/score_card.h"
#include "core/calibration/user/most_off.h"

#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>

namespace fourfold::ui {

namespace {
// A run of more steps is read on a thread of its own: the window must answer while somebody walks through the list.
constexpr int kStepsReadAtOnce = 2000;
} // namespace

HistoryPage::HistoryPage(const PageContext& context)
    : m_file(context.history)
    , m_presets(context.presets)
    , m_table(new DataTable)
    , m_filter(new ExpressionEdit(tr("Filter")))
    , m_emptyText(makeWords("muted"))
    , m_emptyButton(makeButton({}, "plain", "emptyHistory"))
    , m_count(new QLabel)
    , m_compare(makeButton(tr("Compare"), "plain", "compareRuns", tr("Put the selected runs side by side (C)")))
    , m_delete(
          makeButton(tr("Delete"), "plain", "deleteRuns", tr("Delete the selected runs (Del); undo brings them back")))
    , m_recalibrate(makeButton(tr("Recalibrate\u2026"), "plain", "recalibrateRuns",
          tr("Fit the stack's constants to the selected runs and see what would change")))
    , m_detail(new HistoryDetail(m_model))
    , m_curves(new RunCurvesView(m_file))
    , m_views(makeTabs("historyViews", tr("Under the table"), {tr("Run"), tr("Curves")}))
    , m_pages(new QStackedWidget)
{
    QSplitter* split = makeSplitter(QStringLiteral("history.rows"), Qt::Vertical, {makeTable(), makeViews()}, {5, 4});
    setLayout(columnOf({split}));
    connect(m_filter, &ExpressionEdit::expressionChanged, this, &HistoryPage::applyFilter);
    connect(&m_model, &QAbstractItemModel::layoutChanged, this,
        [this] { m_detail->scatter().setSelected(m_table->currentIndex().row()); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &HistoryPage::showSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &HistoryPage::showCounts);
    m_chosenLater.setSingleShot(true);
    connect(&m_chosenLater, &QTimer::timeout, this, &HistoryPage::showChosenCurves);
    connect(m_curves, &RunCurvesView::message, this, &HistoryPage::message);
    connect(&context.controller, &RunController::eventsArrived, m_curves,
        [this, &live = context.live](
            const std::vector<Json>& events) { m_curves->takeEvents(live.run().id(), events); });
    connect(&context.controller, &RunController::said, this, [this](const view::RunMessage& message) {
        if (isVisible() && std::holds_alternative<view::RunCreated>(message))
            refresh(); // a run more
    });
    connect(&m_detail->scatter(), &ErrorScatter::rowClicked, this, [this](int row) {
        choose(row);
        m_table->scrollTo(m_model.index(row, 0));
    });
    connect(m_detail, &HistoryDetail::tagsEdited, this, [this](const std::vector<std::string>& tags) {
        if (const RunSummary* run = m_model.find(m_selected))
            push(view::change_tags(m_file, *run, tags), {m_selected});
    });
    connect(m_detail, &HistoryDetail::noteEdited, this, [this](const std::string& note) {
        if (const RunSummary* run = m_model.find(m_selected))
            push(view::change_note(m_file, *run, note), {m_selected});
    });
}

QPushButton* HistoryPage::makeExports()
{
    QPushButton* exports = makeButton(tr("Export\u2026"), "plain");
    auto* menu = new QMenu(exports);
    addTableExports(*menu, this, tr("History"), [this] { return m_model.list().table(); });
    exports->setMenu(menu);
    return exports;
}

QWidget* HistoryPage::makeTable()
{
    named(m_filter, "historyFilter")->setPlaceholderText(tr("Filter: words, or abs(error) > 0.1 and gpus >= 8"));
    m_filter->setFields(m_model.list().fields());
    m_filter->setMeant(is_run_expression);
    m_count->setProperty("role", "muted");
    m_import = new HistoryImport(m_file, *this);
    connect(m_import, &HistoryImport::message, this, &HistoryPage::message);
    connect(m_import, &HistoryImport::trackerChosen, this, &HistoryPage::openTracker);
    connect(m_import, &HistoryImport::imported, this, [this](const QString& run) {
        if (!run.isEmpty())
            m_filter->clear();
        refresh(run);
    });
    connect(m_delete, &QPushButton::clicked, this, &HistoryPage::deleteChosen);
    connect(m_table, &DataTable::deletePressed, this, &HistoryPage::deleteChosen);
    connect(m_recalibrate, &QPushButton::clicked, this, &HistoryPage::recalibrate);
    connect(m_compare, &QPushButton::clicked, this, &HistoryPage::compareSelected);
    m_table->onKey(Qt::Key_C, [this] { compareSelected(); });
    m_table->onKey(Qt::Key_D, [this] { derivePrediction(); });
    m_table->setRowMenu([this](QMenu& menu) { fillRowMenu(menu); });
    m_table->setViewParts({[this](view::SavedView& view) { view.filter = m_filter->text().toStdString(); },
        [this](const view::SavedView& view) { m_filter->setText(exactText(view.filter)); }});
    m_filterBar = new FilterBar(
        m_filter, 360, {m_count}, {m_compare, m_recalibrate, m_delete, m_import->button(), makeExports()});
    m_table->present(m_model, view::kRunsTable, tr("Stored runs"));
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(HistoryModel::created, Qt::DescendingOrder);
    m_table->setItemDelegate(new LevelDelegate(HistoryModel::LevelRole, m_table));
    m_table->setWidths(HistoryModel::widths());
    m_table->setFitting(
        {HistoryModel::name, HistoryModel::model, HistoryModel::target, HistoryModel::layout, HistoryModel::most_off});
    m_table->setGrowing({HistoryModel::name, HistoryModel::layout, HistoryModel::model, HistoryModel::most_off,
        HistoryModel::target, HistoryModel::tags});
    m_table->setTextElideMode(Qt::ElideMiddle); // imported rows differ at their ends
    m_emptyText->setAlignment(Qt::AlignCenter);
    connect(m_emptyButton, &QPushButton::clicked, this, [this] {
        if (!m_model.list().all().empty())
            m_filter->clear();
        else
            m_import->button()->menu()->popup(m_emptyButton->mapToGlobal(m_emptyButton->rect().bottomLeft()));
    });
    m_table->viewport()->setLayout(
        columnOf({Item::spring(), m_emptyText, {m_emptyButton, 0, Qt::AlignCenter}, Item::spring()}, 6));
    return makePanel(columnOf({m_filterBar, {m_table, 1}}));
}

QWidget* HistoryPage::makeViews()
{
    m_pages->addWidget(m_detail);
    m_pages->addWidget(m_curves);
    connect(m_views, &QTabBar::currentChanged, m_pages, &QStackedWidget::setCurrentIndex);
    return holderOf(columnOf({m_views, {m_pages, 1}}));
}

void HistoryPage::showView(View view)
{
    m_views->setCurrentIndex(static_cast<int>(view));
}

QVariantMap HistoryPage::state() const
{
    return {{QStringLiteral("view"), m_views->currentIndex()}, {QStringLiteral("curves"), m_curves->state()}};
}

void HistoryPage::restore(const QVariantMap& state)
{
    m_curves->restore(state.value(QStringLiteral("curves")).toMap());
    m_views->setCurrentIndex(std::clamp(state.value(QStringLiteral("view")).toInt(), 0, m_views->count() - 1));
}

void HistoryPage::showChosenCurves()
{
    std::vector<RunSummary> runs;
    for (const QModelIndex& row : m_table->selectionModel()->selectedRows())
        runs.push_back(m_model.run(row.row()));
    m_curves->show(runs);
}

void HistoryPage::fillRowMenu(QMenu& menu)
{
    if (chosen().size() == 1) {
        menu.addAction(tr("Open its plan"), this, [this] { offerPlan(false, false); });
        menu.addAction(tr("Run again\u2026"), this, [this] { offerPlan(true, false); });
        menu.addAction(tr("Resume from checkpoint\u2026"), this, [this] { offerPlan(true, true); })
            ->setEnabled(m_canResume);
        const RunSummary* run = m_model.find(m_selected);
        menu.addAction(tr("Open its traced step"), this, &HistoryPage::offerTrace)
            ->setEnabled(run && (run->most_off || run->most_off_due));
        menu.addAction(
                tr("Derivation of its prediction\u2026"), QKeySequence(Qt::Key_D), this, &HistoryPage::derivePrediction)
            ->setEnabled(run && run->predicted_tps_per_gpu);
        menu.addSeparator();
    }
    menu.addAction(tr("Lay curves over each other"), this, [this] { showView(View::curves); });
    menu.addAction(tr("Compare"), this, &HistoryPage::compareSelected);
    menu.addAction(tr("Recalibrate\u2026"), this, &HistoryPage::recalibrate);
    menu.addAction(tr("Delete"), this, &HistoryPage::deleteChosen);
}

void HistoryPage::offerPlan(bool runs, bool fromCheckpoint)
{
    const Expected<RunDetail> run = view::stored_run(m_file, m_selected.toStdString());
    const auto planOf = [&]() -> Expected<Plan> {
        if (!run)
            return run.error();
        return fromCheckpoint ? view::plan_from_checkpoint(*run) : view::plan_of_run(*run);
    };
    if (const Expected<Plan> plan = planOf(); succeeded(this, tr("Its plan cannot be opened"), plan))
        emit planRequested(*plan, fromUtf8(run->summary.target), runs);
}

void HistoryPage::offerTrace()
{
    const Expected<RunDetail> run = view::stored_run(m_file, m_selected.toStdString());
    const Expected<view::RunTrace> traced = run ? view::trace_of_run(*run) : Expected<view::RunTrace>(run.error());
    if (succeeded(this, tr("Its step cannot be shown"), traced))
        emit traceRequested(traced->trace, traced->beside);
}

// Of the figure that the cursor is on, else of the throughput.
void HistoryPage::derivePrediction()
{
    if (m_selected.isEmpty())
        return;
    const Expected<RunDetail> run = view::stored_run(m_file, m_selected.toStdString());
    if (!succeeded(this, tr("Its prediction cannot be shown"), run))
        return;
    const int column = m_table->currentIndex().column();
    const bool ofMemory = column == HistoryModel::predicted_memory || column == HistoryModel::measured_memory;
    const QString title = ofMemory ? tr("the memory, %1") : tr("the throughput, %1");
    if (const CompareEntry entry = entryOf(*run); entry.prediction)
        showDerivation(this, title.arg(entry.name), *entry.prediction, ofMemory ? "memory_gib" : "tps_per_gpu");
    else
        emit message(tr("Nothing was predicted of %1").arg(entry.name));
}

void HistoryPage::showEvent(QShowEvent* event)
{
    refresh();
    QWidget::showEvent(event);
}

bool HistoryPage::focusFilter()
{
    m_filterBar->focusFilter();
    return true;
}

void HistoryPage::refresh(const QString& select)
{
    const QString wanted = select.isEmpty() ? m_selected : select;
    const QStringList together = chosen();
    const int place = m_table->currentIndex().row();
    std::vector<RunSummary> runs;
    m_problem.clear();
    Expected<std::vector<RunSummary>> list = view::stored_runs(m_file);
    if (list)
        runs = *std::move(list);
    else
        m_problem = fromUtf8(list.error().line());
    const bool due = std::any_of(runs.begin(), runs.end(), [](const RunSummary& run) { return run.most_off_due; });
    m_model.show(std::move(runs));
    m_filter->setFields(m_model.list().fields()); // the filter is applied again
    if (due && !m_traces.isRunning())
        compareTraces();
    showCounts();
    // Where the run is gone, the one that took its place.
    const int known = m_model.rowOf(wanted);
    const int row = known >= 0 ? known : std::clamp(place, 0, std::max(0, m_model.rowCount() - 1));
    m_selected.clear();
    if (m_model.rowCount() > 0) {
        choose(row);
        m_table->scrollTo(m_model.index(row, 0));
    }
    showSelected();
    if (known >= 0 && together.size() > 1 && together.contains(wanted))
        selectRuns(together);
}

// Not selectRow(): with Ctrl held, as in Ctrl+5, that turns the selection of the row around.
void HistoryPage::choose(int row)
{
    m_table->selectionModel()->setCurrentIndex(
        m_model.index(row, 0), QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

// Those of them that are on show; the current one stays.
void HistoryPage::selectRuns(const QStringList& ids)
{
    QItemSelection rows;
    for (const QString& id : ids) {
        if (const int row = m_model.rowOf(id); row >= 0)
            rows.select(m_model.index(row, 0), m_model.index(row, HistoryModel::columns - 1));
    }
    if (!rows.isEmpty())
        m_table->selectionModel()->select(rows, QItemSelectionModel::ClearAndSelect);
}

// While what was typed is no expression, the table stays as it is.
void HistoryPage::applyFilter()
{
    m_filterBar->showProblem(m_filter->error().isEmpty() ? m_problem : m_filter->error());
    if (!m_filter->error().isEmpty())
        return;
    const QString selected = m_selected;
    if (m_filter->expression())
        m_model.setFilter(*m_filter->expression());
    else
        m_model.setFilter(m_filter->text());
    showCounts();
    if (const int row = m_model.rowOf(selected); row >= 0)
        choose(row);
}

void HistoryPage::showNext(const QString& run)
{
    if (run.isEmpty())
        return;
    if (isVisible())
        refresh(run);
    else
        m_selected = run;
}

// What nobody could say when the events came in: a prediction for each trace takes a while, so the list is there first.
void HistoryPage::compareTraces()
{
    m_traces.start([this, file = view::history_file_or(m_file)](const std::stop_token& stop) -> Background::Done {
        const Expected<int> compared = compare_traces(file, stop);
        return [this, changed = compared && *compared > 0] {
            if (changed)
                refresh();
        };
    });
}

void HistoryPage::compareSelected()
{
    if (const QStringList runs = chosen(); !runs.isEmpty())
        emit compareRequested(runs);
}

void HistoryPage::showCounts()
{
    const int all = static_cast<int>(m_model.list().all().size()), shown = m_model.rowCount();
    const qsizetype chosenRuns = m_table->selectionModel()->selectedRows().size();
    for (QPushButton* button : {m_compare, m_delete, m_recalibrate})
        button->setEnabled(chosenRuns > 0);
    const bool read = m_problem.isEmpty();
    m_emptyText->setText(all == 0 ? tr("No run yet. Start one in Runs (Ctrl+4), or take a published table.")
                                  : tr("None of %1 matches the filter.").arg(counted(all, tr("run"))));
    m_emptyButton->setText(all == 0 ? tr("Import\u2026") : tr("Show all runs"));
    for (QWidget* part : std::initializer_list<QWidget*>{m_emptyText, m_emptyButton})
        part->setVisible(shown == 0 && read);
    m_chosenLater.start(0);
    m_count->setText(all == 0 ? QString()
            : shown == all    ? counted(all, tr("run"))
                              : tr("%1 of %2").arg(grouped(shown), counted(all, tr("run"))));
}

void HistoryPage::showSelected()
{
    const QModelIndex current = m_table->currentIndex();
    const QString id = current.isValid() ? current.data(HistoryModel::IdRole).toString() : QString();
    m_detail->scatter().setSelected(current.isValid() ? current.row() : -1);
    showCounts();
    if (!id.isEmpty() && id == m_selected)
        return;
    m_detail->commit(); // the words belong to the run that was on show
    m_canResume = false;
    m_selected = id;
    m_reader.cancel(); // of the run before
    if (id.isEmpty()) {
        m_detail->clear();
        return;
    }
    if (m_model.run(current.row()).steps <= kStepsReadAtOnce) {
        showRun(view::stored_run(m_file, id.toStdString()));
        return;
    }
    m_detail->clear();
    m_reader.start([this, id, file = m_file](const std::stop_token&) -> Background::Done {
        return [this, run = std::make_shared<const Expected<RunDetail>>(view::stored_run(file, id.toStdString()))] {
            showRun(*run);
        };
    });
}

void HistoryPage::showRun(const Expected<RunDetail>& run)
{
    m_canResume = run && view::has_checkpoint(*run);
    if (run) {
        m_detail->show(*run);
    } else {
        m_detail->clear();
        emit message(fromUtf8(run.error().line()));
    }
}

QStringList HistoryPage::chosen() const
{
    QStringList ids;
    for (const QModelIndex& row : m_table->selectionModel()->selectedRows())
        ids << row.data(HistoryModel::IdRole).toString();
    return ids;
}

// `runs`: those that it is about; they are chosen again where they are on show.
void HistoryPage::push(view::HistoryStep step, const QStringList& runs)
{
    const QString text = fromUtf8(step.text);
    m_undo.push(new HistoryCommand(std::move(step), [this, text, runs](const Expected<void>& outcome) {
        if (!outcome)
            showProblem(this, tr("The history was not changed"), outcome.error());
        else
            emit message({}); // what was said of the step before
        const bool gone = m_model.rowOf(runs.front()) < 0;
        refresh(runs.front());
        if (gone)
            selectRuns(runs);
    }));
}

void HistoryPage::deleteChosen()
{
    const QStringList ids = chosen();
    if (ids.isEmpty())
        return;
    std::vector<std::string> runs;
    for (const QString& id : ids)
        runs.push_back(id.toStdString());
    push(view::delete_runs(m_file, runs), ids);
    emit message(tr("%1 deleted; undo with Ctrl+Z").arg(counted(double(ids.size()), tr("run"))));
}

void HistoryPage::recalibrate()
{
    std::vector<RunSummary> runs;
    for (const QString& id : chosen()) {
        if (const RunSummary* run = m_model.find(id))
            runs.push_back(*run);
    }
    if (runs.empty())
        return;
    RecalibrateDialog dialog(m_presets, m_file, runs, this);
    connect(&dialog, &RecalibrateDialog::saved, this, &HistoryPage::calibrationSaved);
    dialog.exec();
}

bool HistoryPage::importTable(const std::filesystem::path& csv)
{
    return m_import->table(csv);
}

void HistoryPage::readTable(const std::filesystem::path& csv)
{
    m_import->readTable(csv);
}

bool HistoryPage::importRun(const std::filesystem::path& path)
{
    return m_import->run(path);
}

bool HistoryPage::openTracker(const std::filesystem::path& path)
{
    const Expected<std::size_t> opened = m_curves->openTracker(path);
    if (!succeeded(this, tr("There are no curves to show"), opened))
        return false;
    showView(View::curves);
    emit message(tr("%1 of %2 among the curves").arg(counted(double(*opened), tr("run")), fromUtf8(path.string())));
    return true;
}

} // namespace fourfold::ui
