// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/queue_view.h"

#include "runner/queue/queue_table.h"
#include "runner/queue/queue_worker.h"

#include <algorithm>
#include <utility>

namespace fourfold::view {

bool QueueView::look()
{
    const Expected<QueueContents> contents = queue_.read();
    if (!contents)
        return std::exchange(summary_, contents.error().line()) != summary_;
    contents_ = *contents;
    stalled_ = !std::exchange(changed_here_, false) && queue_.is_stalled(contents_);
    Table table = queue_table(contents_);
    std::string summary = queue_summary(contents_) + (stalled_ ? "; nothing starts them now" : "");
    const bool same = table.rows == table_.rows && summary == summary_ && !table_.columns.empty();
    table_ = std::move(table);
    summary_ = std::move(summary);
    return !same;
}

bool QueueView::has_ended() const
{
    return std::any_of(contents_.runs.begin(), contents_.runs.end(),
        [](const QueuedRun& run) { return run.state == TurnState::ended; });
}

bool QueueView::is_live() const
{
    return std::any_of(contents_.runs.begin(), contents_.runs.end(),
        [](const QueuedRun& run) { return run.state != TurnState::ended; });
}

Expected<std::int64_t> QueueView::add(const RunRequest& request)
{
    return looked([&]() -> Expected<std::int64_t> {
        FOURFOLD_TRY(const std::int64_t number, queue_.add(request));
        FOURFOLD_CHECK(ensure_turns(queue_));
        return number;
    }());
}

Expected<void> QueueView::move(std::int64_t number, int places)
{
    int place = 1; // of it among those that wait
    for (const QueuedRun& run : contents_.runs) {
        if (run.number == number)
            break;
        place += can_move(run) ? 1 : 0;
    }
    return looked(queue_.move(number, std::max(1, place + places)));
}

Expected<void> QueueView::remove(std::int64_t number)
{
    return looked(queue_.remove(number));
}

Expected<void> QueueView::toggle()
{
    return looked([&]() -> Expected<void> {
        FOURFOLD_CHECK(queue_.set_paused(!rests()));
        return ensure_turns(queue_);
    }());
}

Expected<void> QueueView::clear()
{
    return looked([&]() -> Expected<void> {
        FOURFOLD_CHECK(queue_.clear());
        return {};
    }());
}

} // namespace fourfold::view
