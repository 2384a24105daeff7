// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/runs_page.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/pages/runs/cluster_dialog.h"
#include "app/desktop/pages/runs/find_dialog.h"
#include "app/desktop/pages/runs/node_report.h"
#include "app/desktop/pages/runs/queue_panel.h"
#include "app/desktop/pages/runs/rehearsal_dialog.h"
#include "app/desktop/pages/runs/run_details.h"
#include "app/desktop/pages/runs/run_form.h"
#include "app/desktop/pages/runs/sweep_dialog.h"
#include "app/desktop/widgets/cards/figure_strip.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/banner.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/desktop/widgets/panels/scroll_column.h"
#include "app/models/plan/plan_tabs.h"
#include "app/models/shared/text.h"
#include "runner/preflight/cluster_figures.h"

#include <QGridLayout>
#include <QTimer>

#include <utility>

namespace fourfold::ui {

RunsPage::RunsPage(const PageContext& context)
    : m_presets(context.presets)
    , m_controller(context.controller)
    , m_live(context.live)
    , m_trainer(context.trainer)
    , m_history(context.history)
    , m_form(new RunForm(context.plans.current(), context.controller))
    , m_banner(new Banner)
    , m_figures(new FigureStrip)
    , m_throughput(new LineChart(tr("Throughput"), {}, &Theme::accent))
    , m_loss(new LineChart(tr("Loss"), {}, &Theme::accent))
    , m_memory(new LineChart(tr("Peak memory"), {}, &Theme::accent))
    , m_mfu(new LineChart(tr("MFU"), {}, &Theme::accent))
    , m_experts(new LineChart(tr("Busiest expert"), {}, &Theme::accent))
    , m_details(new RunDetails(context.live))
{
    setLayout(columnOf({m_banner, {rowOf({m_form, makeSeparator(Qt::Vertical), {makeLive(), 1}}, 0), 1}}));
    m_form->setTrainer(m_trainer, m_history);
    connect(&m_live, &LiveRun::linkChanged, this, &RunsPage::showLink);

    connect(m_form, &RunForm::startRequested, this, &RunsPage::start);
    connect(m_form, &RunForm::queueRequested, this, &RunsPage::enqueue);
    connect(m_details, &RunDetails::traceRequested, this, &RunsPage::traceRequested);
    connect(&m_details->queuePanel(), &QueuePanel::runChosen, this, &RunsPage::follow);
    connect(&m_details->queuePanel(), &QueuePanel::changed, this, &RunsPage::runsChanged);
    connect(m_form, &RunForm::stopRequested, &m_controller, &RunController::stop);
    connect(m_form, &RunForm::restartRequested, this, &RunsPage::restart);
    connect(m_form, &RunForm::rehearsalRequested, this, &RunsPage::rehearse);
    connect(m_form, &RunForm::checkRequested, this, &RunsPage::check);
    connect(m_form, &RunForm::findRequested, this, &RunsPage::findCluster);
    connect(m_form, &RunForm::sweepRequested, this, &RunsPage::sweep);
    connect(&m_controller, &RunController::hostKeyAsked, this, &RunsPage::ask);
    connect(&m_controller, &RunController::secretAsked, this,
        [this](const SecretQuestion& question) { m_controller.answerSecret(askSecret(window(), question)); });
    connect(&m_controller, &RunController::checked, this, &RunsPage::checked);
    connect(&m_details->nodeReport(), &NodeReport::saveRequested, this, &RunsPage::saveNodes);
    connect(&m_controller, &RunController::sweepMoved, m_details, &RunDetails::showSweep);
    connect(&m_controller, &RunController::sweepEnded, this, &RunsPage::sweepEnded);
    connect(&m_controller, &RunController::workChanged, this, [this] {
        if (m_restarting && !m_controller.isRunning()) {
            m_restarting = false;
            begin(*m_last);
        }
        if (!m_next.isEmpty() && !m_controller.isRunning())
            follow(std::exchange(m_next, {}));
    });
    connect(&m_controller, &RunController::finished, this, [this](const Expected<RunResult>& outcome) {
        if (outcome && outcome->events_left)
            offerAllEvents(QString::fromStdString(outcome->id));
        if (outcome || outcome.error().code == ProblemCode::cancelled)
            return;
        // Not from inside the controller's turn: the dialog has an event loop of its own.
        QTimer::singleShot(0, this,
            [this, problem = outcome.error()] { showProblem(window(), tr("The run did not start"), problem); });
    });
    connect(&m_live, &LiveRun::changed, this, &RunsPage::showFigures);
    connect(&m_live, &LiveRun::pointsArrived, this, &RunsPage::showPoints);
    showFigures();
    showPoints();
}

void RunsPage::setDocument(PlanDocument& document)
{
    m_form->setDocument(document);
}

QWidget* RunsPage::makeLive()
{
    m_throughput->setSubtitle(tr("tokens/s per GPU over optimizer steps"));
    m_throughput->setNames(tr("Measured"));
    m_loss->setSubtitle(tr("cross-entropy over optimizer steps"));
    m_loss->setNames(tr("Training"), tr("Held-out"));
    m_memory->setSubtitle(tr("GiB, largest over ranks"));
    m_memory->setNames(tr("Measured"));
    for (LineChart* chart : {m_throughput, m_loss, m_memory, m_mfu})
        chart->setEmptyText(tr("Steps of a run appear here as they arrive."));
    m_mfu->setSubtitle(tr("% of the dense peak"));
    m_mfu->setNames(tr("Measured"));
    auto* charts = new QWidget;
    auto* grid = new QGridLayout(charts);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(10);
    m_experts->setSubtitle(tr("tokens, times the mean of its layer"));
    m_experts->setNames(tr("Measured"));
    m_experts->hide();
    const std::array<LineChart*, 5> all{m_throughput, m_loss, m_memory, m_mfu, m_experts};
    for (std::size_t i = 0; i < 4; ++i)
        grid->addWidget(all[i], static_cast<int>(i) / 2, static_cast<int>(i) % 2);
    grid->addWidget(m_experts, 2, 0, 1, 2);
    LineChart::share({all.begin(), all.end()});
    QSplitter* rows = makeSplitter(QStringLiteral("runs.rows"), Qt::Vertical, {charts, m_details}, {8, 4});
    rows->setHandleWidth(10);
    rows->setProperty("gap", true);
    auto* scroll = new ScrollColumn(holderOf(columnOf({m_figures, {rows, 1}}, 10, {12, 12, 12, 12})));
    connect(m_details, &RunDetails::raised, scroll, [this, scroll] { scroll->ensureWidgetVisible(m_details); });
    return scroll;
}

void RunsPage::start(const view::RunSetup& setup, const QString& title)
{
    if (!setup.request || m_controller.isRunning())
        return;
    RunRequest request = *setup.request;
    request.trainer = m_trainer;
    request.history_file = m_history;
    m_live.expect(setup.expectation, setup.steps, title);
    m_last = request;
    m_form->setCanRestart(true);
    begin(std::move(request));
}

void RunsPage::begin(RunRequest request)
{
    m_controller.start(std::move(request));
}

void RunsPage::enqueue(const view::RunSetup& setup)
{
    RunRequest request = *setup.request;
    request.trainer = m_trainer;
    const Expected<std::int64_t> number = m_details->queuePanel().add(request);
    m_details->showTab(RunDetails::queue);
    if (number)
        emit message(tr("Run %1 of the queue").arg(*number));
    else
        showProblem(window(), tr("The run does not wait for its turn"), number.error());
}

void RunsPage::restart()
{
    if (!m_last)
        return;
    const QString step = tr("step %1 of %2").arg(grouped(m_live.run().step()), grouped(m_live.run().total_steps()));
    if (m_controller.work() == RunController::Work::run && m_controller.isRunning() && !askToRestart(window(), step))
        return;
    m_restarting = true;
    if (m_controller.isRunning()) {
        // The end of it starts the next; a run of somebody else's making goes on.
        m_controller.isFollowing() ? m_controller.detach() : m_controller.stop();
    } else {
        m_restarting = false;
        begin(*m_last);
    }
}

// Beside the window, which goes on meanwhile; one at a time.
void RunsPage::rehearse(const ResolvedPlan& plan)
{
    delete m_rehearsal;
    m_rehearsal = new RehearsalDialog(plan, m_trainer, window());
    connect(m_rehearsal, &RehearsalDialog::traceRequested, this, &RunsPage::traceRequested);
    m_rehearsal->show();
}

void RunsPage::check(const Target& target, const QString& name)
{
    if (m_controller.isRunning())
        return;
    m_checked = target;
    m_checkedName = name;
    m_wish.reset();
    m_details->showTab(RunDetails::nodes);
    m_details->nodeReport().showLooking(name);
    m_controller.check(target);
}

void RunsPage::findCluster()
{
    PlanDocument& document = m_form->document();
    const std::optional<ResolvedPlan>& resolved = document.resolved();
    std::optional<Plan> open;
    if (!document.plan().document.is_null())
        open = document.plan();
    FindDialog dialog(m_presets, open, resolved ? resolved->gpus : 0, window());
    const bool taken = dialog.exec() == QDialog::Accepted;
    if (!dialog.saved())
        return;
    const SavedCluster& saved = *dialog.saved();
    m_form->addTarget(fromUtf8(saved.target));
    if (taken && open)
        document.apply(tr("Hardware %1").arg(fromUtf8(saved.target)), QString(), view::with_hardware(*open, saved));
    emit message(saved.cluster.empty()
            ? tr("Saved as target %1; the plan keeps its cluster until this one is measured")
                  .arg(fromUtf8(saved.target))
            : tr("Saved as target %1, cluster %2").arg(fromUtf8(saved.target), fromUtf8(saved.cluster)));
}

// Once more, with the speeds: the first look does not keep the nodes busy.
void RunsPage::saveNodes()
{
    if (m_controller.isRunning() || !m_checked)
        return;
    ClusterDialog dialog(m_presets, m_details->nodeReport().report(), window());
    if (dialog.exec() != QDialog::Accepted)
        return;
    m_wish = view::ClusterWish{dialog.id().toStdString(), dialog.like().toStdString()};
    m_details->nodeReport().showLooking(m_checkedName);
    m_controller.check(*m_checked, true);
}

void RunsPage::checked(const Expected<ProbeReport>& report)
{
    m_details->nodeReport().show(report);
    const std::optional<view::ClusterWish> wish = std::exchange(m_wish, {});
    if (!wish || !report)
        return; // the report says why
    const Expected<std::filesystem::path> file = save_cluster(*report, wish->id, wish->like);
    if (file) {
        emit clusterSaved(fromUtf8(wish->id), fromUtf8(file->string()));
        return;
    }
    QTimer::singleShot(
        0, this, [this, problem = file.error()] { showProblem(window(), tr("The cluster was not saved"), problem); });
}

void RunsPage::sweep(const view::RunSetup& setup)
{
    if (!setup.request || m_controller.isRunning())
        return;
    SweepDialog dialog(setup.request->plan, setup.steps, window());
    if (dialog.exec() != QDialog::Accepted)
        return;
    SweepRequest request;
    request.plan = setup.plan;
    request.layouts = dialog.setup().layouts;
    request.gpus = dialog.setup().gpus;
    request.target = setup.request->target;
    request.steps = dialog.setup().steps;
    request.skip_unfit = dialog.setup().skipUnfit;
    request.again = dialog.setup().again;
    request.trainer = m_trainer;
    request.history_file = m_history;
    m_live.expect({}, dialog.setup().steps, tr("Sweep"));
    m_controller.sweep(std::move(request));
}

void RunsPage::sweepEnded(const Expected<SweepTable>& outcome)
{
    if (outcome) {
        m_details->showSweep(*outcome, {});
        emit runsChanged();
        return;
    }
    if (outcome.error().code == ProblemCode::cancelled)
        return;
    QTimer::singleShot(
        0, this, [this, problem = outcome.error()] { showProblem(window(), tr("The sweep did not run"), problem); });
}

void RunsPage::follow(const QString& runId)
{
    if (!m_controller.isRunning()) {
        m_controller.follow(runId, m_history);
    } else if (m_controller.isFollowing()) {
        m_next = runId;
        m_controller.detach();
    } else {
        emit message(tr("The run that was started here is shown until it ends"));
    }
}

void RunsPage::offerAllEvents(const QString& runId)
{
    m_banner->say(Tone::warning,
        tr("More events came than the target's events_gib: the rest of run %1 is on its nodes.").arg(runId.left(12)),
        {{tr("Fetch all events"), [this, runId] {
              if (!m_controller.isRunning())
                  m_controller.follow(runId, m_history, true);
          }}});
}

const std::array<FigureCard*, 5>& RunsPage::figures() const
{
    return m_figures->cards();
}

// As long as the line is down; it says so itself when it is up again.
void RunsPage::showLink()
{
    const QString trouble = fromUtf8(m_live.run().link_trouble());
    if (trouble.isEmpty())
        m_banner->hide();
    else
        m_banner->say(Tone::warning, trouble, {}, false);
}

void RunsPage::showFigures()
{
    m_figures->showFigures(m_live.run().figures());
}

void RunsPage::showPoints()
{
    const view::LiveRun& run = m_live.run();
    const view::RunExpectation& expected = run.expectation();
    const auto predicted = [this](const std::optional<double>& value, const QString& text) {
        return value ? tr("Predicted %1").arg(text) : QString();
    };
    m_throughput->setLevel(expected.tps_per_gpu,
        predicted(expected.tps_per_gpu,
            grouped(expected.tps_per_gpu.value_or(0), expected.tps_per_gpu.value_or(0) < 100 ? 1 : 0)));
    constexpr double kPerCent = 100;
    const auto field = [this](LineChart* chart, const std::optional<Range>& interval, double scale = 1) {
        chart->setLevelBand(
            interval ? std::optional(std::pair(interval->low * scale, interval->high * scale)) : std::nullopt,
            tr("90 %"));
    };
    field(m_throughput, expected.tps_interval);
    field(m_memory, expected.memory_interval);
    field(m_mfu, expected.mfu_interval, kPerCent);
    m_memory->setLevel(expected.memory_gib, predicted(expected.memory_gib, gib(expected.memory_gib.value_or(0))));
    const double mfu = expected.mfu.value_or(0) * kPerCent;
    m_mfu->setLevel(expected.mfu ? std::optional(mfu) : std::nullopt, predicted(expected.mfu, grouped(mfu, 1)));
    for (LineChart* chart : {m_throughput, m_loss, m_memory, m_mfu, m_experts})
        chart->setMinimumX(run.total_steps());
    m_experts->setVisible(!run.busiest_expert().empty());
    m_experts->setPoints(pointsOf(run.busiest_expert()));
    m_experts->setNote(fromUtf8(run.experts_text()));
    m_throughput->setPoints(pointsOf(run.throughput()));
    m_loss->setPoints(pointsOf(run.loss()));
    m_loss->setDots(pointsOf(run.eval_loss()));
    QList<QPointF> losses; // of the recipe, which may go on behind this run's end
    for (const auto& [step, loss] : expected.loss) {
        if (step <= std::max(1, run.total_steps()))
            losses << QPointF(step, loss);
    }
    m_loss->setExpected(losses, tr("Expected"));
    const auto band = [&run, this](LineChart* chart, const view::RankSpread& spread, const QString& worst) {
        chart->setBand(pointsOf(spread.least), pointsOf(spread.greatest), tr("Lowest to highest rank"));
        const QString name = fromUtf8(run.rank_name(spread.worst_rank));
        chart->setNote(name.isEmpty() ? QString() : worst.arg(name));
    };
    band(m_memory, run.memory_over_ranks(), tr("most: %1"));
    band(m_throughput, run.throughput_over_ranks(), tr("slowest: %1"));
    band(m_mfu, run.mfu_over_ranks(), tr("slowest: %1"));
    m_throughput->setMedian(pointsOf(run.throughput_over_ranks().median), tr("Median"));
    m_mfu->setMedian(pointsOf(run.mfu_over_ranks().median), tr("Median"));
    m_memory->setMedian(pointsOf(run.memory_over_ranks().median), tr("Median"));
    m_memory->setPoints(pointsOf(run.memory()));
    m_mfu->setPoints(pointsOf(run.mfu()));
}

void RunsPage::ask(const HostKeyQuestion& question)
{
    m_controller.answerHostKey(askHostKey(window(), question));
}

} // namespace fourfold::ui
