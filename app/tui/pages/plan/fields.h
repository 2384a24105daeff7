// SPDX-License-Identifier: GPL-3.0-or-later
// The inputs of a plan in the order people know them: model, hardware, layout, batch; what + and - do to each, and what
// each means for this plan.
#pragma once

#include "app/tui/desk.h"

namespace fourfold::tui {

struct PlanInput {
    enum Kind { heading, preset, number, choice, toggle };
    Kind kind = heading;
    const char* label = "";
    const char* path = ""; // in the plan; of a preset also its folder
    std::string (*value)(const ResolvedPlan& plan) = nullptr;
    std::string (*fact)(const ResolvedPlan& plan) = nullptr; // may be null
    int (*dividend)(const ResolvedPlan& plan) = nullptr; // of a degree: what it has to divide
    bool (*shown)(const ResolvedPlan& plan) = nullptr; // null: always
};

// Those that this plan has.
std::vector<const PlanInput*> plan_inputs(const ResolvedPlan& plan);

// + (1) and - (-1): the next degree, choice or preset.
void step_input(Desk& desk, const PlanInput& input, int steps);
// Enter: a picker or a line to type.
void edit_input(Desk& desk, const PlanInput& input);
// "tp 4", "Global batch 512", "training.seq_len 4096", "gpus=32": false where the line names none of them.
bool change_by_line(Desk& desk, const std::string& line);
// What is a preset's where the plan names one: the model's shape, GPU and links of the cluster. A change writes the
// model or the cluster into the plan.
std::vector<Picker::Item> preset_fields(Desk& desk);
// Any field of the plan file by its name, and these.
void edit_any_field(Desk& desk);

} // namespace fourfold::tui
