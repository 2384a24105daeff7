// SPDX-License-Identifier: GPL-3.0-or-later
// What would make the plan fit, or faster: looked for beside the work, as a list that Enter applies from.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/list.h"
#include "app/view/search/advice_finder.h"

#include <string>

namespace fourfold::tui {

class PlanAdvice {
public:
    explicit PlanAdvice(Desk& desk); // outlives it
    void tick();
    [[nodiscard]] const view::AdviceFinder& finder() const { return finder_; }
    void apply(std::size_t index); // to the plan on show
    void draw(Canvas& canvas, const Rect& place, bool focused);
    void hide() { place_ = {}; }
    bool key(const Key& key);
    [[nodiscard]] std::string remark() const; // all of the chosen one
    [[nodiscard]] int selected() const { return list_.selected; }

private:
    Desk& desk_;
    view::AdviceFinder finder_;
    List list_;
    Rect place_; // as drawn last; without rows: not on show
    int rows_each_ = 1; // of an advice, as drawn last
};

} // namespace fourfold::tui
