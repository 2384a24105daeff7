// SPDX-License-Identifier: GPL-3.0-or-later
// The options that say how much is to be trained, at what price and on how reliable a machine.
#pragma once

#include "app/cli/command.h"
#include "core/search/economics.h"

namespace fourfold::cli {

struct BudgetOptions {
    double tokens = 0, price = 0, failure_rate = 0, mtbf_hours = 0, storage_gb_s = 0;
    double restart_s = TrainingBudget{}.restart_s, facility_factor = TrainingBudget{}.facility_factor;
    void add_to(CLI::App& command);
    [[nodiscard]] bool given() const; // at least one of them
    // Tokens: as given, else 20 a parameter. Fails where a rate and a time between failures are both given.
    [[nodiscard]] Expected<TrainingBudget> budget(const ModelShape& model) const;

private:
    std::vector<CLI::Option*> options_;
};

// Several lines: tokens, time, energy, cost; with failures where they are known.
std::string economics_text(const Economics& economics);

} // namespace fourfold::cli
