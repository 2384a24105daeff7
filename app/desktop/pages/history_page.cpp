// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/history_page.h"

#include "app/desktop/dialogs.h"
#include "app/desktop/layout_state.h"
#include "app/desktop/widgets/data_table.h"
#include "app/desktop/widgets/level_delegate.h"
#include "app/desktop/widgets/line_chart.h"
#include "app/desktop/zoom.h"
#include "app/models/history_table.h"
#include "app/models/run_folder.h"
#include "app/models/series_buffer.h"
#include "app/models/text.h"

#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
constexpr int kMostRuns = 10'000;
constexpr std::size_t kLargestRun = std::size_t{1} << 30; // bytes of an exported run
const QList<int> kWidths{200, 92, 96, 176, 52, 58, 84, 84, 70, 84, 84, 62, 128}; // a column each

Expected<TableFormat> formatOf(const QString& file)
{
    const QString ending = file.section(QLatin1Char('.'), -1).toLower();
    if (ending == QLatin1String("csv"))
        return TableFormat::csv;
    if (ending == QLatin1String("md"))
        return TableFormat::markdown;
    if (ending == QLatin1String("json"))
        return TableFormat::json;
    if (ending == QLatin1String("tex"))
        return TableFormat::latex;
    return Problem{ProblemCode::bad_input, "a table can be written as .csv, .md, .json or .tex",
        "choose one of these endings", file.toStdString()};
}
} // namespace

HistoryPage::HistoryPage(QWidget* parent)
    : QWidget(parent)
    , m_table(new DataTable)
    , m_details(new DataTable)
    , m_filter(new QLineEdit)
    , m_count(new QLabel)
    , m_problem(new QLabel)
    , m_compare(new QPushButton(tr("Compare")))
    , m_throughput(new LineChart(tr("Throughput"), {}, &Theme::accent))
    , m_loss(new LineChart(tr("Loss"), {}, &Theme::accent))
{
    QSplitter* split = makeSplitter(QStringLiteral("history.rows"), Qt::Vertical, {makeTable(), makeDetail()}, {5, 4});
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(split);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QString selected = m_selected;
        m_model.setFilter(text);
        showCounts();
        if (const int row = m_model.rowOf(selected); row >= 0)
            m_table->selectRow(row);
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &HistoryPage::showSelected);
}

QWidget* HistoryPage::makeTable()
{
    m_filter->setPlaceholderText(tr("Filter by words: model, target, state, date"));
    m_filter->setAccessibleName(tr("Filter"));
    m_filter->setClearButtonEnabled(true);
    fixWidth(m_filter, 300);
    m_filter->setTextMargins(4, 2, 4, 2);
    m_count->setProperty("role", "muted");
    m_problem->setProperty("role", "bad");
    m_problem->setWordWrap(true);
    m_problem->hide();
    auto* exports = new QPushButton(tr("Export\u2026"));
    exports->setProperty("plain", true);
    auto* menu = new QMenu(exports);
    menu->addAction(tr("CSV\u2026"), this, [this] { askForExport(QStringLiteral("csv"), tr("CSV (*.csv)")); });
    menu->addAction(tr("Markdown\u2026"), this, [this] { askForExport(QStringLiteral("md"), tr("Markdown (*.md)")); });
    menu->addAction(tr("LaTeX\u2026"), this, [this] { askForExport(QStringLiteral("tex"), tr("LaTeX (*.tex)")); });
    menu->addAction(tr("JSON\u2026"), this, [this] { askForExport(QStringLiteral("json"), tr("JSON (*.json)")); });
    exports->setMenu(menu);

    m_compare->setProperty("plain", true);
    m_compare->setObjectName(QStringLiteral("compareRuns"));
    m_compare->setToolTip(tr("Put the selected runs side by side (C)"));
    connect(m_compare, &QPushButton::clicked, this, &HistoryPage::compareSelected);
    auto* compareKey = new QShortcut(QKeySequence(Qt::Key_C), m_table);
    compareKey->setContext(Qt::WidgetShortcut);
    connect(compareKey, &QShortcut::activated, this, &HistoryPage::compareSelected);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(12, 8, 12, 8);
    bar->setSpacing(10);
    bar->addWidget(m_filter);
    bar->addWidget(m_count);
    bar->addWidget(m_problem, 1);
    bar->addStretch();
    bar->addWidget(m_compare);
    bar->addWidget(exports);

    m_table->setObjectName(QStringLiteral("history"));
    m_table->setModel(&m_model);
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(HistoryModel::created, Qt::DescendingOrder);
    m_table->setItemDelegate(new LevelDelegate(HistoryModel::LevelRole, m_table));
    m_table->setAccessibleName(tr("Stored runs"));
    m_table->setWidths(kWidths);

    auto* panel = new QWidget;
    panel->setProperty("role", "panel");
    panel->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(bar);
    column->addWidget(m_table, 1);
    return panel;
}

QWidget* HistoryPage::makeDetail()
{
    m_details->setModel(&m_facts);
    m_details->setAccessibleName(tr("Facts of the selected run"));
    m_details->setSelectionMode(QAbstractItemView::NoSelection);
    m_details->horizontalHeader()->hide();
    m_details->setWidths({150});
    auto* frame = new QFrame;
    frame->setProperty("role", "frame");
    frame->setStyleSheet(QStringLiteral("#factsFrame { border: 1px solid palette(mid); border-radius: 5px; }"));
    auto* inner = new QVBoxLayout(frame);
    inner->setContentsMargins(1, 1, 1, 1);
    inner->addWidget(m_details);

    m_throughput->setSubtitle(tr("tokens/s per GPU over optimizer steps"));
    m_throughput->setNames(tr("Measured"));
    m_loss->setSubtitle(tr("cross-entropy over optimizer steps"));
    m_loss->setNames(tr("Training"), tr("Held-out"));
    for (LineChart* chart : {m_throughput, m_loss})
        chart->setEmptyText(tr("Select a run with steps."));
    auto* charts = new QVBoxLayout;
    charts->setSpacing(10);
    charts->addWidget(m_throughput, 1);
    charts->addWidget(m_loss, 1);
    auto* detail = new QWidget;
    auto* row = new QHBoxLayout(detail);
    row->setContentsMargins(12, 12, 12, 12);
    row->setSpacing(10);
    row->addWidget(frame, 4);
    row->addLayout(charts, 6);
    return detail;
}

void HistoryPage::showEvent(QShowEvent* event)
{
    refresh();
    QWidget::showEvent(event);
}

void HistoryPage::focusFilter()
{
    m_filter->setFocus();
    m_filter->selectAll();
}

void HistoryPage::refresh(const QString& select)
{
    const QString wanted = select.isEmpty() ? m_selected : select;
    const std::filesystem::path file = m_file.empty() ? HistoryStore::default_file() : m_file;
    std::error_code error;
    std::vector<RunSummary> runs;
    QString problem;
    if (std::filesystem::exists(file, error)) {
        const Expected<HistoryStore> store = HistoryStore::open(file, StoreMode::read_only);
        Expected<std::vector<RunSummary>> list
            = store ? store->list(kMostRuns) : Expected<std::vector<RunSummary>>(store.error());
        if (list)
            runs = *std::move(list);
        else
            problem = fromUtf8(list.error().line());
    }
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    m_model.show(std::move(runs));
    showCounts();
    const int row = std::max(0, m_model.rowOf(wanted));
    m_selected.clear();
    if (m_model.rowCount() > 0) {
        m_table->selectRow(row);
        m_table->scrollTo(m_model.index(row, 0));
    }
    showSelected();
}

void HistoryPage::compareSelected()
{
    QStringList runs;
    for (const QModelIndex& row : m_table->selectionModel()->selectedRows())
        runs << row.data(HistoryModel::IdRole).toString();
    if (!runs.isEmpty())
        emit compareRequested(runs);
}

void HistoryPage::showCounts()
{
    const int all = m_model.storedRuns(), shown = m_model.rowCount();
    m_compare->setEnabled(shown > 0);
    m_count->setText(all == 0 ? tr("No run yet: start one in Runs")
            : shown == all    ? counted(all, tr("run"))
                              : tr("%1 of %2").arg(grouped(shown), counted(all, tr("run"))));
}

void HistoryPage::showSelected()
{
    const QModelIndex current = m_table->currentIndex();
    const QString id = current.isValid() ? current.data(HistoryModel::IdRole).toString() : QString();
    if (!id.isEmpty() && id == m_selected)
        return;
    m_selected = id;
    SeriesBuffer throughput, loss;
    QList<QPointF> heldOut;
    std::optional<double> predicted;
    m_facts.clear();
    m_details->clearSpans();
    const std::filesystem::path file = m_file.empty() ? HistoryStore::default_file() : m_file;
    if (!id.isEmpty()) {
        const Expected<HistoryStore> store = HistoryStore::open(file, StoreMode::read_only);
        const Expected<RunDetail> run = store ? store->show(id.toStdString()) : Expected<RunDetail>(store.error());
        if (!run) {
            emit message(fromUtf8(run.error().line()));
        } else {
            m_facts.show(*run);
            predicted = run->summary.predicted_tps_per_gpu;
            for (const StepRow& step : run->steps) {
                if (step.tps_per_gpu)
                    throughput.append(step.step, *step.tps_per_gpu);
                if (step.loss)
                    loss.append(step.step, *step.loss);
            }
            for (const Json& event : run->other_events) {
                if (event.value("event", std::string()) == "eval" && event.contains("loss")
                    && event["loss"].is_number())
                    heldOut << QPointF(event.value("step", run->summary.steps), event["loss"].get<double>());
            }
        }
    }
    for (int row = 0; row < m_facts.rowCount(); ++row) {
        if (m_facts.index(row, 0).data(FactsModel::HeadingRole).toBool())
            m_details->setSpan(row, 0, 1, FactsModel::columns);
    }
    m_throughput->setLevel(
        predicted, predicted ? tr("Predicted %1").arg(grouped(*predicted, *predicted < 100 ? 1 : 0)) : QString());
    m_throughput->setPoints(throughput.points());
    m_loss->setPoints(loss.points());
    m_loss->setDots(heldOut);
}

bool HistoryPage::importRun(const std::filesystem::path& path)
{
    std::error_code error;
    const auto import = [&]() -> Expected<std::string> {
        FOURFOLD_TRY(const Json run,
            std::filesystem::is_directory(path, error) ? runFromFolder(path) : read_json_file(path, kLargestRun));
        FOURFOLD_TRY(HistoryStore store, HistoryStore::open(m_file.empty() ? HistoryStore::default_file() : m_file));
        const std::string id = run.value("id", std::string());
        if (store.full_id(id))
            return id; // there already
        return store.import_run(run);
    };
    const Expected<std::string> id = import();
    if (!id) {
        showProblem(this, tr("The run was not added"), id.error());
        return false;
    }
    m_filter->clear();
    refresh(fromUtf8(*id));
    emit message(tr("Run %1 is in the history").arg(fromUtf8(*id)));
    return true;
}

void HistoryPage::askForExport(const QString& ending, const QString& filter)
{
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Export the runs on show"), QStringLiteral("fourfold-history.%1").arg(ending), filter);
    if (!file.isEmpty())
        exportTo(
            file.endsWith(QLatin1Char('.') + ending, Qt::CaseInsensitive) ? file : file + QLatin1Char('.') + ending);
}

bool HistoryPage::exportTo(const QString& file)
{
    std::vector<RunSummary> runs;
    runs.reserve(static_cast<std::size_t>(m_model.rowCount()));
    for (int row = 0; row < m_model.rowCount(); ++row)
        runs.push_back(m_model.run(row));
    const auto write = [&]() -> Expected<void> {
        FOURFOLD_TRY(const TableFormat format, formatOf(file));
        return write_file_atomically(file.toStdString(), historyTable(runs).write(format));
    };
    if (const Expected<void> written = write(); !written) {
        showProblem(this, tr("The table was not written"), written.error());
        return false;
    }
    emit message(tr("%1 written to %2").arg(counted(double(runs.size()), tr("run")), file));
    return true;
}

} // namespace fourfold::ui
