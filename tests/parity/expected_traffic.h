// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a job should send in one training step, from the planner's list of operations.
#pragma once

#include "core/plan/plan.h"

#include <map>
#include <string>
#include <utility>

namespace fourfold::testing {

// Payload bytes by group and operation, named as the trainer's recorder names them: {"dp", "all_reduce"}.
using Traffic = std::map<std::pair<std::string, std::string>, double>;

// Of one step, summed over all ranks: every collective and message of build_program().
Traffic planned_traffic(const ResolvedPlan& plan);

// Bytes that this traffic puts on the wire with ring algorithms: of a payload B in a group of n ranks, all-reduce sends
// 2 (n - 1) / n B a rank, all-gather and reduce-scatter (n - 1) / n B, a message B.
double wire_bytes(const ResolvedPlan& plan, const Traffic& traffic);

} // namespace fourfold::testing
