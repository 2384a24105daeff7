// SPDX-License-Identifier: GPL-3.0-or-later
// The inputs of the plan as a list: what each is, what it means for this plan, one of them chosen.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/pages/plan/fields.h"
#include "app/tui/widgets/list.h"

#include <string>
#include <vector>

namespace fourfold::tui {

class PlanInputs {
public:
    // With what a field means, and without; on a large screen no word of it is cut.
    static constexpr int kColumns = 46, kFewColumns = 32, kManyColumns = 60;

    explicit PlanInputs(Desk& desk) // outlives it
        : desk_(desk)
    {
    }
    void draw(Canvas& canvas, const Rect& place, bool focused);
    bool key(const Key& key);
    [[nodiscard]] bool is_at(const Key& key) const { return place_.contains(key.row, key.column); }
    bool choose_at(const Key& key); // whether that one was chosen already
    [[nodiscard]] std::string remark() const; // the chosen one, with what it means
    [[nodiscard]] std::vector<std::string> lines(); // all of them, headings too
    [[nodiscard]] int state() const { return list_.selected; }
    void restore(int state) { list_.selected = state; }

private:
    void fit(const std::vector<const PlanInput*>& inputs, int rows);

    Desk& desk_;
    List list_;
    Rect place_; // as drawn last
};

} // namespace fourfold::tui
