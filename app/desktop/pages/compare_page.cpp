// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare_page.h"

#include "app/desktop/card_export.h"
#include "app/desktop/dialogs.h"
#include "app/desktop/layout_state.h"
#include "app/desktop/pages/compare_charts.h"
#include "app/desktop/pages/row_picker.h"
#include "app/desktop/widgets/card_stack.h"
#include "app/desktop/widgets/comparison_chart.h"
#include "app/desktop/widgets/data_table.h"
#include "app/desktop/widgets/level_delegate.h"
#include "app/desktop/zoom.h"
#include "app/models/plan_facts.h"
#include "app/models/text.h"
#include "core/base/paths.h"
#include "core/calibration/published_layouts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kSideWidth = 260;
constexpr int kMostRunsOffered = 25;
constexpr int kRefreshMilliseconds = 60;
constexpr int kColumnWidth = 170;

constexpr const char* kOpenPlan = "plan:"; // an open plan cannot be taken away, it is closed

QString planId(const PlanDocument& document)
{
    return QLatin1String(kOpenPlan) + QString::number(reinterpret_cast<quintptr>(&document));
}
} // namespace

ComparePage::ComparePage(PlanTabs& plans, QWidget* parent)
    : QWidget(parent)
    , m_plans(plans)
    , m_list(new QListWidget)
    , m_reference(new QComboBox)
    , m_differences(new QCheckBox(tr("Differences only")))
    , m_add(new QPushButton(tr("Add")))
    , m_remove(new QPushButton(tr("Remove")))
    , m_addMenu(new QMenu(this))
    , m_table(new DataTable)
    , m_charts(new CompareCharts(plans.presets()))
{
    QSplitter* rows = makeSplitter(QStringLiteral("compare.rows"), Qt::Vertical, {makeTable(), m_charts}, {5, 5});
    QSplitter* split = makeSplitter(QStringLiteral("compare.side"), Qt::Horizontal, {makeSide(), rows}, {18, 82});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(split);

    m_later.setSingleShot(true);
    m_later.setInterval(kRefreshMilliseconds);
    connect(&m_later, &QTimer::timeout, this, &ComparePage::refresh);
    connect(m_reference, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_model.setReference(index);
        m_charts->show(m_model.entries());
    });
    connect(m_differences, &QCheckBox::toggled, &m_model, &CompareModel::setDifferencesOnly);
    connect(&m_model, &QAbstractItemModel::modelReset, this, [this] { m_table->resetWidths(); });
    connect(m_addMenu, &QMenu::aboutToShow, this, &ComparePage::fillAddMenu);
    connect(m_remove, &QPushButton::clicked, this, &ComparePage::removeSelected);
    connect(m_list, &QListWidget::itemSelectionChanged, this, [this] {
        const int row = m_list->currentRow();
        m_remove->setEnabled(
            row >= 0 && !m_model.entries()[static_cast<std::size_t>(row)].id.startsWith(QLatin1String(kOpenPlan)));
    });
    connect(&plans, &PlanTabs::added, this, &ComparePage::watchPlans);
    connect(&plans, &PlanTabs::removed, &m_later, qOverload<>(&QTimer::start));
    connect(&plans, &PlanTabs::edited, &m_later, qOverload<>(&QTimer::start));
    watchPlans();
}

ComparePage::~ComparePage() = default;

QWidget* ComparePage::makeSide()
{
    auto* side = new QWidget;
    side->setProperty("role", "panel");
    side->setAttribute(Qt::WA_StyledBackground);
    limitWidth(side, kSideWidth);
    auto* title = new QLabel(tr("Side by side"));
    title->setProperty("role", "paneltitle");
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setAccessibleName(tr("Compared plans and runs"));
    m_list->setObjectName(QStringLiteral("compareList"));
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_reference->setAccessibleName(tr("Reference"));
    m_reference->setObjectName(QStringLiteral("compareReference"));
    m_reference->setMinimumContentsLength(8);
    m_reference->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_differences->setObjectName(QStringLiteral("differencesOnly"));
    m_differences->setAccessibleName(m_differences->text());
    for (QPushButton* button : {m_add, m_remove})
        button->setProperty("plain", true);
    m_add->setMenu(m_addMenu);
    m_add->setObjectName(QStringLiteral("compareAdd"));
    m_remove->setEnabled(false);
    auto* exports = new QPushButton(tr("Export\u2026"));
    exports->setProperty("plain", true);
    auto* exportMenu = new QMenu(exports);
    addTableExports(*exportMenu, this, tr("Comparison"), [this] { return m_model.table(); });
    exports->setMenu(exportMenu);

    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(title);
    column->addWidget(m_list, 1);
    auto* controls = new QVBoxLayout;
    controls->setContentsMargins(12, 10, 12, 12);
    controls->setSpacing(8);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_add, 1);
    buttons->addWidget(m_remove, 1);
    controls->addLayout(buttons);
    auto* referenceLabel = new QLabel(tr("Reference"));
    referenceLabel->setBuddy(m_reference);
    controls->addWidget(referenceLabel);
    controls->addWidget(m_reference);
    controls->addWidget(m_differences);
    controls->addWidget(exports);
    column->addLayout(controls);
    return side;
}

QWidget* ComparePage::makeTable()
{
    m_table->setModel(&m_model);
    m_table->setObjectName(QStringLiteral("comparison"));
    m_table->setAccessibleName(tr("Comparison"));
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setItemDelegate(new LevelDelegate(CompareModel::LevelRole, m_table));
    m_table->horizontalHeader()->setStretchLastSection(false);
    m_table->horizontalHeader()->setTextElideMode(Qt::ElideMiddle);
    auto* panel = new QWidget;
    panel->setProperty("role", "panel");
    panel->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_table);
    return panel;
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
        if (document.prediction() && document.isAnswered())
            entries.push_back(entryOf(planId(document), document.title(), *document.prediction()));
    }
    entries.insert(entries.end(), m_added.begin(), m_added.end());
    m_model.show(std::move(entries));
    showEntries();
    m_charts->show(m_model.entries());
}

void ComparePage::showEntries()
{
    const QSignalBlocker listBlocker(m_list), referenceBlocker(m_reference);
    const int selected = m_list->currentRow();
    m_list->clear();
    m_reference->clear();
    for (const CompareEntry& entry : m_model.entries()) {
        m_list->addItem(QStringLiteral("%1: %2").arg(entryKindLabel(entry.kind), entry.name));
        m_reference->addItem(entry.name);
    }
    m_list->setCurrentRow(selected);
    m_reference->setCurrentIndex(m_model.reference());
    QList<int> widths{190};
    for (std::size_t i = 0; i < m_model.entries().size(); ++i)
        widths << kColumnWidth;
    m_table->setWidths(widths);
    for (int row = 0; row < m_model.rowCount(); ++row) {
        const bool heading = m_model.index(row, 0).data(CompareModel::HeadingRole).toBool();
        if (heading && m_model.columnCount() > 1)
            m_table->setSpan(row, 0, 1, m_model.columnCount());
        else if (m_table->columnSpan(row, 0) > 1)
            m_table->setSpan(row, 0, 1, 1);
    }
}

void ComparePage::fillAddMenu()
{
    m_addMenu->clear();
    m_addMenu->addAction(tr("Open a plan\u2026"), this, &ComparePage::openRequested);
    QMenu* runs = m_addMenu->addMenu(tr("Run of the history"));
    const std::filesystem::path file = m_history.empty() ? HistoryStore::default_file() : m_history;
    std::error_code error;
    if (std::filesystem::exists(file, error)) {
        const Expected<HistoryStore> store = HistoryStore::open(file, StoreMode::read_only);
        const Expected<std::vector<RunSummary>> list
            = store ? store->list(kMostRunsOffered) : Expected<std::vector<RunSummary>>(store.error());
        if (list) {
            for (const RunSummary& run : *list) {
                const QString id = fromUtf8(run.id);
                const QString date = fromUtf8(run.created).left(16).replace(QLatin1Char('T'), QLatin1Char(' '));
                runs->addAction(
                    QStringLiteral("%1, %2").arg(fromUtf8(run.name), date), this, [this, id] { addRun(id); });
            }
        }
    }
    runs->setEnabled(!runs->isEmpty());
    QMenu* tables = m_addMenu->addMenu(tr("Published table"));
    for (const std::filesystem::path& folder : preset_folders()) {
        for (std::filesystem::directory_iterator at(folder / "published", error), end; !error && at != end;
             at.increment(error)) {
            if (at->path().extension() == ".csv") {
                tables->addAction(
                    fromUtf8(at->path().stem().string()), this, [this, path = at->path()] { addTable(path); });
            }
        }
    }
    tables->addSeparator();
    tables->addAction(tr("CSV file\u2026"), this, [this] {
        const QString csv = QFileDialog::getOpenFileName(this, tr("Compare with measurements"), {}, tr("CSV (*.csv)"));
        if (!csv.isEmpty())
            addTable(csv.toStdString());
    });
}

bool ComparePage::addRun(const QString& id)
{
    const Expected<HistoryStore> store
        = HistoryStore::open(m_history.empty() ? HistoryStore::default_file() : m_history, StoreMode::read_only);
    const Expected<RunDetail> run = store ? store->show(id.toStdString()) : Expected<RunDetail>(store.error());
    if (!run) {
        showProblem(this, tr("The run cannot be compared"), run.error());
        return false;
    }
    const bool there = std::any_of(m_added.begin(), m_added.end(),
        [&](const CompareEntry& entry) { return entry.id == fromUtf8(run->summary.id); });
    if (!there)
        m_added.push_back(entryOf(*run));
    refresh();
    return true;
}

bool ComparePage::addTable(const std::filesystem::path& csv)
{
    const auto read = [&]() -> Expected<MeasuredTable> {
        FOURFOLD_TRY(const TableSources sources, TableSources::find());
        return read_measured_table(csv, sources, m_plans.presets());
    };
    const Expected<MeasuredTable> table = read();
    if (!table) {
        showProblem(this, tr("The table cannot be compared"), table.error());
        return false;
    }
    if (!table->problems.empty())
        emit message(
            tr("%1 of the table cannot be read; the first: %2")
                .arg(counted(double(table->problems.size()), tr("row")), fromUtf8(table->problems.front().line())));
    RowPicker picker(*table, this);
    if (picker.exec() == QDialog::Accepted)
        addRows(*table, picker.chosen());
    return true;
}

void ComparePage::addPlans(const std::vector<ResolvedPlan>& plans)
{
    for (const ResolvedPlan& plan : plans) {
        const QString name = QStringLiteral("%1, %2").arg(layoutLine(plan.layout), gpusFact(plan));
        const QString id = QStringLiteral("layout:") + fromUtf8(layout_hash(plan));
        const bool there
            = std::any_of(m_added.begin(), m_added.end(), [&](const CompareEntry& added) { return added.id == id; });
        if (!there)
            m_added.push_back(entryOf(id, name, predict_with_evidence(plan)));
    }
    refresh();
}

void ComparePage::addRows(const MeasuredTable& table, const std::vector<std::size_t>& rows)
{
    for (const std::size_t row : rows) {
        CompareEntry entry = entryOf(table, table.rows.at(row));
        const bool there = std::any_of(
            m_added.begin(), m_added.end(), [&](const CompareEntry& added) { return added.id == entry.id; });
        if (!there)
            m_added.push_back(std::move(entry));
    }
    refresh();
}

void ComparePage::removeSelected()
{
    const int row = m_list->currentRow();
    if (row < 0 || row >= static_cast<int>(m_model.entries().size()))
        return;
    const QString id = m_model.entries()[static_cast<std::size_t>(row)].id;
    std::erase_if(m_added, [&](const CompareEntry& entry) { return entry.id == id; });
    refresh();
}

} // namespace fourfold::ui
