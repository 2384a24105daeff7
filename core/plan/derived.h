// SPDX-License-Identifier: GPL-3.0-or-later
// What follows from the degrees of a layout where a plan does not say otherwise: for resolving a plan and for trying
// other layouts of it.
#pragma once

#include "core/plan/plan.h"

namespace fourfold {

// HSDP shards within a node where that divides the ranks, else within the largest part of one that does; all other
// ways of sharding use every rank that holds the same parameters. Reads gpus_per_node, dp, cp and sharding.
int default_dp_shard(const ResolvedPlan& plan);

// The model's vocabulary, padded to a multiple of the stack's vocab_multiple x tp.
int64_t padded_vocabulary(const ResolvedPlan& plan);

} // namespace fourfold
