// SPDX-License-Identifier: GPL-3.0-or-later
// Small jobs in which every two techniques meet that planner and trainer let meet.
#pragma once

#include "tests/parity/cases.h"

#include <string>
#include <vector>

namespace fourfold::testing {

// Two settings that no job has together, with the first reason that check() or the trainer gives.
struct RefusedPair {
    std::string first, second, why;
};

struct TechniquePairs {
    std::vector<Case> jobs; // of which each two settings of different choices() are in at least one
    std::vector<RefusedPair> refused; // all others
};

// Jobs of at most `most_ranks` ranks; the same on every call.
TechniquePairs technique_pairs(int most_ranks);

} // namespace fourfold::testing
