// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan/plan_page.h"

#include "app/desktop/dialogs/derivation_dialog.h"
#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/pages/plan/config/config_panel.h"
#include "app/desktop/widgets/cards/advice_view.h"
#include "app/desktop/widgets/cards/bounds_view.h"
#include "app/desktop/widgets/cards/card_stack.h"
#include "app/desktop/widgets/cards/figure_card.h"
#include "app/desktop/widgets/cards/figure_strip.h"
#include "app/desktop/widgets/cards/training_view.h"
#include "app/desktop/widgets/charts/memory_bars.h"
#include "app/desktop/widgets/charts/memory_over_time.h"
#include "app/desktop/widgets/charts/rank_mesh_view.h"
#include "app/desktop/widgets/charts/step_split.h"
#include "app/desktop/widgets/panels/advice_bar.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/panels/folding_splitter.h"
#include "app/desktop/widgets/panels/layout_state.h"
#include "app/desktop/widgets/panels/scroll_column.h"
#include "app/desktop/widgets/panels/warning_bar.h"
#include "app/desktop/widgets/timeline/timeline_view.h"
#include "app/models/shared/text.h"
#include "app/view/plan/edits.h"
#include "app/view/plan/facts.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/prediction/planned_scene.h"

#include <QFrame>

#include <algorithm>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr int kPatienceMilliseconds = 150; // an answer that takes longer is announced by fading the old one

constexpr int kFoldWidth = 640; // of memory and step time side by side
constexpr int kBounds = 2, kAdvice = 3; // places in the switch under the pictures
} // namespace

PlanPage::PlanPage(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_advice(document)
    , m_config(new ConfigPanel(document))
    , m_figures(new FigureStrip)
    , m_bars(new MemoryBars)
    , m_overTime(new MemoryOverTime)
    , m_split(new StepSplit)
    , m_timeline(named(new TimelineView, "plan.timeline"))
    , m_mesh(new RankMeshView)
    , m_bounds(new BoundsView)
    , m_warnings(new WarningBar)
    , m_adviceBar(new AdviceBar(m_advice))
    , m_adviceView(new AdviceView(m_advice))
    , m_training(new TrainingView(document))
{
    setLayout(rowOf({makeSplitter(QStringLiteral("plan.config"), Qt::Horizontal, {m_config, makeAnswer()}, {26, 74})}));
    m_bars->setSubtitle(tr("peak GPU of each pipeline stage, GiB"));
    m_slow.setSingleShot(true);
    m_slow.setInterval(kPatienceMilliseconds);
    connect(&m_slow, &QTimer::timeout, this, &PlanPage::showStale);
    connect(m_config, &ConfigPanel::importRequested, this, &PlanPage::importRequested);
    connect(&document, &PlanDocument::predictionChanged, this, &PlanPage::showAnswer);
    connect(m_bars, &MemoryBars::stageClicked, this, &PlanPage::selectStage);
    connect(m_timeline, &TimelineView::stageClicked, this, &PlanPage::selectStage);
    connect(m_mesh, &RankMeshView::stageClicked, this, &PlanPage::selectStage);
    connect(m_overTime, &MemoryOverTime::stageStepped, this,
        [this](int by) { selectStage(std::clamp(m_overTime->curve().stage + by, 0, m_bars->stages() - 1)); });
    connect(m_memoryCards, &CardStack::currentChanged, this, &PlanPage::showCurve);
    connect(m_whenCards, &CardStack::currentChanged, this, &PlanPage::showBounds);
    connect(m_adviceBar, &AdviceBar::allRequested, this, [this] {
        m_whenCards->setCurrent(kAdvice);
        m_answer->ensureWidgetVisible(m_whenCards);
        m_adviceView->setFocus();
    });
    connect(m_warnings, &WarningBar::allRequested, this,
        [this] { showLongText(this, tr("Warnings of this prediction"), m_warnings->text()); });
    connect(m_warnings, &WarningBar::configRequested, this, [this] {
        showLongText(this, tr("What is used of the model's config"),
            fromUtf8(view::config_report(m_document.plan())).join(QLatin1Char('\n')));
    });
    connectDerivations();
    connect(&document, &PlanDocument::planChanged, this, &PlanPage::showMesh);
    showMesh();
    showAnswer();
}

// Every number says on hover how it follows, and opens its derivation on Enter or a click.
void PlanPage::connectDerivations()
{
    m_figures->setOpens(true);
    connect(m_figures, &FigureStrip::activated, this, [this](int index) {
        const auto figure = static_cast<std::size_t>(index);
        derive(fromUtf8(m_figures->cards()[figure]->figure().title), view::kAnswerKeys[figure]);
    });
    connect(m_split, &StepSplit::partActivated, this,
        [this](const QString& part) { derive(tr("the step time"), "step_time_s", {part}); });
    const auto deriveStage = [this](int stage) {
        if (m_document.prediction())
            showDerivation(
                this, tr("the memory of stage %1").arg(stage), explain_stage(*m_document.prediction(), stage));
    };
    connect(m_bars, &MemoryBars::stageActivated, this, deriveStage);
    connect(m_overTime, &MemoryOverTime::stageActivated, this, deriveStage);
    connect(m_timeline, &TimelineView::barActivated, this, [this](SpanKind kind, double seconds) {
        if (m_document.prediction())
            showDerivation(this, tr("the bar"), explain_span(*m_document.prediction(), kind, seconds));
    });
    connect(m_training, &TrainingView::figureActivated, this,
        [this](const QString& title, const Explanation& explanation) { showDerivation(this, title, explanation); });
    const auto explainAs = [this](const char* figure) {
        return [this, figure](const QString& part) -> QString {
            if (!m_document.prediction())
                return {};
            const Expected<Explanation> explanation = explain(*m_document.prediction(), figure);
            const Explanation* at = explanation ? explanationAt(*explanation, part) : nullptr;
            return at ? explainedSummary(*at) : QString();
        };
    };
    for (std::size_t i = 0; i < view::kAnswerKeys.size(); ++i)
        m_figures->cards()[i]->setExplain(explainAs(view::kAnswerKeys[i]));
    m_split->setExplain(explainAs("step_time_s"));
    m_bars->setExplain([this](const QString& stage) {
        const std::shared_ptr<const Prediction>& prediction = m_document.prediction();
        return prediction ? explainedSummary(explain_stage(*prediction, stage.toInt())) : QString();
    });
}

void PlanPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_advice.setActive(true);
}

void PlanPage::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_advice.setActive(false);
}

const std::array<FigureCard*, 5>& PlanPage::figures() const
{
    return m_figures->cards();
}

ReportPage PlanPage::report() const
{
    ReportPage page;
    page.title = m_document.title();
    if (!m_document.isAnswered())
        return page;
    const Prediction& prediction = *m_document.prediction();
    if (!prediction.plan.name.empty())
        page.title = fromUtf8(prediction.plan.name);
    for (const std::string& line : view::report_lines(prediction))
        page.lines << fromUtf8(line);
    page.parts = {{m_figures, 112, {}}, {m_bars, 250, {}}, {m_split, 260, {}}, {m_timeline, 320, {}}};
    return page;
}

QWidget* PlanPage::makeAnswer()
{
    m_memoryCards = named(new CardStack({{m_bars, tr("Per stage")}, {m_overTime, tr("Over time")}}), "plan.memory");
    m_whenCards = named(new CardStack({{m_timeline, tr("Timeline")}, {m_mesh, tr("Rank mesh")},
                            {m_bounds, tr("Bounds")}, {m_adviceView, tr("Advice")}, {m_training, tr("Budget")}}),
        "plan.when");
    for (CardStack* cards : {m_memoryCards, m_whenCards})
        keepProperty(cards, "current");
    QSplitter* why = arrangeSplitter(
        new FoldingSplitter(kFoldWidth), QStringLiteral("plan.why"), {m_memoryCards, m_split}, {5, 4});
    QSplitter* rows = makeSplitter(QStringLiteral("plan.rows"), Qt::Vertical, {why, m_whenCards}, {10, 11});
    for (QSplitter* splitter : {why, rows}) { // the gap between two cards is the handle
        splitter->setHandleWidth(10);
        splitter->setProperty("gap", true);
    }
    m_answer
        = new ScrollColumn(holderOf(columnOf({m_figures, m_warnings, m_adviceBar, {rows, 1}}, 10, {12, 12, 12, 12})));
    return m_answer;
}

void PlanPage::showAnswer()
{
    const std::shared_ptr<const Prediction>& prediction = m_document.prediction();
    if (prediction && prediction.get() != m_shown) {
        m_shown = prediction.get();
        m_figures->showFigures(view::answer_figures(*prediction));
        m_warnings->showWarnings(*prediction);
        m_warnings->showConfig(!view::config_report(m_document.plan()).empty(), view::ignores_keys(m_document.plan()));
        m_bars->showMemory(*prediction);
        m_split->showParts(*prediction);
        m_timeline->showTimeline(view::planned_scene(*prediction), fromUtf8(view::schedule_fact(prediction->plan)));
        selectStage(std::min(m_stage, m_bars->stages() - 1));
        showBounds();
        takePlace();
    }
    if (!prediction)
        m_warnings->showProblem(m_document.problem() ? fromUtf8(m_document.problem()->line()) : QString());
    if (m_document.isValid() && !m_document.isAnswered()) {
        m_slow.start();
        return;
    }
    m_slow.stop();
    showStale();
}

QVariantMap PlanPage::place() const
{
    return m_place.isEmpty() ? m_timeline->place() : m_place;
}

void PlanPage::setPlace(const QVariantMap& place)
{
    m_place = place;
    takePlace();
}

void PlanPage::takePlace()
{
    const bool isShown = m_document.isAnswered() && m_document.prediction().get() == m_shown;
    if (isShown && !m_place.isEmpty())
        m_timeline->setPlace(std::exchange(m_place, {}));
}

void PlanPage::showStale()
{
    const bool stale = m_document.prediction() && !m_document.isAnswered();
    m_figures->setStale(stale);
    for (Card* card : std::initializer_list<Card*>{m_bars, m_overTime, m_split, m_timeline, m_bounds, m_training})
        card->setStale(stale);
}

// Only while it is on show: an edit has a frame's time for its answer.
void PlanPage::showCurve()
{
    const std::shared_ptr<const Prediction>& prediction = m_document.prediction();
    if (!prediction || m_memoryCards->current() != 1)
        return;
    const int stage = m_stage >= 0 ? m_stage : std::max(0, m_bars->fullest());
    m_overTime->showCurve(
        memory_over_time(*prediction, stage), prediction->memory_capacity_gib, prediction->step_time_s.value_or(0));
}

void PlanPage::showBounds()
{
    const std::shared_ptr<const Prediction>& prediction = m_document.prediction();
    if (prediction && m_whenCards->current() == kBounds)
        m_bounds->showBounds(bounds_of(prediction->plan));
}

void PlanPage::derive(const QString& title, const char* figure, const QStringList& path)
{
    if (m_document.prediction())
        showDerivation(this, title, *m_document.prediction(), figure, path);
}

void PlanPage::showMesh()
{
    m_mesh->showMesh(m_document.resolved() ? view::RankMesh(*m_document.resolved()) : view::RankMesh());
}

void PlanPage::selectStage(int stage)
{
    m_stage = stage;
    m_bars->setSelectedStage(stage);
    m_timeline->setSelectedStage(stage);
    m_mesh->setSelectedStage(stage);
    showCurve();
}

} // namespace fourfold::ui
