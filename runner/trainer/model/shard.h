// SPDX-License-Identifier: GPL-3.0-or-later
// This rank's part of every parameter: the planner's parameter table, cut by tensor parallelism.
#pragma once

#include "core/model/parameters.h"
#include "core/plan/plan.h"

#include <vector>

namespace fourfold::trainer {

// On which other ranks of the TP group the same values stand.
enum class Replication {
    none, // each rank has its own part
    tp, // all ranks have the same values (norms)
    kv, // neighbours share key/value heads, where there are fewer heads than ranks
};

struct Shard {
    Parameter parameter; // with its full shape
    int64_t begin = 0, length = 0; // this rank's part of dimension parameter.tp_dim (of dimension 0 where that is -1)
    int64_t valid_rows = 0; // rows of the full tensor that are not vocabulary padding
    Replication replication = Replication::none;

    [[nodiscard]] std::vector<int64_t> shape() const;
    [[nodiscard]] int64_t elements() const;
};

// All parameters of the plan's model (every pipeline stage), in the table's order. `plan` must pass check() and
// trainer_limits().
std::vector<Shard> shard_table(const ResolvedPlan& plan, int tp_rank);

} // namespace fourfold::trainer
