// SPDX-License-Identifier: GPL-3.0-or-later
// What this rank writes of a checkpoint, copied to the host's memory. The optimizer's states: the part that the rank
// holds, of which replicas take a slice each. The weights: whole tensors, dealt to all ranks that hold them, so that
// anybody's program can read them.
#pragma once

#include "runner/trainer/checkpoint/host_file.h"
#include "runner/trainer/checkpoint/pieces.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/optim/adam.h"

namespace fourfold::trainer {

class RankShare {
public:
    // What it refers to must outlive it. Takes the memory for the copy.
    RankShare(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights, const Adam& optimizer);

    struct Files {
        HostFile weights, states; // without tensors where this rank has none to write
        std::vector<Piece> pieces; // that `states` has of each of the optimizer's states
    };
    // Collective where weights are cut. What it returns stands in memory of this object until the next call; on CUDA
    // that memory is pinned.
    [[nodiscard]] Files copy();

    // The kernel finds the pages of that memory now, which takes longer than to copy into them. On any thread, also
    // beside copy().
    void make_room() const;

private:
    // A whole tensor that some rank writes.
    struct WholeTensor {
        std::size_t bucket = 0;
        BucketEntry entry;
        bool gathers = false, writes = false; // this rank, over the group that cuts it; its file
    };
    struct Slice {
        std::size_t bucket = 0;
        int64_t begin = 0, count = 0; // within the rank's part of it
        Piece piece;
        bool muon = false;
    };
    void deal_weights();
    void slice_states();
    // The group that cuts the parameter: an expert's is not that of the rest.
    [[nodiscard]] const Communicator& cut_over(const Shard& shard) const;
    [[nodiscard]] at::Tensor over_tp(const at::Tensor& own, const Shard& shard) const;
    std::byte* put(const at::Tensor& values);

    const ResolvedPlan& plan_;
    const Mesh& mesh_;
    const Weights& weights_;
    std::array<Adam::State, 3> states_;
    std::vector<WholeTensor> tensors_; // by bucket
    std::vector<Slice> slices_;
    int64_t bytes_ = 0, used_ = 0;
    at::Tensor host_;
};

} // namespace fourfold::trainer
