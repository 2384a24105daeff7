// SPDX-License-Identifier: GPL-3.0-or-later
// The queue of runs over the page: what waits, runs and has ended, of whichever program added it; its order, its pause.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/table_view.h"
#include "app/view/runs/queue_view.h"

#include <chrono>
#include <functional>
#include <string>

namespace fourfold::tui {

class QueueBox : public Overlay {
public:
    // `show`: of a run by its id, for the page to follow; the box is gone by then.
    QueueBox(Desk& desk, view::QueueView& queue, std::function<void(const std::string& run)> show);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    void tick() override;
    [[nodiscard]] int next_tick() const override { return view::QueueView::kBetweenLooks; }
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;

private:
    [[nodiscard]] const QueuedRun* chosen() const;
    void choose(std::int64_t number);
    void change(const std::function<Expected<void>(std::int64_t number)>& edit);
    void show();

    Desk& desk_;
    view::QueueView& queue_;
    std::function<void(const std::string&)> show_;
    TableView table_;
    std::string refusal_;
    std::chrono::steady_clock::time_point looked_;
};

} // namespace fourfold::tui
