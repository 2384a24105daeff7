// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/run_details.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/node_report.h"
#include "app/desktop/widgets/cards/failure_view.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/level_delegate.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/compare/trace_difference.h"
#include "app/models/runs/run_folder.h"
#include "app/models/shared/text.h"
#include "runner/sweep/sweep_table.h"

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kOutputMilliseconds = 1500;
constexpr int kMostDifferences = 2; // told of how a trace differs

QPlainTextEdit* makeText(const QString& name)
{
    auto* text = new QPlainTextEdit;
    text->setReadOnly(true);
    text->setLineWrapMode(QPlainTextEdit::NoWrap);
    useFixedFont(text);
    text->setFrameShape(QFrame::NoFrame);
    text->setAccessibleName(name);
    return text;
}

QLabel* makeMuted(const QString& text)
{
    auto* label = new QLabel(text);
    label->setProperty("role", "muted");
    return label;
}
} // namespace

RunDetails::RunDetails(LiveRun& live, QWidget* parent)
    : QWidget(parent)
    , m_live(live)
    , m_tabs(new QTabBar)
    , m_pages(new QStackedWidget)
    , m_log(new DataTable)
    , m_rank(new QComboBox)
    , m_output(makeText(tr("Output of the rank")))
    , m_predicted(new TimelineView)
    , m_measured(new TimelineView)
    , m_difference(makeMuted({}))
    , m_failure(new FailureView)
    , m_nodes(new NodeReport)
    , m_sweepMap(new HeatMap(tr("Measured sweep")))
    , m_sweepShow(new QComboBox)
{
    m_tabs->setObjectName(QStringLiteral("cardSwitch"));
    m_tabs->setAccessibleName(tr("About the run"));
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(false);
    for (const QString& name :
        {tr("Events"), tr("Output of ranks"), tr("Trace of a step"), tr("Nodes"), tr("Sweep"), tr("Failure")})
        m_tabs->addTab(name);
    for (QWidget* page :
        std::initializer_list<QWidget*>{makeEvents(), makeOutput(), makeTrace(), m_nodes, makeSweep(), makeFailure()})
        m_pages->addWidget(page);
    setTabThere(sweep, false);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_tabs, 0, Qt::AlignLeft);
    column->addWidget(m_pages, 1);
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        m_pages->setCurrentIndex(index);
        showOutput();
    });
    m_outputTimer.setInterval(kOutputMilliseconds);
    connect(&m_outputTimer, &QTimer::timeout, this, &RunDetails::showOutput);
    m_outputTimer.start();
    connect(m_rank, &QComboBox::activated, this, [this] { m_wantedRank = m_rank->currentData().toInt(); });
    connect(m_rank, &QComboBox::currentIndexChanged, this, &RunDetails::showOutput);
    connect(&live, &LiveRun::traceArrived, this, &RunDetails::showTrace);
    connect(&live, &LiveRun::changed, this, &RunDetails::showFailure);
    showTrace();
    showFailure();
}

void RunDetails::showTab(Tab tab)
{
    m_tabs->setCurrentIndex(tab);
    emit raised();
}

void RunDetails::setTabThere(Tab tab, bool there)
{
    m_tabs->setTabVisible(tab, there);
    m_tabs->updateGeometry(); // else it scrolls its tabs in the width of before
}

QString RunDetails::failureText() const
{
    return m_tabs->isTabVisible(failure) ? m_failure->text() : QString();
}

QWidget* RunDetails::makeEvents()
{
    auto* frame = new QFrame;
    frame->setProperty("role", "frame");
    m_log->setModel(&m_live.log());
    m_log->setItemDelegate(new LevelDelegate(RunLogModel::LevelRole, m_log));
    m_log->setAccessibleName(tr("Log of the run"));
    m_log->setObjectName(QStringLiteral("runLog"));
    m_log->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_log->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_log->setWidths({84, 120});
    auto* column = new QVBoxLayout(frame);
    column->setContentsMargins(1, 1, 1, 1);
    column->addWidget(m_log);
    connect(m_log->verticalScrollBar(), &QScrollBar::valueChanged, this,
        [this](int value) { m_followLog = value >= m_log->verticalScrollBar()->maximum(); });
    connect(m_log->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this](int, int maximum) {
        if (m_followLog) // somebody who scrolled up wants to read there
            m_log->verticalScrollBar()->setValue(maximum);
    });
    return frame;
}

QWidget* RunDetails::makeOutput()
{
    m_rank->setAccessibleName(tr("Rank"));
    m_rank->setObjectName(QStringLiteral("outputRank"));
    m_output->setObjectName(QStringLiteral("rankOutput"));
    m_output->setPlaceholderText(tr("What a rank prints appears here as soon as it is on this computer."));
    auto* frame = new QFrame;
    frame->setProperty("role", "frame");
    auto* column = new QVBoxLayout(frame);
    column->setContentsMargins(8, 6, 8, 6);
    auto* bar = new QHBoxLayout;
    m_rank->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    bar->addWidget(makeMuted(tr("Output of")));
    bar->addWidget(m_rank);
    bar->addStretch();
    column->addLayout(bar);
    column->addWidget(m_output, 1);
    return frame;
}

QWidget* RunDetails::makeTrace()
{
    m_predicted->setTitle(tr("Predicted"));
    m_measured->setTitle(tr("Measured"));
    m_measured->setEmptyText(tr("The trainer measures one step after the warm-up; it appears here."));
    m_predicted->setEmptyText(tr("The same step as predicted."));
    m_predicted->linkWindow(*m_measured);
    m_difference->setWordWrap(true);
    m_difference->setObjectName(QStringLiteral("traceDifference"));
    m_difference->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* both = new QWidget;
    auto* column = new QVBoxLayout(both);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(m_difference);
    auto* row = new QHBoxLayout;
    row->setSpacing(10);
    row->addWidget(m_predicted, 1);
    row->addWidget(m_measured, 1);
    column->addLayout(row, 1);
    return both;
}

QWidget* RunDetails::makeSweep()
{
    for (const auto& [show, name] : {std::pair(HeatShow::measured, tr("Measured")),
             std::pair(HeatShow::predicted, tr("Predicted")), std::pair(HeatShow::error, tr("Error"))})
        m_sweepShow->addItem(name, static_cast<int>(show));
    m_sweepShow->setAccessibleName(tr("Shown"));
    connect(m_sweepShow, &QComboBox::currentIndexChanged, this, &RunDetails::redrawSweep);
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    auto* bar = new QHBoxLayout;
    bar->addWidget(makeMuted(tr("Show")));
    bar->addWidget(m_sweepShow);
    bar->addStretch();
    column->addLayout(bar);
    column->addWidget(m_sweepMap, 1);
    return page;
}

void RunDetails::showSweep(const SweepTable& table, const std::string& next)
{
    m_sweep = table;
    m_sweepNext = next;
    if (!m_tabs->isTabVisible(sweep)) {
        setTabThere(sweep, true);
        showTab(sweep);
    }
    redrawSweep();
}

void RunDetails::redrawSweep()
{
    m_sweepMap->show(
        heatOf(m_sweep, static_cast<HeatShow>(m_sweepShow->currentData().toInt()), m_sweepNext), sweep_cells(m_sweep));
}

QWidget* RunDetails::makeFailure()
{
    auto* frame = new QFrame;
    frame->setProperty("role", "frame");
    auto* column = new QVBoxLayout(frame);
    column->setContentsMargins(12, 8, 12, 8);
    column->addWidget(m_failure);
    return frame;
}

void RunDetails::showOutput()
{
    if (m_tabs->currentIndex() != output || !isVisible() || m_live.folder().isEmpty())
        return;
    const std::vector<RankLog> logs = rankLogs(m_live.folder().toStdString());
    if (m_rank->count() != static_cast<int>(logs.size())) {
        const QSignalBlocker blocker(m_rank);
        m_rank->clear();
        for (const RankLog& log : logs)
            m_rank->addItem(m_live.rankName(log.rank), log.rank);
        m_rank->setCurrentIndex(std::max(0, m_rank->findData(m_wantedRank)));
    }
    const int index = m_rank->currentIndex();
    if (index < 0 || index >= static_cast<int>(logs.size()))
        return;
    const QString text = fromUtf8(tailOf(logs[static_cast<std::size_t>(index)].file));
    if (text == m_output->toPlainText())
        return;
    QScrollBar* bar = m_output->verticalScrollBar();
    const bool atEnd = bar->value() >= bar->maximum();
    const int place = bar->value();
    m_output->setPlainText(text);
    bar->setValue(atEnd ? bar->maximum() : place);
}

void RunDetails::showTrace()
{
    const double longest = std::max(
        m_live.trace() ? m_live.trace()->length_s : 0, m_live.predictedTrace() ? m_live.predictedTrace()->length_s : 0);
    m_measured->showTimeline(m_live.trace() ? TimelineScene(*m_live.trace()) : TimelineScene(),
        tr("step %1").arg(m_live.traceStep()), longest);
    m_predicted->showTimeline(
        m_live.predictedTrace() ? TimelineScene(*m_live.predictedTrace()) : TimelineScene(), tr("as planned"), longest);
    const bool both = m_live.trace() && m_live.predictedTrace();
    m_difference->setText(
        both ? ui::traceDifference(*m_live.predictedTrace(), *m_live.trace(), kMostDifferences) : QString());
    m_difference->setToolTip(both ? ui::traceDifference(*m_live.predictedTrace(), *m_live.trace(), 100) : QString());
    m_difference->setVisible(both);
}

QString RunDetails::traceDifference() const
{
    return m_difference->text();
}

void RunDetails::showFailure()
{
    const std::optional<RunFailure>& failure = m_live.failure();
    const bool was = m_tabs->isTabVisible(RunDetails::failure);
    setTabThere(RunDetails::failure, failure.has_value());
    if (!failure)
        return;
    QStringList more;
    if (failure->rank && !m_live.folder().isEmpty()) {
        const QString log = QStringLiteral("%1/rank%2.log").arg(m_live.folder()).arg(*failure->rank);
        if (QFileInfo(log).size() > 0)
            more << tr("Its whole output: %1").arg(log);
    }
    m_failure->show(*failure, more);
    if (was)
        return;
    m_wantedRank = failure->rank.value_or(0); // whose output is of interest now
    m_rank->clear();
    showTab(RunDetails::failure);
}

} // namespace fourfold::ui
