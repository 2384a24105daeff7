// SPDX-License-Identifier: GPL-3.0-or-later
// Two timelines of a comparison over each other on one axis of time, and what is different between them.
#pragma once

#include "app/tui/look.h"
#include "app/tui/terminal/key.h"
#include "app/view/prediction/timeline_scene.h"

#include <array>
#include <string>
#include <vector>

namespace fourfold::tui {

struct NamedTimeline {
    std::string name; // "first 01J00000, as measured"
    const Timeline* timeline; // outlives the call
};

class CompareTimelines {
public:
    // `all`: what there is to compare; `reference`: the upper one.
    void draw(
        Canvas& canvas, const Rect& place, const std::vector<NamedTimeline>& all, std::size_t reference, const Look&);
    bool key(const Key& key, std::size_t count); // another lower one, zoom, pan
    // Which two, and their difference in words; empty where there are not two.
    [[nodiscard]] std::string said(const std::vector<NamedTimeline>& all, std::size_t reference);

    // Their places in `all`, the upper one first; one where there is no other.
    [[nodiscard]] std::vector<std::size_t> on_show(std::size_t count, std::size_t reference);

private:
    void fit(std::size_t count, std::size_t reference);
    std::size_t other_ = 1;
    view::TimelineWindow window_;
};

} // namespace fourfold::tui
