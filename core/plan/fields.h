// SPDX-License-Identifier: GPL-3.0-or-later
// Every key of the plan file with its type and range: one table for parsing, editing, resolving and the JSON Schema.
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
    number_pair,
    object_list,
};

// A key. `path` is dotted; the members of a list's objects are written "run.data[].path".
struct Field {
    std::string path;
    FieldType type = FieldType::object;
    // Range of integers and numbers, also inside lists. Ranges are what any plan could have; rules between fields
    // (tp divides the heads) are check()'s.
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool above_minimum = false; // the minimum itself is not allowed
    bool below_maximum = false;
    std::vector<std::string> choices{};
};

inline constexpr int kMaxGpus = 1 << 20;
inline constexpr int kMaxBatch = 1 << 30; // sequences per step
inline constexpr int kMaxChunks = 1 << 13; // pp x virtual_stages, whose schedule is simulated in seconds

// In the order of the contract.
const std::vector<Field>& plan_fields();
// The field of a pattern path ("run.data[].path"), or nullptr.
const Field* find_field(const std::string& pattern);

// Checks types and spellings of everything below `json`, which stands at `pattern` (empty: the whole plan). Appends the
// keys that no field knows to `unknown_keys`. null counts as absent everywhere. `file` and `path` start each message.
Expected<void> check_types(const Json& json, const std::string& pattern, const std::string& file,
    const std::string& path, std::vector<std::string>* unknown_keys);
// Checks the ranges; precondition: check_types succeeded.
Expected<void> check_ranges(
    const Json& json, const std::string& pattern, const std::string& file, const std::string& path);

// "file: field", either part may be empty.
std::string at_field(const std::string& file, const std::string& field);

} // namespace fourfold
