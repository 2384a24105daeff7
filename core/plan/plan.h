// SPDX-License-Identifier: GPL-3.0-or-later
// The plan: what a person writes, and what it resolves to.
//
//   plan file --read_plan--> Plan --resolve(presets)--> ResolvedPlan --check--> reasons
#pragma once

#include "core/base/json.h"
#include "core/hardware/cluster.h"
#include "core/layout/layout.h"
#include "core/layout/run_settings.h"
#include "core/layout/training.h"
#include "core/model/model_shape.h"
#include "core/stack/stack.h"

#include <string>
#include <vector>

namespace fourfold {

class Presets;

// A plan as written. The document keeps every key (known or not) in the order of the file, so that writing it back
// loses nothing; `unknown_keys` lists the keys that nothing reads, e.g. "training.seq_length".
struct Plan {
    Json document;
    std::string where; // file name, for messages and for relative data paths
    std::vector<std::string> unknown_keys;
};

// Parses a plan: syntax, types and spellings are checked, each error names file and field; values are checked by
// resolve and check. Needs the keys model, cluster and gpus.
Expected<Plan> parse_plan(std::string_view text, const std::string& where);
Expected<Plan> plan_from_json(Json document, const std::string& where);
Expected<Plan> read_plan(const std::filesystem::path& file);
// Sets one field by its dotted path ("layout.tp", "training.recompute"); `value` is read as JSON, else as a string.
Expected<Plan> with_field(const Plan& plan, const std::string& path, const std::string& value);
// "layout.tp=4" as in `--set`.
Expected<Plan> with_assignment(const Plan& plan, const std::string& assignment);
std::string to_text(const Plan& plan); // the file's text, two-space indent, newline at the end

// Every field concrete. `model` etc. carry their preset id when they came from one.
struct ResolvedPlan {
    std::string name;
    ModelShape model;
    Cluster cluster;
    Stack stack;
    int gpus = 1;
    Layout layout;
    Training training;
    RunSettings run;
    int64_t padded_vocab = 0;
    // The plan wrote its stack as an object that is no preset: to_json(ids) keeps it an object.
    bool own_stack = false;
    bool compile_chosen = false; // training.compile was written, and is not the stack's default
    std::string where;
    std::vector<std::string> notes; // what resolving decided that a user should know ("vocabulary padded to 128256")

    [[nodiscard]] double tokens_per_step() const { return double(training.global_batch) * training.seq_len; }
    [[nodiscard]] int nodes() const { return (gpus + cluster.gpus_per_node - 1) / cluster.gpus_per_node; }
};

// Fills defaults from the stack and the presets. Fails on unknown presets and on values that no plan could have
// (tp = 0, seq_len < 1). A plan that merely breaks a rule (tp does not divide the heads) resolves; check() says so.
Expected<ResolvedPlan> resolve(const Plan& plan, const Presets& presets);

// A rule that a plan breaks.
struct Reason {
    std::string code; // stable identifier, e.g. "heads_not_divisible"
    std::string field; // "layout.tp"
    std::string message; // names the rule and the numbers
    std::string nearest; // nearest valid value of the field as JSON text, empty when there is none: "use 8"
    bool operator==(const Reason&) const = default;
};
// Structural rules only (divisibility, product of degrees, schedule against virtual stages ...); memory is predict's.
std::vector<Reason> check(const ResolvedPlan& plan);

enum class PresetStyle { ids, inlined };
// The resolved plan as a plan file: every field explicit. `inlined` writes model and cluster as objects, so that a node
// without presets can read it with read_resolved.
Json to_json(const ResolvedPlan& plan, PresetStyle style);
// Its `training` alone.
Json training_json(const ResolvedPlan& plan);
// Reads what to_json(plan, inlined) wrote. The stack keeps id and conventions only (no fitted constants).
Expected<ResolvedPlan> read_resolved(const Json& document, const std::string& where);

// SHA-256 (hex) over the canonical resolved plan; identity of a run's input. The layout's hash leaves out name and run.
std::string plan_hash(const ResolvedPlan& plan);
std::string layout_hash(const ResolvedPlan& plan);

} // namespace fourfold
