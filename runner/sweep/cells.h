// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts x GPU counts: which plan each cell of a sweep is.
#pragma once

#include "core/plan/plan.h"
#include "core/search/sweep.h"
#include "runner/target/target.h"

#include <string>

namespace fourfold {

// "tp 2, cp 1, pp 1, micro-batch 1", with virtual stages where there are.
std::string layout_name(const GridLayout& layout);

struct SweepCell {
    GridLayout layout;
    int gpus = 0;
    [[nodiscard]] std::string name() const; // "tp 2, cp 1, pp 1, micro-batch 1, 8 GPUs"
    [[nodiscard]] std::string key() const; // "tp2-cp1-pp1-mb1-v1-gpus8"
};

// The plan of a cell, dp = gpus / (tp x cp x pp); a cell that is no layout is a Problem that says why.
Expected<ResolvedPlan> plan_of_cell(const Plan& plan, const SweepCell& cell);

// The target with as many hosts as `gpus` ranks need: hosts with given ranks from the first on, else all of them.
Target target_of_cell(const Target& target, int gpus);

} // namespace fourfold
