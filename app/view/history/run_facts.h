// SPDX-License-Identifier: GPL-3.0-or-later
// Named facts of one stored run, under headings: how it ended, what was planned, what came out, on what software.
#pragma once

#include "core/history/store.h"

#include <string>
#include <vector>

namespace fourfold::view {

struct RunFact {
    std::string fact, value; // a heading has no value
    bool is_heading = false;
};
std::vector<RunFact> run_facts(const RunDetail& run);
// The same in lines ("# Run"), with tags, note and the end of what the rank that failed first printed.
std::string run_facts_text(const RunDetail& run);

// "story · 4WQEC6": with the random end of its id, as runs of a plan have its name, and those of a minute begin alike.
std::string told_apart(const std::string& name, const std::string& id);

} // namespace fourfold::view
