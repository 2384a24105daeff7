// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/run_details.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/pages/runs/node_report.h"
#include "app/desktop/pages/runs/queue_panel.h"
#include "app/desktop/widgets/cards/failure_view.h"
#include "app/desktop/widgets/charts/heat_map.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/desktop/widgets/tables/level_delegate.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/compare/trace_difference.h"
#include "app/models/shared/text.h"
#include "app/view/runs/run_folder.h"
#include "runner/sweep/sweep_table.h"

#include <QComboBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTabBar>

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

} // namespace

RunDetails::RunDetails(LiveRun& live, QWidget* parent)
    : QWidget(parent)
    , m_live(live)
    , m_tabs(makeTabs("cardSwitch", tr("About the run"),
          {tr("Events"), tr("Output of ranks"), tr("Trace of a step"), tr("Nodes"), tr("Sweep"), tr("Queue"),
              tr("Failure")}))
    , m_pages(new QStackedWidget)
    , m_log(new DataTable)
    , m_rank(new QComboBox)
    , m_output(makeText(tr("Output of the rank")))
    , m_predicted(named(new TimelineView, "runs.predicted"))
    , m_measured(named(new TimelineView, "runs.measured"))
    , m_difference(named(makeWords("muted"), "traceDifference"))
    , m_openTrace(makeButton(tr("Open"), "small", "openTrace", tr("As large as you like, with a table of parts")))
    , m_failure(new FailureView)
    , m_nodes(new NodeReport)
    , m_queue(new QueuePanel)
    , m_sweepMap(new HeatMap(tr("Measured sweep")))
    , m_sweepShow(new QComboBox)
{
    m_tabs->setProperty("look", "switch");
    m_tabs->setUsesScrollButtons(false);
    for (QWidget* page : std::initializer_list<QWidget*>{
             makeEvents(), makeOutput(), makeTrace(), m_nodes, makeSweep(), m_queue, makeFailure()})
        m_pages->addWidget(page);
    setTabThere(sweep, false);
    const auto showQueue = [this] { setTabThere(queue, m_queue->count() > 0); };
    connect(m_queue, &QueuePanel::changed, this, showQueue);
    showQueue();
    setLayout(columnOf({{m_tabs, 0, Qt::AlignLeft}, {m_pages, 1}}, 4));
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
    m_log->present(m_live.log(), "runLog", tr("Log of the run"), false);
    m_log->setItemDelegate(new LevelDelegate(RunLogModel::LevelRole, m_log));
    m_log->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_log->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_log->setWidths({84, 120});
    connect(m_log->verticalScrollBar(), &QScrollBar::valueChanged, this,
        [this](int value) { m_followLog = value >= m_log->verticalScrollBar()->maximum(); });
    connect(m_log->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this](int, int maximum) {
        if (m_followLog) // somebody who scrolled up wants to read there
            m_log->verticalScrollBar()->setValue(maximum);
    });
    return makeFrame(columnOf({m_log}, 0, {1, 1, 1, 1}));
}

QWidget* RunDetails::makeOutput()
{
    named(m_rank, "outputRank", tr("Rank"))->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    named(m_output, "rankOutput")
        ->setPlaceholderText(tr("What a rank prints appears here as soon as it is on this computer."));
    auto* bar = rowOf({makeWords("muted", tr("Output of")), m_rank, Item::spring()}, 6);
    return makeFrame(columnOf({bar, {m_output, 1}}, 6, {8, 6, 8, 6}));
}

QWidget* RunDetails::makeTrace()
{
    m_predicted->setTitle(tr("Predicted"));
    m_measured->setTitle(tr("Measured"));
    m_measured->setEmptyText(tr("The trainer measures one step after the warm-up; it appears here."));
    m_predicted->setEmptyText(tr("The same step as predicted."));
    m_predicted->linkWindow(*m_measured);
    connect(m_openTrace, &QPushButton::clicked, this, [this] {
        const view::LiveRun& run = m_live.run();
        if (run.trace())
            emit traceRequested({run.title() + ", step " + std::to_string(run.trace_step()), {}, run.trace()},
                {run.title() + ", as planned", nullptr, m_live.predictedTrace()});
    });
    return holderOf(
        columnOf({rowOf({{m_difference, 1}, m_openTrace}), {rowOf({{m_predicted, 1}, {m_measured, 1}}, 10), 1}}, 4));
}

QWidget* RunDetails::makeSweep()
{
    for (const auto& [show, name] : {std::pair(HeatShow::measured, tr("Measured")),
             std::pair(HeatShow::predicted, tr("Predicted")), std::pair(HeatShow::error, tr("Error"))})
        m_sweepShow->addItem(name, static_cast<int>(show));
    named(m_sweepShow, "measuredShow", tr("Shown"));
    m_sweepShow->setMinimumContentsLength(10); // it is measured before it has its font
    connect(m_sweepShow, &QComboBox::currentIndexChanged, this, &RunDetails::redrawSweep);
    auto* bar = rowOf({makeWords("muted", tr("Show")), m_sweepShow, Item::spring()}, 6);
    return holderOf(columnOf({bar, {m_sweepMap, 1}}, 4));
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
    return makeFrame(columnOf({m_failure}, 0, {12, 8, 12, 8}));
}

void RunDetails::showOutput()
{
    if (m_tabs->currentIndex() != output || !isVisible() || m_live.run().folder().empty())
        return;
    const std::vector<view::RankLog> logs = view::rank_logs(m_live.run().folder());
    if (m_rank->count() != static_cast<int>(logs.size())) {
        const QSignalBlocker blocker(m_rank);
        m_rank->clear();
        for (const view::RankLog& log : logs)
            m_rank->addItem(fromUtf8(m_live.run().rank_name(log.rank)), log.rank);
        m_rank->setCurrentIndex(std::max(0, m_rank->findData(m_wantedRank)));
    }
    const int index = m_rank->currentIndex();
    if (index < 0 || index >= static_cast<int>(logs.size()))
        return;
    const QString text = fromUtf8(view::tail_of(logs[static_cast<std::size_t>(index)].file));
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
    const double longest = std::max(m_live.run().trace() ? m_live.run().trace()->length_s : 0,
        m_live.predictedTrace() ? m_live.predictedTrace()->length_s : 0);
    m_measured->showTimeline(m_live.run().trace() ? TimelineScene(*m_live.run().trace()) : TimelineScene(),
        tr("step %1").arg(m_live.run().trace_step()), longest);
    m_predicted->showTimeline(
        m_live.predictedTrace() ? TimelineScene(*m_live.predictedTrace()) : TimelineScene(), tr("as planned"), longest);
    const bool both = m_live.run().trace() && m_live.predictedTrace();
    m_difference->setText(
        both ? ui::traceDifference(*m_live.predictedTrace(), *m_live.run().trace(), kMostDifferences) : QString());
    m_difference->setToolTip(
        both ? ui::traceDifference(*m_live.predictedTrace(), *m_live.run().trace(), 100) : QString());
    m_difference->setVisible(both);
    m_openTrace->setVisible(m_live.run().trace().has_value());
}

QString RunDetails::traceDifference() const
{
    return m_difference->text();
}

void RunDetails::showFailure()
{
    const std::optional<view::RunFailure>& failure = m_live.run().failure();
    const bool was = m_tabs->isTabVisible(RunDetails::failure);
    setTabThere(RunDetails::failure, failure.has_value());
    if (!failure)
        return;
    QStringList more;
    if (failure->rank && !m_live.run().folder().empty()) {
        const QString log
            = QStringLiteral("%1/rank%2.log").arg(exactText(m_live.run().folder().string())).arg(*failure->rank);
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
