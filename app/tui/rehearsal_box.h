// SPDX-License-Identifier: GPL-3.0-or-later
// *Rehearse* over the page: how far it is, then what it proved and the culprits. Left with Escape, it goes on behind
// it. v shows the step as it was rehearsed over the planned one, T the difference by part.
#pragma once

#include "app/tui/pages/compare/compare_timelines.h"
#include "app/tui/widgets/overlay.h"
#include "app/view/rehearsal/rehearsal_job.h"

namespace fourfold::tui {

class RehearsalBox : public Overlay {
public:
    RehearsalBox(Desk& desk, view::RehearsalJob& job)
        : desk_(desk)
        , job_(job)
    {
    }
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string copied() const override { return outcome_ ? outcome_->copied() : std::string(); }
    [[nodiscard]] std::string hints() const override { return outcome_ && !shows_timelines_ ? outcome_->hints() : ""; }
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] bool only_tells() const override { return outcome_ && timelines_.empty(); }

private:
    void look(int columns); // whether it has ended; what there is for its text

    Desk& desk_;
    view::RehearsalJob& job_;
    std::optional<Pager> outcome_; // once there is one
    std::vector<NamedTimeline> timelines_; // of it; empty: it has none
    CompareTimelines compared_;
    int columns_ = 0; // that its text was made for
    bool shows_timelines_ = false;
};

} // namespace fourfold::tui
