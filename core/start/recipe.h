// SPDX-License-Identifier: GPL-3.0-or-later
// A recipe: a plan preset that trains something worth having, what to do from text to model, and how the loss of such a
// run falls. presets/recipes/ID.json, its plan presets/plans/ID.plan.json.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

struct LossPoint {
    double tokens = 0, loss = 0; // tokens trained on; the held-out loss, natural logarithm
};

// A published one, of a law or of a run.
struct LossCurve {
    std::string name; // "GPT-2 124M by llm.c"
    std::string source;
    std::string about; // what of it differs from the recipe, and what that means
    std::vector<LossPoint> points; // at least two, by tokens

    // Between two points over the logarithm of the tokens; nothing before the first and behind the last.
    [[nodiscard]] std::optional<double> at(double tokens) const;
};

struct RecipeStep {
    std::string what, command; // command: as it is typed, of one or several lines
};

struct Recipe {
    std::string id, name;
    std::string hardware, time; // what it takes: "one GPU of 80 GB", "about 10 hours"
    std::string text; // what to train on, where it is and under which licence
    std::vector<std::string> files; // scripts that the steps name, recipe_file()
    std::vector<RecipeStep> steps; // from the text to the model
    std::vector<LossCurve> curves; // what to expect first
    Plan plan;
};

// Of all recipes, sorted.
std::vector<std::string> recipe_ids(const Presets& presets);
Expected<Recipe> read_recipe(const std::string& id, const Presets& presets);
Json to_json(const Recipe& recipe);
// A script that came with the program, resources/recipes/NAME.
Expected<std::filesystem::path> recipe_file(const std::string& name);

// The recipe that a run of this plan follows: the same model at the same batch, sequence length and rate. On which
// layout, in which precision and for how many steps it runs, and where its text lies, is the run's own.
std::optional<Recipe> recipe_followed(const ResolvedPlan& plan, const Presets& presets);

} // namespace fourfold
