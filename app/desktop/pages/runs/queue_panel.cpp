// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/queue_panel.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"
#include "runner/queue/queue_table.h"
#include "runner/queue/queue_worker.h"

#include <QItemSelectionModel>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

namespace {
constexpr int kBetweenLooks = 1000; // milliseconds
}

QueuePanel::QueuePanel(QWidget* parent)
    : QWidget(parent)
    , m_table(new DataTable)
    , m_summary(named(makeWords("muted"), "queueSummary"))
    , m_show(makeButton(tr("Show run"), "small", "queueShow", tr("Follow it in this window")))
    , m_earlier(makeButton(tr("Earlier"), "small", "queueEarlier"))
    , m_later(makeButton(tr("Later"), "small", "queueLater"))
    , m_remove(
          makeButton(tr("Remove"), "small", "queueRemove", tr("Take it out of the queue; a run that goes on stays")))
    , m_pause(makeButton({}, "small", "queuePause"))
    , m_clear(makeButton(tr("Clear ended"), "small", "queueClear"))
{
    m_table->present(m_model, "runQueue", tr("Queue of runs"));
    m_table->setFitting({});
    setLayout(columnOf({rowOf({{m_summary, 1}, m_show, m_earlier, m_later, m_remove, m_pause, m_clear}, 6),
                           {makeFrame(columnOf({m_table}, 0, {1, 1, 1, 1})), 1}},
        6));
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &QueuePanel::showState);
    connect(m_table, &DataTable::deletePressed, m_remove, &QPushButton::click);
    connect(m_table, &QTableView::doubleClicked, m_show, &QPushButton::click);
    connect(m_show, &QPushButton::clicked, this, [this] {
        if (const QueuedRun* const run = selected(); run && !run->run.empty())
            emit runChosen(fromUtf8(run->run));
    });
    connect(m_earlier, &QPushButton::clicked, this, [this] { move(-1); });
    connect(m_later, &QPushButton::clicked, this, [this] { move(1); });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        if (const QueuedRun* const run = selected())
            change([&] { return m_queue.remove(run->number); });
    });
    connect(m_pause, &QPushButton::clicked, this, [this] {
        change([this]() -> Expected<void> {
            // What waits and nobody starts goes on as well.
            const bool pause = !m_contents.paused && m_queue.has_giver();
            FOURFOLD_CHECK(m_queue.set_paused(pause));
            return ensure_turns(m_queue);
        });
    });
    connect(m_clear, &QPushButton::clicked, this, [this] {
        change([this]() -> Expected<void> {
            FOURFOLD_CHECK(m_queue.clear());
            return {};
        });
    });
    m_timer.setInterval(kBetweenLooks);
    connect(&m_timer, &QTimer::timeout, this, &QueuePanel::look);
    m_timer.start();
    look();
}

void QueuePanel::look()
{
    const Expected<QueueContents> contents = m_queue.read();
    if (!contents) {
        m_summary->setText(fromUtf8(contents.error().line()));
        return;
    }
    const Table table = queue_table(*contents);
    const bool same = table.rows == m_model.table().rows && contents->paused == m_contents.paused;
    const QueuedRun* const run = selected();
    const std::int64_t number = run ? run->number : 0;
    m_contents = *contents;
    if (!same || m_model.columnCount() == 0) {
        m_model.show(table);
        select(number);
        emit changed();
    }
    showState();
}

const QueuedRun* QueuePanel::selected() const
{
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (rows.size() != 1 || rows.front().row() >= static_cast<int>(m_contents.runs.size()))
        return nullptr;
    return &m_contents.runs[static_cast<std::size_t>(rows.front().row())];
}

void QueuePanel::select(std::int64_t number)
{
    const auto& runs = m_contents.runs;
    const auto at = std::find_if(runs.begin(), runs.end(), [&](const QueuedRun& run) { return run.number == number; });
    if (at != runs.end())
        m_table->selectRow(static_cast<int>(at - runs.begin()));
}

void QueuePanel::showState()
{
    const QueuedRun* const run = selected();
    const bool waits = run && run->state == TurnState::waiting;
    m_show->setEnabled(run && !run->run.empty());
    m_earlier->setEnabled(waits);
    m_later->setEnabled(waits);
    m_remove->setEnabled(run && (run->state != TurnState::taken || run->run.empty()));
    const bool idle = m_queue.is_stalled(m_contents);
    m_pause->setText(m_contents.paused || idle ? tr("Go on") : tr("Pause"));
    m_pause->setToolTip(
        m_contents.paused || idle ? tr("Start what waits") : tr("Start nothing more; what runs goes on"));
    m_clear->setEnabled(std::any_of(m_contents.runs.begin(), m_contents.runs.end(),
        [](const QueuedRun& each) { return each.state == TurnState::ended; }));
    m_summary->setText(fromUtf8(queue_summary(m_contents)) + (idle ? tr("; nothing starts them now") : QString()));
}

void QueuePanel::change(const std::function<Expected<void>()>& edit)
{
    const Expected<void> done = edit();
    look();
    if (!done)
        showProblem(window(), tr("The queue was not changed"), done.error());
}

void QueuePanel::move(int places)
{
    const QueuedRun* const run = selected();
    if (!run)
        return;
    int place = 1; // of it among those that wait
    for (const QueuedRun& each : m_contents.runs) {
        if (&each == run)
            break;
        place += each.state == TurnState::waiting ? 1 : 0;
    }
    change([&] { return m_queue.move(run->number, std::max(1, place + places)); });
}

} // namespace fourfold::ui
