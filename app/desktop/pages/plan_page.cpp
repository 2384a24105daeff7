// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/plan_page.h"

#include "app/desktop/pages/config/config_panel.h"
#include "app/desktop/widgets/figure_card.h"
#include "app/desktop/widgets/memory_bars.h"
#include "app/desktop/widgets/step_split.h"
#include "app/desktop/widgets/timeline_view.h"
#include "app/models/choices.h"
#include "app/models/text.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
constexpr int kPatienceMilliseconds = 150; // an answer that takes longer is announced by fading the old one

QString timelineSummary(const ResolvedPlan& plan)
{
    const QString schedule = choiceLabel("training.schedule", to_text(plan.training.schedule));
    return PlanPage::tr("%1, %2 \u00d7 %3")
        .arg(schedule, counted(plan.layout.pp, PlanPage::tr("stage")),
            counted(plan.training.micro_batches, PlanPage::tr("micro-batch"), PlanPage::tr("micro-batches")));
}
} // namespace

PlanPage::PlanPage(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_config(new ConfigPanel(document))
    , m_bars(new MemoryBars(m_memory))
    , m_split(new StepSplit(m_parts))
    , m_timeline(new TimelineView)
{
    auto* line = new QFrame;
    line->setProperty("role", "separator");
    line->setFixedWidth(1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_config);
    row->addWidget(line);
    row->addWidget(makeAnswer(), 1);

    m_bars->setSubtitle(tr("peak GPU of each pipeline stage, GiB"));
    m_slow.setSingleShot(true);
    m_slow.setInterval(kPatienceMilliseconds);
    connect(&m_slow, &QTimer::timeout, this, &PlanPage::showStale);
    connect(m_config, &ConfigPanel::importRequested, this, &PlanPage::importRequested);
    connect(&document, &PlanDocument::predictionChanged, this, &PlanPage::showAnswer);
    connect(m_bars, &MemoryBars::stageClicked, this, &PlanPage::selectStage);
    connect(m_timeline, &TimelineView::stageClicked, this, &PlanPage::selectStage);
    showAnswer();
}

QWidget* PlanPage::makeAnswer()
{
    auto* answer = new QWidget;
    auto* column = new QVBoxLayout(answer);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(10);
    auto* strip = new QHBoxLayout;
    strip->setSpacing(10);
    for (FigureCard*& card : m_figures) {
        card = new FigureCard;
        strip->addWidget(card, 1);
    }
    column->addLayout(strip);
    auto* why = new QHBoxLayout;
    why->setSpacing(10);
    why->addWidget(m_bars, 5);
    why->addWidget(m_split, 4);
    column->addLayout(why, 10);
    column->addWidget(m_timeline, 11);
    return answer;
}

void PlanPage::showAnswer()
{
    const std::shared_ptr<const Prediction>& prediction = m_document.prediction();
    if (prediction && prediction.get() != m_shown) {
        m_shown = prediction.get();
        const std::array<Figure, 5> figures = answerFigures(*prediction);
        for (std::size_t i = 0; i < figures.size(); ++i)
            m_figures[i]->show(figures[i]);
        m_memory.show(*prediction);
        m_parts.show(*prediction);
        m_timeline->showTimeline(TimelineScene(prediction->timeline), timelineSummary(prediction->plan));
        selectStage(-1);
    }
    if (m_document.isValid() && !m_document.isAnswered()) {
        m_slow.start();
        return;
    }
    m_slow.stop();
    showStale();
}

void PlanPage::showStale()
{
    const bool stale = m_document.prediction() && !m_document.isAnswered();
    for (FigureCard* card : m_figures)
        card->setStale(stale);
    for (Card* card : std::initializer_list<Card*>{m_bars, m_split, m_timeline})
        card->setStale(stale);
}

void PlanPage::selectStage(int stage)
{
    m_bars->setSelectedStage(stage);
    m_timeline->setSelectedStage(stage);
}

} // namespace fourfold::ui
