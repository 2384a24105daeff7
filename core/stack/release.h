// SPDX-License-Identifier: GPL-3.0-or-later
// Releases of a software: "megatron-core@25.11" is stack megatron-core in its release 25.11.
#pragma once

#include "core/base/json.h"
#include "core/stack/domain.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fourfold {

struct Release {
    std::string name; // its number, "25.11"
    std::string date = {}; // when it came out, "2025-11"; empty: not known
    std::set<std::string> gpus = {}; // ids of those that it was measured on; empty: not told
    // What was fitted to this release alone, by GPU id, in place of the stack's; and what those measurements cover.
    std::map<std::string, std::map<std::string, double>> gpu_constants = {};
    MeasuredDomains measured = {};
};

// "megatron-core@v25.11": "megatron-core" and "25.11"; without an "@" the release is empty.
struct WrittenStack {
    std::string id, release;
};
WrittenStack written_stack(const std::string& text);
// "25.11" of "v25.11".
std::string release_name(const std::string& printed);
// Letters, digits, '.', '-' and '_', at least one of them.
bool is_release_name(const std::string& name);

// "25.09" before "25.11" before "26.02" before "26.02.01": by the numbers in it, whatever stands around them.
bool is_earlier_release(const std::string& a, const std::string& b);

// Of releases from the oldest to the newest the one of that name, else the nearest: by the calendar where the numbers
// are years and months, else the one before it. A name without a number says nothing: the newest. Null for none.
const Release* nearest_release(const std::vector<Release>& releases, const std::string& name);

// The release's entry in `releases` of a stack preset, made where it is not there.
Json& release_entry(Json& preset, const std::string& name);

} // namespace fourfold
