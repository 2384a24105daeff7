// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts x GPU counts: which plan each cell of a sweep is.
#pragma once

#include "core/plan/plan.h"
#include "runner/runs/target.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct SweepLayout {
    int tp = 1, cp = 1, pp = 1, micro_batch = 1, virtual_stages = 1;
    [[nodiscard]] std::string name() const; // "tp 2, cp 1, pp 1, micro-batch 1", with virtual stages where there are
};

// CSV with a head line of tp, cp, pp, micro_batch and, if wanted, virtual_stages, in any order; empty lines and lines
// that begin with # are left out. The Problem names file and line.
Expected<std::vector<SweepLayout>> read_layouts(const std::string& text, const std::string& where);
// "4,8,16"; ascending, each once.
Expected<std::vector<int>> read_gpu_counts(const std::string& text);

struct SweepCell {
    SweepLayout layout;
    int gpus = 0;
    [[nodiscard]] std::string key() const; // "tp2-cp1-pp1-mb1-v1-gpus8"
};

// The plan of a cell, dp = gpus / (tp x cp x pp); a cell that is no layout is a Problem that says why.
Expected<ResolvedPlan> plan_of_cell(const Plan& plan, const SweepCell& cell);

// The target with as many hosts as `gpus` ranks need: hosts with given ranks from the first on, else all of them.
Target target_of_cell(const Target& target, int gpus);

} // namespace fourfold
