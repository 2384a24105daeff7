// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/shard.h"

#include <algorithm>

namespace fourfold::trainer {

namespace {
bool is_key_or_value(const Parameter& parameter)
{
    return parameter.name.find(".k_proj.") != std::string::npos || parameter.name.find(".v_proj.") != std::string::npos;
}
} // namespace

std::vector<int64_t> Shard::shape() const
{
    auto shape = parameter.shape;
    if (parameter.tp_dim >= 0)
        shape[std::size_t(parameter.tp_dim)] = length;
    return shape;
}

int64_t Shard::elements() const
{
    int64_t count = 1;
    for (const int64_t size : shape())
        count *= size;
    return count;
}

std::vector<Shard> shard_table(const ResolvedPlan& plan, int tp_rank)
{
    const int tp = plan.layout.tp;
    const int copies = std::max(1, tp / std::max(1, plan.model.kv_heads));
    std::vector<Shard> shards;
    for (Parameter& parameter : parameter_table(plan.model, plan.padded_vocab, 0, plan.model.layers, true, true)) {
        Shard shard;
        const bool over_vocabulary
            = parameter.kind == ParameterKind::embedding || parameter.kind == ParameterKind::head;
        shard.valid_rows = over_vocabulary ? plan.model.vocab : parameter.shape[0];
        if (parameter.tp_dim < 0) {
            shard.length = parameter.shape[0];
            shard.replication = tp > 1 ? Replication::tp : Replication::none;
        } else {
            const bool shared = copies > 1 && is_key_or_value(parameter);
            const int parts = shared ? tp / copies : tp;
            shard.length = parameter.shape[std::size_t(parameter.tp_dim)] / parts;
            shard.begin = shard.length * (shared ? tp_rank / copies : tp_rank);
            shard.replication = shared ? Replication::kv : Replication::none;
        }
        shard.parameter = std::move(parameter);
        shards.push_back(std::move(shard));
    }
    return shards;
}

} // namespace fourfold::trainer
