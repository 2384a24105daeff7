// SPDX-License-Identifier: GPL-3.0-or-later
// The open plans side by side in a line each: what they are called, what differs from the one on show, and whether they
// fit.
#pragma once

#include "app/view/plan/plan_state.h"
#include "app/view/tone.h"
#include "core/predict/prediction.h"
#include "core/report/table/table.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

struct OpenPlan {
    std::string title; // the file's, else the plan's
    const ResolvedPlan* plan = nullptr; // the last that resolved; null: none did
    const Prediction* prediction = nullptr; // where it answers the plan as it stands
    std::size_t broken_fields = 0; // of rules that it breaks
    bool is_valid = true, is_current = false, is_unsaved = false;
};

// Of a state; what it does not know (the answer, which is on show, whether it was saved) is the caller's. `state`
// outlives it.
OpenPlan open_plan(const PlanState& state);
struct PlanLine {
    std::string name, model, layout, differs, throughput, memory, verdict;
    int gpus = 0;
    Tone tone = Tone::neutral; // of the verdict
};

// "model Llama 3.1 70B, tp 4 -> 8": what another plan has otherwise, in the order of the plan file; the same in every
// setting: empty.
std::string plan_differences(const ResolvedPlan& from, const ResolvedPlan& to);
// One line each, in their order.
std::vector<PlanLine> plans_overview(const std::vector<OpenPlan>& plans);
Table plans_table(const std::vector<PlanLine>& lines);

} // namespace fourfold::view
