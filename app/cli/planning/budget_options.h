// SPDX-License-Identifier: GPL-3.0-or-later
// The options that say how much is to be trained, at what price and on how reliable a machine.
#pragma once

#include "app/cli/command.h"
#include "core/search/plan_budget.h"

namespace fourfold::cli {

struct BudgetOptions {
    void add_to(CLI::App& command);
    [[nodiscard]] bool given() const; // at least one of them
    // What is not given is the plan's, which resolves to `resolved`. Fails where a rate and a time between failures are
    // both given, and where an option leaves one of the two out that a goodput needs.
    [[nodiscard]] Expected<TrainingBudget> budget(const Plan& plan, const ResolvedPlan& resolved) const;

private:
    double tokens_ = 0, price_ = 0, failure_rate_ = 0, mtbf_hours_ = 0, node_mtbf_hours_ = 0, storage_gb_s_ = 0;
    double restart_s_ = 0, gpu_power_w_ = 0, facility_factor_ = 0;
    std::vector<CLI::Option*> options_;
};

// Several lines: tokens, time, energy, cost; goodput and checkpoints where failures are known.
std::string economics_text(const Economics& economics);

} // namespace fourfold::cli
