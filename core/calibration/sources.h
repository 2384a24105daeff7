// SPDX-License-Identifier: GPL-3.0-or-later
// What a published table does not say itself: which cluster and stack its rows were measured on, and along which lines
// its rows are split for left-out figures (presets/published/sources.json).
#pragma once

#include "core/base/json.h"
#include "core/calibration/split.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fourfold {

struct TableSource {
    std::string id, name;
    std::string stack; // preset id; `stack=` in a row's `assumed` wins
    std::map<std::string, std::string> clusters; // the row's `gpu` -> cluster preset id
    // The row's `table` -> cluster preset id, where the same machine was set up differently at that time.
    std::map<std::string, std::string> table_clusters;
    // Values for fields of the plan that neither the row nor its `assumed` gives, with the reason ("layers" -> 80).
    std::map<std::string, std::string> stand_ins;
    std::string stand_in_reason;
    // A column's words in the planner's, "stack" -> {"megatron-lm" -> "megatron-core"}; empty: the word says nothing.
    std::map<std::string, std::map<std::string, std::string>> words;
    std::map<std::string, std::string> models; // the row's `model` -> model preset id, where the names differ
    // What a phrase in a cell's running text says of a field: "(w/ MTP)" in `model`: modules_ahead is 1.
    struct Phrase {
        std::string column, has, field, value;
    };
    std::vector<Phrase> phrases;
    // What the source's own scripts set and its table does not print, for rows of which every column named in `where`
    // has one of the words given (cells as printed or assumed; of a column that a row lacks the word is empty). It
    // takes the place of stand-ins, never of what is printed.
    struct Recipe {
        std::string from; // which file says so
        std::map<std::string, std::set<std::string>> where;
        std::map<std::string, std::string> sets; // field -> value, "recompute" -> "selective"
    };
    std::vector<Recipe> recipes;
    // Stacks of the same software that were fitted to other sources alone: what those say of this one tells how far a
    // software's constants carry.
    std::vector<std::string> also_with;
    bool tables_are_releases = false; // of the stack's software, named by their numbers
    std::vector<RowSplit> splits; // the first is the one whose left-out figures stand first
    // Rows whose layout and utilisation the model claims to describe; their figures are told beside those of all rows.
    struct Core {
        int tp_at_most = 1 << 20;
        double mfu_at_least = 0; // of the measurement; crashes have none and belong by their layout
    };
    std::optional<Core> core;
    // Words in the `anomaly` column that do not make a row an exception (a crash whose cause the source does not name).
    std::set<std::string> accepted_anomalies;
};

class TableSources {
public:
    // Reads the text of sources.json.
    static Expected<TableSources> from_json(const Json& json, const std::string& where);
    // `published/sources.json` of all preset folders; of two entries of one id the first folder's holds.
    static Expected<TableSources> find();
    // The same without the files that cannot be read: what of the shipped tables is known does not end with a file of
    // the user's.
    static TableSources find_readable();

    [[nodiscard]] const TableSource* source(const std::string& id) const; // null where unknown
    [[nodiscard]] std::vector<std::string> ids() const;

private:
    std::map<std::string, TableSource> sources_;
};

} // namespace fourfold
