// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs_page.h"

#include "app/desktop/dialogs.h"
#include "app/desktop/pages/run_form.h"
#include "app/desktop/widgets/figure_card.h"
#include "app/desktop/widgets/level_delegate.h"
#include "app/desktop/widgets/line_chart.h"
#include "app/models/live_figures.h"
#include "app/models/text.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

namespace fourfold::ui {

RunsPage::RunsPage(PlanDocument& document, RunController& controller, LiveRun& live, QWidget* parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_live(live)
    , m_form(new RunForm(document, controller))
    , m_throughput(new LineChart(tr("Throughput"), {}, &Theme::accent))
    , m_loss(new LineChart(tr("Loss"), {}, &Theme::accent))
    , m_memory(new LineChart(tr("Peak memory"), {}, &Theme::accent))
    , m_log(new QTableView)
{
    auto* line = new QFrame;
    line->setProperty("role", "separator");
    line->setFixedWidth(1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_form);
    row->addWidget(line);
    row->addWidget(makeLive(), 1);

    connect(m_form, &RunForm::startRequested, this, &RunsPage::start);
    connect(m_form, &RunForm::stopRequested, &controller, &RunController::stop);
    connect(&controller, &RunController::hostKeyAsked, this, &RunsPage::ask);
    connect(&controller, &RunController::finished, this, [this](const Expected<RunResult>& outcome) {
        if (outcome || outcome.error().code == ProblemCode::cancelled)
            return;
        // Not from inside the controller's turn: the dialog has an event loop of its own.
        QTimer::singleShot(0, this,
            [this, problem = outcome.error()] { showProblem(window(), tr("The run did not start"), problem); });
    });
    connect(&live, &LiveRun::changed, this, &RunsPage::showFigures);
    connect(&live, &LiveRun::pointsArrived, this, &RunsPage::showPoints);
    showFigures();
    showPoints();
}

QWidget* RunsPage::makeLive()
{
    auto* live = new QWidget;
    auto* column = new QVBoxLayout(live);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(10);
    auto* strip = new QHBoxLayout;
    strip->setSpacing(10);
    for (FigureCard*& card : m_figures) {
        card = new FigureCard;
        strip->addWidget(card, 1);
    }
    column->addLayout(strip);

    m_throughput->setSubtitle(tr("tokens/s per GPU over optimizer steps"));
    m_throughput->setNames(tr("Measured"));
    m_loss->setSubtitle(tr("cross-entropy over optimizer steps"));
    m_loss->setNames(tr("Training"), tr("Held-out"));
    m_memory->setSubtitle(tr("GiB, largest over ranks"));
    m_memory->setNames(tr("Measured"));
    for (LineChart* chart : {m_throughput, m_loss, m_memory})
        chart->setEmptyText(tr("Steps of a run appear here as they arrive."));
    column->addWidget(m_throughput, 5);
    auto* charts = new QHBoxLayout;
    charts->setSpacing(10);
    charts->addWidget(m_loss, 1);
    charts->addWidget(m_memory, 1);
    column->addLayout(charts, 4);
    column->addWidget(makeLog(), 3);
    return live;
}

QWidget* RunsPage::makeLog()
{
    auto* frame = new QFrame;
    frame->setProperty("role", "frame");
    frame->setStyleSheet(QStringLiteral("#logFrame { border: 1px solid palette(mid); border-radius: 5px; }"));
    m_log->setModel(&m_live.log());
    m_log->setItemDelegate(new LevelDelegate(RunLogModel::LevelRole, m_log));
    m_log->setAccessibleName(tr("Log of the run"));
    m_log->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_log->setShowGrid(false);
    m_log->setWordWrap(false);
    m_log->setFrameShape(QFrame::NoFrame);
    m_log->verticalHeader()->hide();
    m_log->verticalHeader()->setDefaultSectionSize(23);
    m_log->horizontalHeader()->setHighlightSections(false);
    m_log->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_log->horizontalHeader()->setStretchLastSection(true);
    m_log->setColumnWidth(RunLogModel::time, 84);
    m_log->setColumnWidth(RunLogModel::kind, 120);
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

void RunsPage::start(const RunSetup& setup, const QString& title)
{
    if (!setup.request || m_controller.isRunning())
        return;
    RunRequest request = *setup.request;
    request.trainer = m_trainer;
    request.history_file = m_history;
    m_live.expect(setup.expectation, setup.steps, title);
    m_controller.start(std::move(request));
}

void RunsPage::showFigures()
{
    const std::array<Figure, 5> figures = liveFigures(m_live);
    for (std::size_t i = 0; i < figures.size(); ++i)
        m_figures[i]->show(figures[i]);
}

void RunsPage::showPoints()
{
    const RunExpectation& expected = m_live.expectation();
    const auto predicted = [this](const std::optional<double>& value, const QString& text) {
        return value ? tr("Predicted %1").arg(text) : QString();
    };
    m_throughput->setLevel(expected.tps_per_gpu,
        predicted(expected.tps_per_gpu,
            grouped(expected.tps_per_gpu.value_or(0), expected.tps_per_gpu.value_or(0) < 100 ? 1 : 0)));
    m_memory->setLevel(expected.memory_gib, predicted(expected.memory_gib, gib(expected.memory_gib.value_or(0))));
    for (LineChart* chart : {m_throughput, m_loss, m_memory})
        chart->setMinimumX(m_live.totalSteps());
    m_throughput->setPoints(m_live.throughput().points());
    m_loss->setPoints(m_live.loss().points());
    m_loss->setDots(m_live.evalLoss().points());
    m_memory->setPoints(m_live.memory().points());
}

void RunsPage::ask(const HostKeyQuestion& question)
{
    m_controller.answerHostKey(askHostKey(window(), question));
}

} // namespace fourfold::ui
