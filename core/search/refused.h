// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts that keep every rule of the plan language and fit, but at which the plan's software stops: what a stack is
// known to stop at, and for the bundled trainer what it does not run.
#pragma once

#include "core/plan/plan.h"

#include <set>
#include <string>
#include <string_view>

namespace fourfold {

inline constexpr std::string_view kStackStops = "stack_stops"; // the code of a Rejection

class StackRefusals {
public:
    // What the trainer refuses of `base` whatever its layout (its model, its precision) is not held against a layout:
    // all would be refused alike.
    explicit StackRefusals(const ResolvedPlan& base);
    [[nodiscard]] bool refuses(const ResolvedPlan& plan) const;
    // The first reason; empty where it runs.
    [[nodiscard]] std::string why(const ResolvedPlan& plan) const;

private:
    [[nodiscard]] std::string trainer_refusal(const ResolvedPlan& plan) const;

    bool is_trainer_ = false; // the stack is the bundled trainer
    std::set<std::string> of_base_; // codes of trainer_limits()
};

} // namespace fourfold
