// SPDX-License-Identifier: GPL-3.0-or-later
// How advice reads: one line a change, with its price.
#pragma once

#include "core/report/table/table.h"
#include "core/search/advice.h"

namespace fourfold {

// One row a change, in the order of the list.
Table advice_table(const std::vector<Advice>& list);
// "micro_batch 2 -> 1: fits with 70.1 GiB, 3.2 % slower".
std::string advice_line(const Advice& advice);
// What would make it fit (where it does not), and what would make it faster.
std::string advice_text(const AdviceReport& report);

} // namespace fourfold
