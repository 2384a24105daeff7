// SPDX-License-Identifier: GPL-3.0-or-later
// Two timelines of a comparison over each other on one axis of time, and what is different between them.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/timeline_control.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace fourfold::tui {

struct NamedTimeline {
    std::string name; // "first 01J00000, as measured"
    std::shared_ptr<const Timeline> timeline;
    std::optional<SteadyPart> steady = {};
};
// All of them in a file.
Picture both_timelines(const std::vector<NamedTimeline>& timelines);

class CompareTimelines {
public:
    // `all`: what there is to compare, two at least; `reference`: the upper one.
    void draw(
        Canvas& canvas, const Rect& place, const std::vector<NamedTimeline>& all, std::size_t reference, const Look&);
    bool key(const Key& key, std::size_t count); // another lower one; what a person does at timelines
    // Which two, and their difference in words; empty where there are not two.
    [[nodiscard]] std::string said(const std::vector<NamedTimeline>& all, std::size_t reference);
    // Of the chosen bar, the marks, the measured span; empty: of none.
    [[nodiscard]] std::string remark() const { return control_.holds_something() ? control_.said() : std::string(); }

    // Their places in `all`, the upper one first; one where there is no other.
    [[nodiscard]] std::vector<std::size_t> on_show(std::size_t count, std::size_t reference);

private:
    void fit(std::size_t count, std::size_t reference);
    void show(const std::array<const NamedTimeline*, 2>& shown);
    std::size_t other_ = 1;
    std::array<std::shared_ptr<const Timeline>, 2> about_; // whose the scenes are
    std::array<view::TimelineScene, 2> scenes_;
    TimelineControl control_;
};

} // namespace fourfold::tui
