// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/derived.h"

#include <algorithm>

namespace fourfold {

int default_dp_shard(const ResolvedPlan& plan)
{
    const int ranks = plan.layout.dp * plan.layout.cp;
    if (plan.training.sharding != Sharding::hybrid)
        return ranks;
    int shard = std::min(plan.cluster.gpus_per_node, ranks);
    while (ranks % shard != 0)
        --shard;
    return shard;
}

int64_t padded_vocabulary(const ResolvedPlan& plan)
{
    const int64_t multiple = int64_t(std::max(1, plan.stack.vocab_multiple)) * plan.layout.tp;
    return (plan.model.vocab + multiple - 1) / multiple * multiple;
}

} // namespace fourfold
