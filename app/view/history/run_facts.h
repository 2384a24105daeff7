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

} // namespace fourfold::view
