// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/history/history_detail.h"

#include "app/desktop/look/zoom.h"
#include "app/desktop/widgets/cards/card_stack.h"
#include "app/desktop/widgets/cards/failure_view.h"
#include "app/desktop/widgets/charts/error_scatter.h"
#include "app/desktop/widgets/charts/line_chart.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/runs/live_run.h"
#include "app/models/shared/text.h"
#include "app/view/history/runs_list.h"
#include "core/history/event_types.h"
#include "core/predict/prediction.h"

#include <QEvent>
#include <QFormLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace fourfold::ui {

namespace {
constexpr int kNoteHeight = 48;
}

HistoryDetail::HistoryDetail(const HistoryModel& model, QWidget* parent)
    : QWidget(parent)
    , m_table(new DataTable)
    , m_tags(new QLineEdit)
    , m_note(new QPlainTextEdit)
    , m_throughput(new LineChart(tr("Throughput"), {}, &Theme::accent))
    , m_loss(new LineChart(tr("Loss"), {}, &Theme::accent))
    , m_failure(new FailureCard)
    , m_scatter(new ErrorScatter(model))
{
    m_throughput->setSubtitle(tr("tokens/s per GPU by step"));
    m_throughput->setNames(tr("Measured"));
    m_loss->setSubtitle(tr("cross-entropy by step"));
    m_loss->setNames(tr("Training"), tr("Held-out"));
    for (LineChart* chart : {m_throughput, m_loss})
        chart->setEmptyText(tr("Select a run with steps."));
    LineChart::share({m_throughput, m_loss});
    m_cards = new CardStack({{m_throughput, tr("TPS/GPU")}, {m_loss, tr("Loss")}, {m_failure, tr("Failure")}});
    setLayout(rowOf({{makeFacts(), 4}, {m_cards, 4}, {m_scatter, 4}}, 10, {12, 12, 12, 12}));
    connect(m_tags, &QLineEdit::editingFinished, this, &HistoryDetail::commit);
    m_note->installEventFilter(this);
    clear();
}

QWidget* HistoryDetail::makeFacts()
{
    m_table->present(m_facts, "runFacts", tr("Facts of the selected run"), false);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->horizontalHeader()->hide();
    m_table->setWidths({150});
    named(m_tags, "runTags", tr("Tags"))->setPlaceholderText(tr("words, separated by commas"));
    named(m_note, "runNote", tr("Note"))->setPlaceholderText(tr("anything worth remembering"));
    m_note->setTabChangesFocus(true);
    fixHeight(m_note, kNoteHeight);
    auto* words = new QFormLayout;
    words->setContentsMargins(10, 6, 10, 10);
    words->setHorizontalSpacing(10);
    words->addRow(tr("Tags"), m_tags);
    words->addRow(tr("Note"), m_note);
    return makeFrame(columnOf({{m_table, 1}, words}, 0, {1, 1, 1, 1}));
}

void HistoryDetail::clear()
{
    m_run = {};
    m_facts.show({});
    m_table->clearSpans();
    const QSignalBlocker blocker(m_tags);
    m_tags->clear();
    m_note->clear();
    m_tags->setEnabled(false);
    m_note->setEnabled(false);
    m_throughput->setLevel({}, {});
    m_throughput->setLevelBand({});
    m_throughput->setPoints({});
    m_loss->setPoints({});
    m_loss->setDots({});
    showFailure({}, {});
}

// On show by itself with a run that failed, and gone with it.
void HistoryDetail::showFailure(std::optional<view::RunFailure> failure, const QString& state)
{
    constexpr int card = 2;
    if (failure)
        m_cards->setCurrent(card);
    else if (m_cards->current() == card)
        m_cards->setCurrent(0);
    m_failure->showFailure(std::move(failure), state);
}

void HistoryDetail::show(const RunDetail& run)
{
    m_run = run.summary;
    m_facts.show(view::run_facts(run));
    m_table->clearSpans();
    for (int row = 0; row < m_facts.rowCount(); ++row) {
        if (m_facts.index(row, 0).data(FactsModel::HeadingRole).toBool())
            m_table->setSpan(row, 0, 1, FactsModel::columns);
    }
    const QSignalBlocker blocker(m_tags);
    m_tags->setText(fromUtf8(view::tag_text(run.summary.tags)));
    m_note->setPlainText(fromUtf8(run.summary.note));
    m_tags->setEnabled(true);
    m_note->setEnabled(true);

    view::Series throughput, loss;
    QList<QPointF> heldOut;
    for (const StepRow& step : run.steps) {
        if (step.tps_per_gpu)
            throughput.append(step.step, *step.tps_per_gpu);
        if (step.loss)
            loss.append(step.step, *step.loss);
    }
    for (const Json& event : run.other_events) {
        const EvalEvent held = kind_of(event) == EventKind::eval ? read_event<EvalEvent>(event) : EvalEvent();
        if (held.loss)
            heldOut << QPointF(double(held.step.value_or(run.summary.steps)), *held.loss);
    }
    const std::optional<double>& predicted = run.summary.predicted_tps_per_gpu;
    m_throughput->setLevel(predicted, predicted ? tr("Predicted %1").arg(throughputText(*predicted)) : QString());
    std::optional<std::pair<double, double>> interval;
    if (const auto stored = prediction_from_json(run.prediction, run.summary.id); stored && stored->interval)
        interval.emplace(stored->interval->tps_per_gpu.low, stored->interval->tps_per_gpu.high);
    m_throughput->setLevelBand(interval, tr("90 %"));
    m_throughput->setPoints(pointsOf(throughput));
    m_loss->setPoints(pointsOf(loss));
    m_loss->setDots(heldOut);
    showFailure(view::failure_of(run), exactText(view::state_label(run.summary.state)));
}

void HistoryDetail::commit()
{
    if (m_run.id.empty())
        return;
    const std::vector<std::string> tags = view::tags_of(m_tags->text().toStdString());
    if (tags != m_run.tags) {
        m_run.tags = tags;
        emit tagsEdited(tags);
    }
    const std::string note = m_note->toPlainText().toStdString();
    if (note != m_run.note) {
        m_run.note = note;
        emit noteEdited(note);
    }
}

bool HistoryDetail::eventFilter(QObject* object, QEvent* event)
{
    if (object == m_note && event->type() == QEvent::FocusOut)
        commit();
    return QWidget::eventFilter(object, event);
}

} // namespace fourfold::ui
