// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/compare_page.h"

#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/compare/compare_charts.h"
#include "app/desktop/pages/compare/compare_report.h"
#include "app/desktop/pages/compare/compare_sets.h"
#include "app/desktop/pages/compare/compare_timelines.h"
#include "app/desktop/pages/compare/row_picker.h"
#include "app/desktop/pages/compare/sweep_view.h"
#include "app/desktop/widgets/cards/card_export.h"
#include "app/desktop/widgets/cards/card_stack.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/level_delegate.h"
#include "app/models/compare/compare_origin.h"
#include "app/models/compare/comparison_state.h"
#include "app/models/shared/text.h"
#include "app/view/compare/comparison_bars.h"
#include "app/view/compare/published.h"
#include "app/view/history/history_access.h"
#include "app/view/plan/facts.h"
#include "core/calibration/score_card.h"
#include "core/calibration/user/evidence.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kSideWidth = 260;
constexpr int kMostRunsOffered = 25;
constexpr int kRefreshMilliseconds = 60;
constexpr int kFigureWidth = 190, kColumnWidth = 150, kWidestColumn = 900; // at most a warning in one line

const QString kView = QStringLiteral("view"), kSets = QStringLiteral("sets"); // of the session

constexpr const char* kOpenPlan = "plan:";

QString planId(const PlanDocument& document)
{
    return QLatin1String(kOpenPlan) + QString::number(reinterpret_cast<quintptr>(&document));
}
// The same in the next session.
QString referenceName(const CompareEntry& entry)
{
    return entry.origin.isEmpty() ? entry.name : entry.origin;
}
} // namespace

ComparePage::ComparePage(PlanTabs& plans, std::filesystem::path history)
    : m_plans(plans)
    , m_history(std::move(history))
    , m_list(new QListWidget)
    , m_reference(makeChooser("compareReference", tr("Reference")))
    , m_differences(new QCheckBox(tr("Differences only")))
    , m_add(makeButton(tr("Add"), "plain", "compareAdd"))
    , m_remove(makeButton(tr("Remove"), "plain", "compareRemove"))
    , m_addMenu(new QMenu(this))
    , m_sets(new CompareSets(*this, plans))
    , m_table(new DataTable)
    , m_charts(new CompareCharts(plans.presets()))
    , m_timelines(new CompareTimelines)
    , m_sweep(new SweepView(plans))
    , m_views(makeTabs("compareViews", tr("View"), {tr("Side by side"), tr("Timelines"), tr("Layouts and GPUs")}))
    , m_pages(new QStackedWidget)
{
    QSplitter* rows = makeSplitter(QStringLiteral("compare.rows"), Qt::Vertical, {makeTable(), m_charts}, {6, 4});
    QSplitter* split = makeSplitter(QStringLiteral("compare.side"), Qt::Horizontal, {makeSide(), rows}, {18, 82});
    for (QWidget* view : std::initializer_list<QWidget*>{split, m_timelines, m_sweep})
        m_pages->addWidget(view);
    setLayout(columnOf({m_views, {m_pages, 1}}));
    connect(m_views, &QTabBar::currentChanged, m_pages, &QStackedWidget::setCurrentIndex);
    connect(m_sets, &CompareSets::message, this, &ComparePage::message);
    connect(m_sweep, &SweepView::message, this, &ComparePage::message);
    connect(m_sweep, &SweepView::applied, this, &ComparePage::applied);
    connect(m_sweep, &SweepView::compareRequested, this, [this](const std::vector<ResolvedPlan>& plans) {
        showView(View::sideBySide);
        addPlans(plans);
    });

    m_later.setSingleShot(true);
    m_later.setInterval(kRefreshMilliseconds);
    connect(&m_later, &QTimer::timeout, this, &ComparePage::refresh);
    connect(m_reference, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_keptReference.clear();
        m_model.setReference(index);
        m_charts->show(m_model.entries());
    });
    connect(m_differences, &QCheckBox::toggled, &m_model, &CompareModel::setDifferencesOnly);
    connect(m_addMenu, &QMenu::aboutToShow, this, &ComparePage::fillAddMenu);
    connect(m_remove, &QPushButton::clicked, this, &ComparePage::removeSelected);
    connect(
        m_list, &QListWidget::itemSelectionChanged, this, [this] { m_remove->setEnabled(m_list->currentRow() >= 0); });
    connect(&plans, &PlanTabs::added, this, &ComparePage::watchPlans);
    connect(&plans, &PlanTabs::removed, this, [this] {
        std::erase_if(m_leftOut, [this](const PlanDocument* plan) { return m_plans.indexOf(*plan) < 0; });
        m_later.start();
    });
    connect(&plans, &PlanTabs::edited, &m_later, qOverload<>(&QTimer::start));
    watchPlans();
}

ComparePage::~ComparePage() = default;

QWidget* ComparePage::makeSide()
{
    named(m_list, "compareList", tr("Compared plans and runs"))->setFrameShape(QFrame::NoFrame);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    named(m_differences, "differencesOnly", m_differences->text());
    m_add->setMenu(m_addMenu);
    m_remove->setEnabled(false);
    QPushButton* exports = makeButton(tr("Export\u2026"), "plain", "compareExport");
    auto* exportMenu = new QMenu(exports);
    addTableExports(*exportMenu, this, tr("Comparison"), [this] { return m_model.table(); });
    exportMenu->addSeparator();
    exportMenu->addAction(tr("Report with charts, one page of PDF\u2026"), this, &ComparePage::reportRequested);
    exports->setMenu(exportMenu);
    QWidget* side = makePanel(columnOf({panelTitle(tr("Side by side")), {m_list, 1},
        columnOf({rowOf({{m_add, 1}, {m_remove, 1}}), labelOf(tr("Reference"), m_reference), m_reference, m_differences,
                     exports},
            8, {12, 10, 12, 12})}));
    limitWidth(side, kSideWidth);
    return side;
}

QWidget* ComparePage::makeTable()
{
    m_table->present(m_model, view::kComparedTable, tr("Comparison"));
    m_table->setViewParts({[this](view::SavedView& view) { view.differences_only = m_differences->isChecked(); },
        [this](const view::SavedView& view) { m_differences->setChecked(view.differences_only); }});
    m_table->keepWidths(); // fitColumns() has them
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setItemDelegate(new LevelDelegate(CompareModel::LevelRole, m_table));
    m_table->horizontalHeader()->setStretchLastSection(false);
    m_table->horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
    m_table->viewport()->installEventFilter(this);
    connect(m_table, &QAbstractItemView::activated, this, &ComparePage::derive);
    m_table->addRowAction(
        tr("Derivation\u2026"), Qt::Key_Return, [this] { derive(m_table->currentIndex()); },
        [this] { return m_model.derivedAt(m_table->currentIndex()).entry != nullptr; });
    return makePanel(columnOf({m_table}));
}

void ComparePage::derive(const QModelIndex& index)
{
    const CompareModel::Derived derived = m_model.derivedAt(index);
    if (!derived.entry)
        return;
    const Prediction& prediction = *derived.entry->prediction;
    const QStringList path = derived.part.isEmpty() ? QStringList() : QStringList{derived.part};
    if (derived.figure != CompareModel::kStageMemory)
        showDerivation(this, derived.title, prediction, derived.figure, path);
    else if (const StageMemory* stage = view::fullest(prediction))
        showDerivation(this, derived.title, explain_stage(prediction, stage->stage), path);
}

void ComparePage::watchPlans()
{
    for (int i = 0; i < m_plans.count(); ++i)
        connect(&m_plans.document(i), &PlanDocument::predictionChanged, this, &ComparePage::planChanged,
            Qt::UniqueConnection);
    m_later.start();
}

void ComparePage::planChanged()
{
    m_later.start();
}

void ComparePage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    addKept();
    refresh();
}

void ComparePage::refresh()
{
    m_later.stop();
    if (!isVisible())
        return; // every edit of a plan comes by here
    std::vector<CompareEntry> entries;
    for (int i = 0; i < m_plans.count(); ++i) {
        const PlanDocument& document = m_plans.document(i);
        if (!m_leftOut.contains(&document) && document.prediction() && document.isAnswered())
            entries.push_back(entryOf(planId(document), document.title(), *document.prediction()));
    }
    entries.insert(entries.end(), m_added.begin(), m_added.end());
    m_model.show(std::move(entries));
    for (std::size_t i = 0; i < m_model.entries().size() && !m_keptReference.isEmpty(); ++i) {
        if (referenceName(m_model.entries()[i]) == m_keptReference) {
            m_model.setReference(static_cast<int>(i));
            m_keptReference.clear();
        }
    }
    showEntries();
    m_charts->show(m_model.entries());
    m_timelines->show(m_model.entries());
}

void ComparePage::showEntries()
{
    const QSignalBlocker listBlocker(m_list), referenceBlocker(m_reference);
    const int selected = m_list->currentRow();
    m_list->clear();
    m_reference->clear();
    int number = 0; // as over the columns and under the bars
    for (const CompareEntry& entry : m_model.entries()) {
        m_list->addItem(QStringLiteral("%1  %2: %3").arg(++number).arg(entryKindLabel(entry.kind), entry.name));
        m_reference->addItem(entry.name);
    }
    for (const CurveSeries& curve : m_series.curves())
        m_list->addItem(tr("Series: %1").arg(curve.name));
    m_list->setCurrentRow(std::min(selected, m_list->count() - 1));
    m_reference->setCurrentIndex(m_model.reference());
    fitColumns();
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const bool heading = m_model.index(row, 0).data(CompareModel::HeadingRole).toBool();
        if (heading && m_model.columnCount() > 1)
            m_table->setSpan(row, 0, 1, m_model.columnCount());
        else if (m_table->columnSpan(row, 0) > 1)
            m_table->setSpan(row, 0, 1, 1);
    }
}

// As wide as their names and values, narrower where all of them are then on show.
void ComparePage::fitColumns()
{
    const int entries = static_cast<int>(m_model.entries().size());
    QList<int> widths{kFigureWidth};
    const int room = m_table->viewport()->width() * 100 / zoom() - kFigureWidth;
    const int widest = std::clamp(room / std::max(1, entries), kColumnWidth, kWidestColumn);
    QFont bold = m_table->horizontalHeader()->font();
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(m_table->font());
    for (int column = 1; column <= entries; ++column) {
        const QString& name = m_model.entries()[static_cast<std::size_t>(column - 1)].name;
        int needed = QFontMetrics(bold).horizontalAdvance(name) + px(44);
        for (int row = 0; row < m_model.rowCount(); ++row)
            needed = std::max(needed, metrics.horizontalAdvance(m_model.index(row, column).data().toString()) + px(24));
        widths << std::clamp(needed * 100 / zoom(), kColumnWidth, widest);
    }
    m_table->setWidths(widths);
}

bool ComparePage::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_table->viewport() && event->type() == QEvent::Resize)
        fitColumns();
    return QWidget::eventFilter(watched, event);
}

void ComparePage::fillAddMenu()
{
    m_addMenu->clear();
    m_addMenu->addAction(tr("Open a plan\u2026"), this, &ComparePage::openRequested);
    m_addMenu->addAction(tr("Copy of the open plan"), this, &ComparePage::copyRequested);
    for (const PlanDocument* plan : m_leftOut) {
        m_addMenu->addAction(tr("Open plan: %1").arg(plan->title()), this, [this, plan] {
            m_leftOut.erase(plan);
            refresh();
        });
    }
    QMenu* runs = m_addMenu->addMenu(tr("Run of the history"));
    const Expected<std::vector<RunSummary>> stored = view::stored_runs(m_history, kMostRunsOffered);
    for (const RunSummary& run : stored ? *stored : std::vector<RunSummary>()) {
        const QString id = fromUtf8(run.id);
        const QString date = fromUtf8(run.created).left(16).replace(QLatin1Char('T'), QLatin1Char(' '));
        runs->addAction(QStringLiteral("%1, %2").arg(fromUtf8(run.name), date), this, [this, id] { addRun(id); });
    }
    runs->setEnabled(!runs->isEmpty());
    QMenu* tables = m_addMenu->addMenu(tr("Published table"));
    for (const std::filesystem::path& table : published_tables())
        tables->addAction(fromUtf8(table.stem().string()), this, [this, table] { addTable(table); });
    tables->addSeparator();
    tables->addAction(tr("CSV file\u2026"), this, [this] {
        const QString csv = QFileDialog::getOpenFileName(this, tr("Compare with measurements"), {}, tr("CSV (*.csv)"));
        if (!csv.isEmpty())
            addTable(csv.toStdString());
    });
    m_addMenu->addSeparator();
    m_sets->addTo(*m_addMenu->addMenu(tr("Comparisons")));
}

bool ComparePage::addRun(const QString& id)
{
    const Expected<RunDetail> run = view::stored_run(m_history, id.toStdString());
    if (!succeeded(this, tr("The run cannot be compared"), run))
        return false;
    addEntry(entryOf(*run));
    refresh();
    return true;
}

bool ComparePage::addTable(const std::filesystem::path& csv)
{
    const Expected<MeasuredTable> table = view::read_table(csv, m_plans.presets());
    if (!succeeded(this, tr("The table cannot be compared"), table))
        return false;
    if (!table->problems.empty())
        emit message(
            tr("%1 of the table cannot be read; the first: %2")
                .arg(counted(double(table->problems.size()), tr("row")), fromUtf8(table->problems.front().line())));
    RowPicker picker(*table, this);
    switch (picker.exec()) {
    case RowPicker::kWholeTable:
        addSeries(*table);
        break;
    case QDialog::Accepted:
        addRows(*table, picker.chosen());
        break;
    default:
        break;
    }
    return true;
}

void ComparePage::addPlans(const std::vector<ResolvedPlan>& plans)
{
    for (const ResolvedPlan& plan : plans)
        addEntry(layoutEntry(plan));
    refresh();
}

void ComparePage::addEntry(CompareEntry entry)
{
    const bool there
        = std::any_of(m_added.begin(), m_added.end(), [&](const CompareEntry& added) { return added.id == entry.id; });
    if (!there)
        m_added.push_back(std::move(entry));
}

QVariantMap ComparePage::comparison() const
{
    QStringList added = m_kept;
    for (const CompareEntry& entry : m_added)
        added << entry.origin;
    const std::vector<CompareEntry>& entries = m_model.entries();
    // The first one is the reference unless another is chosen.
    const auto reference = static_cast<std::size_t>(std::max(0, m_model.reference()));
    const bool isChosen = m_keptReference.isEmpty() && reference > 0 && reference < entries.size();
    const QString name = isChosen ? referenceName(entries[reference]) : m_keptReference;
    QStringList leftOut;
    for (const PlanDocument* plan : m_leftOut) {
        if (!plan->file().empty())
            leftOut << exactText(std::filesystem::absolute(plan->file()).string());
    }
    leftOut.sort(); // the set has no order of its own
    return {{compared::kAdded, added}, {compared::kLeftOut, leftOut}, {compared::kReference, name},
        {compared::kSeries, m_series.origins()}, {compared::kDifferences, m_differences->isChecked()}};
}

QVariantMap ComparePage::state() const
{
    QVariantMap state = comparison();
    state.insert(kView, m_views->currentIndex());
    state.insert(kSets, m_sets->all());
    return state;
}

void ComparePage::restore(const QVariantMap& state)
{
    m_sets->set(state.value(kSets).toMap());
    m_views->setCurrentIndex(std::clamp(state.value(kView).toInt(), 0, m_views->count() - 1));
    setComparison(state);
}

void ComparePage::setComparison(const QVariantMap& comparison)
{
    m_added.clear();
    m_series.clear();
    m_leftOut.clear();
    m_kept = comparison.value(compared::kAdded).toStringList();
    m_model.setReference(0);
    m_keptReference = comparison.value(compared::kReference).toString();
    m_series.keep(comparison.value(compared::kSeries).toStringList());
    m_differences->setChecked(comparison.value(compared::kDifferences).toBool());
    const bool namesThoseInIt = comparison.contains(compared::kPlans);
    std::set<int> named;
    const QString& list = namesThoseInIt ? compared::kPlans : compared::kLeftOut;
    for (const QString& file : comparison.value(list).toStringList())
        named.insert(m_plans.indexOf(std::filesystem::path(file.toStdString())));
    for (int i = 0; i < m_plans.count(); ++i) {
        if (named.contains(i) != namesThoseInIt)
            m_leftOut.insert(&m_plans.document(i));
    }
    m_charts->setPublished(m_series.curves());
    if (isVisible()) {
        addKept();
        refresh();
    }
}

// Not before it is looked at: predictions of many entries would delay the window. What is gone since is no reason to
// bother somebody.
void ComparePage::addKept()
{
    for (const QString& origin : std::exchange(m_kept, {})) {
        if (std::optional<CompareEntry> entry = entryFrom(origin, m_history, m_plans.presets()))
            addEntry(*std::move(entry));
    }
    if (m_series.readKept(m_plans.presets()))
        m_charts->setPublished(m_series.curves());
}

void ComparePage::addRows(const MeasuredTable& table, const std::vector<std::size_t>& rows)
{
    for (const std::size_t row : rows)
        addEntry(entryOf(table, table.rows.at(row)));
    refresh();
}

void ComparePage::addSeries(const MeasuredTable& table)
{
    const std::size_t jobs = m_series.add(table, m_model.entries());
    m_charts->setPublished(m_series.curves());
    m_charts->showScaling();
    showEntries();
    emit message(
        tr("%1 of %2 in the scaling chart").arg(counted(double(jobs), tr("job"), tr("jobs")), fromUtf8(table.name)));
}

void ComparePage::showView(View view)
{
    m_views->setCurrentIndex(static_cast<int>(view));
}

ReportPage ComparePage::report() const
{
    return compareReport(static_cast<View>(m_views->currentIndex()), m_model, *m_charts, *m_timelines, *m_sweep);
}

void ComparePage::removeSelected()
{
    const int row = m_list->currentRow();
    const std::vector<CompareEntry>& entries = m_model.entries();
    if (row < 0)
        return;
    const auto at = static_cast<std::size_t>(row);
    if (at >= entries.size()) { // the series stand behind the entries
        m_series.remove(at - entries.size());
        m_charts->setPublished(m_series.curves());
    } else {
        const QString id = entries[at].id;
        std::erase_if(m_added, [&](const CompareEntry& entry) { return entry.id == id; });
        for (int i = 0; i < m_plans.count(); ++i) {
            if (planId(m_plans.document(i)) == id)
                m_leftOut.insert(&m_plans.document(i));
        }
    }
    refresh();
}

} // namespace fourfold::ui
