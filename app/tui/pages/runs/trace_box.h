// SPDX-License-Identifier: GPL-3.0-or-later
// The traced step of a run over the page: as predicted and as measured, on one axis, with what differs most.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/pages/compare/compare_timelines.h"
#include "app/view/background.h"
#include "app/view/runs/live_run.h"

namespace fourfold::tui {

class TraceBox : public Overlay {
public:
    // Precondition: the run has a trace. `run` outlives the box; its newest trace is shown.
    TraceBox(Desk& desk, const view::LiveRun& run);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    void drag(const Key& key) override { timelines_.key(key, all().size()); }
    void tick() override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] bool only_tells() const override { return !work_.is_running(); }

private:
    void take_trace(); // where there is a newer one
    void ask_to_export(); // the measured step, or both
    [[nodiscard]] std::vector<NamedTimeline> all() const; // predicted, measured

    Desk& desk_;
    const view::LiveRun& run_;
    std::string run_id_;
    std::shared_ptr<const Timeline> predicted_; // null until it is there, or where it cannot be
    std::shared_ptr<const Timeline> measured_; // the run's newest, of this step
    int measured_step_ = -1;
    CompareTimelines timelines_;
    view::Background work_;
};

} // namespace fourfold::tui
