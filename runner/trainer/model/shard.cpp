// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/shard.h"

#include "core/model/family.h"
#include "core/program/muon.h"
#include "core/schedule/schedules.h"

#include <algorithm>

namespace fourfold::trainer {

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

std::vector<ModelChunk> chunks_of(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk, int pp_rank)
{
    std::vector<ModelChunk> chunks;
    const auto& layers = plan.layout.stage_layers;
    const int count = int(layers.size());
    for (int index = 0, first = 0; index < count; ++index) {
        const int last = first + layers[std::size_t(index)];
        if (stage_of_chunk.at(std::size_t(index)) == pp_rank)
            chunks.push_back({index, first, last, index == 0, index + 1 == count});
        first = last;
    }
    return chunks;
}

namespace {
// Whether all heads share it, of which each tp rank has some.
bool serves_heads(Role role)
{
    switch (role) {
    case Role::query_norm:
    case Role::key_norm:
        return true;
    default:
        return false;
    }
}

// Row or column `begin` to begin + length, of what `parts` ranks share.
void cut_evenly(Shard& shard, int part, int parts)
{
    shard.length = shard.parameter.shape[std::size_t(shard.parameter.tp_dim)] / parts;
    shard.begin = shard.length * part;
}
} // namespace

std::vector<Shard> shard_table(
    const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk, int pp_rank, int tp_rank, ExpertPlace place)
{
    const bool tied = plan.model.tied_embeddings, apart = stage_of_chunk.front() != stage_of_chunk.back();
    const bool ahead = plan.model.predicted_ahead > 0; // the last chunk looks up tokens as well
    std::vector<Parameter> table;
    for (const ModelChunk& chunk : chunks_of(plan, stage_of_chunk, pp_rank)) {
        for (Parameter& parameter : parameter_table(
                 plan.model, plan.padded_vocab, chunk.first_layer, chunk.last_layer, chunk.embeds, chunk.predicts))
            table.push_back(std::move(parameter));
        if (ahead && !tied && apart && chunk.predicts)
            table.push_back(parameter_table(plan.model, plan.padded_vocab, 0, 0, true, false).front());
    }
    const bool two_chunks = !apart && stage_of_chunk.size() > 1;
    const bool holds_first = pp_rank == stage_of_chunk.front(), holds_last = pp_rank == stage_of_chunk.back();
    const int tp = plan.layout.tp;
    const int copies = std::max(1, tp / std::max(1, plan.model.kv_heads));
    std::vector<Shard> shards;
    const int experts_here = plan.model.experts ? plan.model.experts->count / plan.layout.ep : 1;
    for (Parameter& parameter : table) {
        if (parameter.expert >= 0 && parameter.expert / experts_here != place.ep)
            continue;
        const bool head = parameter.kind == ParameterKind::head;
        if (tied && two_chunks && head)
            continue;
        if (tied && apart && head)
            parameter.name = std::string(find_family(plan.model.model_type)->names.embedding) + ".weight";
        Shard shard;
        const bool over_vocabulary = parameter.kind == ParameterKind::embedding || head;
        const bool of_both_ends = tied ? over_vocabulary : ahead && over_vocabulary && !head;
        shard.second_copy = apart && of_both_ends && holds_last && !holds_first;
        shard.chunks = two_chunks && of_both_ends ? 2 : 1;
        shard.valid_rows = over_vocabulary ? plan.model.vocab : parameter.shape[0];
        shard.muon = plan.training.optimizer == Optimizer::muon && takes_muon(parameter.kind);
        shard.parameter = std::move(parameter);
        if (shard.parameter.expert >= 0 && shard.parameter.tp_dim >= 0) {
            cut_evenly(shard, place.etp, plan.layout.etp);
        } else if (shard.parameter.expert >= 0) {
            shard.length = shard.parameter.shape[0];
            shard.replication = plan.layout.etp == 1 ? Replication::none : Replication::etp;
        } else if (shard.parameter.tp_dim < 0) {
            shard.length = shard.parameter.shape[0];
            shard.replication = tp == 1              ? Replication::none
                : serves_heads(shard.parameter.role) ? Replication::heads
                                                     : Replication::tp;
        } else {
            const bool shared = copies > 1 && shard.parameter.key_heads;
            cut_evenly(shard, shared ? tp_rank / copies : tp_rank, shared ? tp / copies : tp);
            shard.replication = shared  ? Replication::kv
                : apart && of_both_ends ? Replication::ends
                                        : Replication::none;
        }
        shards.push_back(std::move(shard));
    }
    return shards;
}

} // namespace fourfold::trainer
