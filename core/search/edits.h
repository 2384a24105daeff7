// SPDX-License-Identifier: GPL-3.0-or-later
// Single changes of a plan: one thing that a person could set otherwise, with everything that follows from it.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace fourfold {

// What a change touches besides speed and memory; earlier ones are easier to agree to.
enum class EditClass {
    execution, // how the same step is computed on the same GPUs
    gpus, // another number of GPUs
    numerics, // precision of products, gradients or optimizer states
};
template <>
inline constexpr auto kWords<EditClass> = std::to_array<std::string_view>({"execution", "gpus", "numerics"});

struct PlanEdit {
    // Which knob: "micro_batch", "recompute", "sharding", "degrees", "schedule", "order", "offload", "kernels",
    // "overlap", "fsdp", "optimizer", "experts", "gpus", "precision".
    std::string kind;
    EditClass edit_class = EditClass::execution;
    std::string summary; // "tp 8 -> 4, dp 2 -> 4": what a person reads
    // What to set in the plan's document, by dotted path (with_field); null gives a field its default back.
    struct Field {
        std::string path;
        Json value;
    };
    std::vector<Field> fields;
    ResolvedPlan plan; // with the change
};

// Every single change of `plan` that could matter, in a fixed order; those that break a rule are left out. Changes of
// degrees move one factor from one dimension to another; changes of GPUs multiply or divide one degree by 2 or 4.
std::vector<PlanEdit> single_edits(const ResolvedPlan& plan);

// `second` on top of `first`: both were made from `base`. Fields that both change keep `second`'s value.
PlanEdit combined_edits(const ResolvedPlan& base, const PlanEdit& first, const PlanEdit& second);

// What of a plan's settings differs, as fields to set in the document of `from`.
std::vector<PlanEdit::Field> changed_fields(const ResolvedPlan& from, const ResolvedPlan& to);

// "tp 8 -> 4, dp 2 -> 4" of changed_fields(); names without "layout." and "training.".
std::string edit_summary(const ResolvedPlan& from, const ResolvedPlan& to);

} // namespace fourfold
