// SPDX-License-Identifier: GPL-3.0-or-later
// Constants that were fitted without some groups of a table, so that left-out figures need no fitting when they are
// shown. One file a table, stack and split: presets/folds/<table>.<stack>.<split>.json. Written by whoever fits.
//
// {
//   "table": "llama31_8b_4d_a100_h100", "table_sha256": "...", "stack": "megatron-lm", "split": "block",
//   "date": "2026-11-21", "fitted": "what was fitted, on what, by which command",
//   "folds": [
//     { "held_out": ["1,2,1", ...],                       group keys of `split` (see group_key)
//       "constants": { "gradient_scale": 1.05 },           those that differ from the stack's preset
//       "gpu_constants": { "a100-40gb-sxm": { "gemm_efficiency": 0.94 } } } ]
// }
#pragma once

#include "core/base/json.h"
#include "core/calibration/measured_table.h"
#include "core/calibration/split.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fourfold {

struct Fold {
    std::vector<std::string> held_out; // group keys
    // Values by documented name (core/stack/constants.h) that replace those of the stack's preset.
    std::map<std::string, double> constants;
    std::map<std::string, std::map<std::string, double>> gpu_constants;
};

struct FoldSet {
    std::string table; // MeasuredTable::name
    std::string table_sha256; // of the file it was fitted on; another one makes the set stale (told, still used)
    std::string stack; // preset id
    RowSplit split = RowSplit::table;
    std::string date, fitted;
    std::vector<Fold> folds; // each group is held out by exactly one fold

    // The fold that leaves out `group`; null where the set has none (a new group: it must be fitted again).
    [[nodiscard]] const Fold* without(const std::string& group) const;
    [[nodiscard]] std::string file_name() const; // "<table>.<stack>.<split>.json"
};

Expected<FoldSet> fold_set_from_json(const Json& json, const std::string& where);
Json to_json(const FoldSet& set);
Expected<FoldSet> read_fold_set(const std::filesystem::path& file);
Expected<void> write_fold_set(const FoldSet& set, const std::filesystem::path& folder);
// The sets of a table in `folds/` of the preset folders, sorted by stack and split.
Expected<std::vector<FoldSet>> find_fold_sets(const std::string& table);

// The stack with the fold's constants in place of its own.
Stack with_fold(Stack stack, const Fold& fold);
// The stack as if it had never been measured on GPUs of that generation.
Stack without_generation(Stack stack, const std::string& generation);

} // namespace fourfold
