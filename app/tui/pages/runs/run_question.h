// SPDX-License-Identifier: GPL-3.0-or-later
// Where the plan on show is to run, and for how long.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/look.h"
#include "app/view/runs/run_setup.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::tui {

class RunQuestion {
public:
    explicit RunQuestion(Desk& desk) // outlives it
        : desk_(desk)
    {
    }
    [[nodiscard]] const std::string& target() const { return target_; } // "local", or as load_target() takes it
    [[nodiscard]] std::string target_text() const;
    void set_target(const std::string& target) { target_ = target.empty() ? "local" : target; }
    void ask_target();
    void find_cluster(); // behind a name; what is found becomes the target
    void ask_steps();
    bool key(const Key& key); // one of those that `draw` shows, or `F`
    [[nodiscard]] std::optional<view::RunSetup> set_up(); // of the plan on show; a refusal is told

    void draw(Canvas& canvas, const Rect& line) const;
    [[nodiscard]] std::vector<std::string> lines() const;
    [[nodiscard]] std::vector<std::string> arguments() const; // of `fourfold run`, behind the plan's file
    [[nodiscard]] Json state() const;
    void restore(const Json& state);

private:
    [[nodiscard]] std::string steps_text() const;

    Desk& desk_;
    std::string target_ = "local";
    int steps_ = 0; // 0: the plan's
    bool rehearses_ = true; // before a start
};

} // namespace fourfold::tui
