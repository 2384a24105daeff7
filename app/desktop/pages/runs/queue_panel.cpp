// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/runs/queue_panel.h"

#include "app/desktop/dialogs/dialogs.h"
#include "app/desktop/widgets/panels/arrange.h"
#include "app/desktop/widgets/tables/data_table.h"
#include "app/models/shared/text.h"

#include <QItemSelectionModel>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace fourfold::ui {

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
    for (QPushButton* button : {m_show, m_earlier, m_later, m_remove})
        m_table->addRowAction(
            button->text(), button == m_remove ? QKeySequence(Qt::Key_Delete) : QKeySequence(),
            [button] { button->click(); }, [button] { return button->isEnabled(); });
    const auto changes = [this](QPushButton* button, std::function<Expected<void>(std::int64_t)> edit) {
        connect(button, &QPushButton::clicked, this, [this, edit = std::move(edit)] { change(edit); });
    };
    changes(m_earlier, [this](std::int64_t number) { return m_queue.move(number, -1); });
    changes(m_later, [this](std::int64_t number) { return m_queue.move(number, 1); });
    changes(m_remove, [this](std::int64_t number) { return m_queue.remove(number); });
    changes(m_pause, [this](std::int64_t) { return m_queue.toggle(); });
    changes(m_clear, [this](std::int64_t) { return m_queue.clear(); });
    m_timer.setInterval(view::QueueView::kBetweenLooks);
    connect(&m_timer, &QTimer::timeout, this, &QueuePanel::look);
    m_timer.start();
    look();
}

void QueuePanel::look()
{
    const std::int64_t number = selectedNumber();
    if (m_queue.look() || m_model.columnCount() == 0)
        present(number);
}

Expected<std::int64_t> QueuePanel::add(const RunRequest& request)
{
    Expected<std::int64_t> number = m_queue.add(request);
    present(number ? *number : 0);
    return number;
}

void QueuePanel::present(std::int64_t number)
{
    m_model.show(m_queue.table());
    const auto& runs = m_queue.contents().runs;
    const auto at = std::find_if(runs.begin(), runs.end(), [&](const QueuedRun& run) { return run.number == number; });
    if (at != runs.end())
        m_table->selectRow(static_cast<int>(at - runs.begin()));
    showState();
    emit changed();
}

const QueuedRun* QueuePanel::selected() const
{
    const auto& runs = m_queue.contents().runs;
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (rows.size() != 1 || rows.front().row() >= static_cast<int>(runs.size()))
        return nullptr;
    return &runs[static_cast<std::size_t>(rows.front().row())];
}

std::int64_t QueuePanel::selectedNumber() const
{
    const QueuedRun* const run = selected();
    return run ? run->number : 0;
}

void QueuePanel::showState()
{
    const QueuedRun* const run = selected();
    const bool waits = run && view::QueueView::can_move(*run), rests = m_queue.rests();
    m_show->setEnabled(run && !run->run.empty());
    m_earlier->setEnabled(waits);
    m_later->setEnabled(waits);
    m_remove->setEnabled(run && view::QueueView::can_remove(*run));
    m_pause->setText(rests ? tr("Go on") : tr("Pause"));
    m_pause->setToolTip(rests ? tr("Start what waits") : tr("Start nothing more; what runs goes on"));
    m_clear->setEnabled(m_queue.has_ended());
    m_summary->setText(fromUtf8(m_queue.summary()));
}

void QueuePanel::change(const std::function<Expected<void>(std::int64_t)>& edit)
{
    const std::int64_t number = selectedNumber();
    const Expected<void> done = edit(number);
    present(number);
    if (!done)
        showProblem(window(), tr("The queue was not changed"), done.error());
}

} // namespace fourfold::ui
