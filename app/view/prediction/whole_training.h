// SPDX-License-Identifier: GPL-3.0-or-later
// The training as a whole in words: what it takes, and what a person can say of it. Both are of the plan
// (core/search/plan_budget.h), so that undo and the file have them.
#pragma once

#include "core/report/table/table.h"
#include "core/search/explain_training.h"
#include "core/search/plan_budget.h"

#include <string>
#include <vector>

namespace fourfold::view {

struct TrainingFigure {
    const char* key; // explain_training() opens it
    const char* expected_key; // the same with failures and checkpoints; empty: there is none
    std::string title;
    std::string value; // where nothing fails; a dash where it is not known
    std::string expected; // with failures and checkpoints; empty where it is not known
    std::string note; // basis, or what it lacks
    bool known = true;
};
// In the order of reading; all of them, also what is not known. Without a step time none.
std::vector<TrainingFigure> whole_training(const Economics& economics);
std::vector<TrainingFigure> whole_training(const Prediction& prediction, const TrainingBudget& budget);
Table whole_training_table(const std::vector<TrainingFigure>& figures);
// "31.2 days, 383,000 GPU hours, 766,000 with failures and checkpoints" in one line; empty without a step time.
std::string whole_training_line(const std::vector<TrainingFigure>& figures);

// With what a training is reckoned: "161 B tokens, 20 per parameter; 2.50 per GPU hour; failures not counted".
std::string budget_line(const TrainingBudget& budget);

// A field of the plan that a person can write, empty where nobody did.
struct TrainingInput {
    const char* path;
    const char* label;
    const char* unit;
    std::string written; // as it is written: "1.5e+13" is "15,000,000,000,000"
    std::string otherwise; // what stands where it is not written: "20 per parameter: 161 B"
    const char* help;
};
std::vector<TrainingInput> training_inputs(const Plan& plan, const ResolvedPlan& resolved);
// A number as people type it: "15e12", "15,000", "15 T", "2.5"; k, M, B (or G) and T stand behind it. null for an empty
// text, which takes the field out. `path` names it in the Problem.
Expected<Json> training_value(const std::string& path, const std::string& text);

} // namespace fourfold::view
