// SPDX-License-Identifier: GPL-3.0-or-later
// The answer to the plan: five figures, one of them chosen, the verdict with its cure, what would help, warnings.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/list.h"
#include "app/view/search/advice_finder.h"

#include <string>
#include <vector>

namespace fourfold::tui {

class PlanAnswer {
public:
    static constexpr const char* kFigureNames[]{"Memory", "Throughput", "MFU", "Step time", "Bubble"};

    PlanAnswer(Desk& desk, const view::AdviceFinder& advice) // both outlive it
        : desk_(desk)
        , advice_(advice)
    {
    }
    int draw(Canvas& canvas, const Rect& place, bool focused); // returns the rows that it took
    bool key(const Key& key);
    [[nodiscard]] bool is_at(const Key& key) const { return place_.contains(key.row, key.column); }
    bool choose_at(const Key& key); // whether that one was chosen already
    [[nodiscard]] std::string remark() const; // formula and largest terms of the chosen figure
    [[nodiscard]] std::vector<std::string> lines() const;
    [[nodiscard]] std::size_t chosen() const { return static_cast<std::size_t>(figures_.selected); } // of the figures
    void open_derivation(std::size_t figure) const;
    void show_warnings(); // with what the figures say

private:
    struct Said {
        std::string text;
        Style style;
        bool is_advice = false;
    };
    [[nodiscard]] std::vector<Said> said() const;
    [[nodiscard]] const Prediction* prediction() const { return desk_.plan().prediction().get(); }

    Desk& desk_;
    const view::AdviceFinder& advice_;
    List figures_;
    Rect place_; // of these, as drawn last
    int advice_rows_ = 1; // that the last advice took: what stands under it stays while the next one is looked for
};

} // namespace fourfold::tui
