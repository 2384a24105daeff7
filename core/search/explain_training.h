// SPDX-License-Identifier: GPL-3.0-or-later
// Where a figure of the whole training comes from, as core/predict/explain.h has it for those of a step.
#pragma once

#include "core/predict/explain.h"
#include "core/search/economics.h"

namespace fourfold {

// Those that can be opened, by their key in the JSON of Economics.
const std::vector<std::string>& training_figures();
// Fails on a name that is not in training_figures(). A figure that is not known has an empty value and says what it
// lacks.
Expected<Explanation> explain_training(
    const Prediction& prediction, const TrainingBudget& budget, const std::string& figure);
// Every figure by its key.
Json training_explanation_json(const Prediction& prediction, const TrainingBudget& budget);

} // namespace fourfold
