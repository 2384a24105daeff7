// SPDX-License-Identifier: GPL-3.0-or-later
// This rank's part of every parameter: the planner's parameter table, cut by pipeline and tensor parallelism.
#pragma once

#include "core/model/parameters.h"
#include "core/plan/plan.h"

#include <vector>

namespace fourfold::trainer {

// On which other ranks, replicas aside, the same values stand.
enum class Replication {
    none, // each rank has its own part
    tp, // all ranks have the same values (norms)
    heads, // the same, within attention: each sees a part of the heads, and its gradient is a part of the sum
    kv, // neighbours share key/value heads, where there are fewer heads than ranks
    etp, // all ranks that hold slices of an expert have the same values (a bias behind its sum)
    ends, // no TP rank has them too, but the other end of the pipeline: the embedding that is the head as well, or that
          // modules which predict further ahead look up
};

struct Shard {
    Parameter parameter; // with its full shape
    int64_t begin = 0, length = 0; // this rank's part of dimension parameter.tp_dim (of dimension 0 where that is -1)
    int64_t valid_rows = 0; // rows of the full tensor that are not vocabulary padding
    int chunks = 1; // of this pipeline rank that compute with it: so many gradients come for a micro-batch
    bool second_copy = false; // of the embedding, beside the head or as it, which checkpoints have once
    Replication replication = Replication::none;
    bool muon = false; // the optimizer steps by the orthogonalised momentum of the whole matrix

    [[nodiscard]] std::vector<int64_t> shape() const;
    [[nodiscard]] int64_t elements() const;
};

// A stretch of layers that one pipeline rank runs as one piece.
struct ModelChunk {
    int index = 0; // in the order of the layers
    int first_layer = 0, last_layer = 0; // [first, last)
    bool embeds = false, predicts = false; // holds the embedding, the final norm and head
};
// The chunks of a pipeline rank, by index. `plan` must pass check() and trainer_limits(). `stage_of_chunk`: of the
// plan's schedule.
std::vector<ModelChunk> chunks_of(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk, int pp_rank);

// Which experts a rank holds, and which slice of them.
struct ExpertPlace {
    int ep = 0, etp = 0;
};
// All parameters of a rank, in the table's order. A tied head on another rank than the embedding is a second tensor of
// the embedding's name, and so is the table of modules that predict further ahead; on the same rank the embedding
// stands for both, whichever chunks they are in.
std::vector<Shard> shard_table(
    const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk, int pp_rank, int tp_rank, ExpertPlace place = {});

} // namespace fourfold::trainer
