// SPDX-License-Identifier: GPL-3.0-or-later
// What a front end does to a plan beyond setting one key: each takes a plan and gives the changed plan.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/presets.h"
#include "core/search/edits.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::view {

// Sets a key, creating the objects above it. Keys that would contradict the new value go: writing a degree lets DP
// follow again, writing the global batch drops micro_batches.
Expected<Plan> with_value(const Plan& plan, const std::string& path, const Json& value);

// Writes a shape or cluster that is no preset into the plan.
Expected<Plan> with_model(const Plan& plan, const ModelShape& shape);
Expected<Plan> with_cluster(const Plan& plan, const Cluster& cluster);
// A model or cluster that is no preset any more, "NAME (changed)", once something of it is another.
template <typename Part>
Part as_own(Part part)
{
    if (!part.id.empty()) {
        part.name += " (changed)";
        part.id.clear();
    }
    return part;
}
// Sets the fields of an advice; null takes a key out, which gives it its default back.
Expected<Plan> with_fields(const Plan& plan, const std::vector<PlanEdit::Field>& fields);
// Another model: a preset's id or a config. What belonged to the old one goes with it: how its layers were dealt to the
// stages, and a sequence length that was its usual one or that the new one has no positions for; micro-batch and global
// batch then keep their tokens as nearly as they can. Everything else stays as it is written.
Expected<Plan> with_other_model(const Plan& plan, const Presets& presets, Json model);
// The same with the model of a Hugging Face config.json, every key of it kept; of a folder, the one in it.
Expected<Plan> with_hugging_face_config(const Plan& plan, const Presets& presets, const std::filesystem::path& file);
// What is used of the config that stands in a plan, what is not and what that may cost, in lines; empty where the model
// is a preset.
std::vector<std::string> config_report(const Plan& plan);
bool ignores_keys(const Plan& plan); // the report has what may change the prediction

// A plan of its own, "NAME, copy"; `title`: of one without a name.
Plan copy_of(Plan plan, const std::string& title);

// A shape with another width or number of heads whose head_dim follows where it followed before.
ModelShape with_hidden(ModelShape shape, int64_t hidden);
ModelShape with_heads(ModelShape shape, int heads);

} // namespace fourfold::view
