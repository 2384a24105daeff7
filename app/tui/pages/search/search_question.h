// SPDX-License-Identifier: GPL-3.0-or-later
// What a search is to find: best by which figure, on how many GPUs, where what holds.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/look.h"

#include <string>
#include <vector>

namespace fourfold::tui {

class SearchQuestion {
public:
    explicit SearchQuestion(Desk& desk) // outlives it
        : desk_(desk)
    {
    }

    void ask_objective();
    void ask_gpus();
    void ask_constraint();
    void turn_refused(); // shows or hides what the software would stop at; tells which
    // From the plan on show, which resolves to `plan`.
    [[nodiscard]] Expected<SearchRequest> request(const ResolvedPlan& plan) const;

    void draw(Canvas& canvas, const Rect& line) const;
    [[nodiscard]] std::string said() const; // "Best by MFU, on 16 GPUs, where anything"
    [[nodiscard]] std::vector<std::string> arguments() const; // of `fourfold search`, behind the plan's file
    [[nodiscard]] Json state() const;
    void restore(const Json& state);

private:
    [[nodiscard]] std::string objective_text() const;
    [[nodiscard]] std::string gpus_text() const;
    [[nodiscard]] std::string constraint_text() const { return constraint_.empty() ? "anything" : constraint_; }
    [[nodiscard]] int gpus() const; // the most

    Desk& desk_;
    std::string objective_ = "tps_per_gpu", constraint_;
    int gpus_ = 0; // 0: the plan's
    bool up_to_ = false, shows_refused_ = false;
};

} // namespace fourfold::tui
