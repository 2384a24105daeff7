// SPDX-License-Identifier: GPL-3.0-or-later
// Every key of the plan file with its type, range and meaning: one table (field_table.cpp) for parsing, editing,
// resolving, writing and the JSON Schema.
#pragma once

#include "core/base/json.h"

#include <limits>
#include <string>
#include <vector>

namespace fourfold {

enum class FieldType {
    text,
    integer,
    number,
    boolean,
    choice, // one of `choices`
    schedule, // one of `choices` or the name of a .csv file
    order, // a permutation of tp, cp, pp, dp
    object, // only the keys of the table are read
    open_object, // free keys that somebody else reads (the model's config.json, a stack)
    text_map, // free keys with text values (environment)
    id_or_object, // a preset's id, or an object whose keys are in the table
    id_or_open_object,
    integer_list,
    word_list, // of `choices`, each at most once
    number_pair,
    object_list,
};

// Of integers and numbers, also inside lists: what any plan could have; rules between fields (tp divides the heads) are
// check()'s.
struct FieldRange {
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool above_minimum = false; // the minimum itself is not allowed
    bool below_maximum = false;
};

// A key. `path` is dotted; the members of a list's objects are written "run.data[].path".
struct Field : FieldRange {
    std::string path;
    FieldType type = FieldType::object;
    std::string help{}; // what it means, for people
    bool required = false; // in the object that it belongs to
    std::vector<std::string> choices{};
};

inline constexpr int kMaxGpus = 1 << 20;
inline constexpr int kMaxBatch = 1 << 30; // sequences per step
inline constexpr int kMaxChunks = 1 << 13; // pp x virtual_stages, whose schedule is simulated in seconds

// In the order of the contract.
const std::vector<Field>& plan_fields();
// The table as a JSON Schema: resources/schemas/plan.schema.json.
Json plan_schema();
// The field of a pattern path ("run.data[].path"), or nullptr.
const Field* find_field(const std::string& pattern);

// Checks types and spellings of everything below `json`, which stands at `pattern` (empty: the whole plan). Appends the
// keys that no field knows to `unknown_keys`. null counts as absent everywhere. `file` and `path` start each message.
Expected<void> check_types(const Json& json, const std::string& pattern, const std::string& file,
    const std::string& path, std::vector<std::string>* unknown_keys);
// Checks the ranges; precondition: check_types succeeded.
Expected<void> check_ranges(
    const Json& json, const std::string& pattern, const std::string& file, const std::string& path);

// The value at a dotted path below an object, or null.
const Json& value_at(const Json& object, const std::string& path);
// Makes the objects on the way.
void set_value_at(Json& object, const std::string& path, Json value);

// "file: field", either part may be empty.
std::string at_field(const std::string& file, const std::string& field);

} // namespace fourfold
