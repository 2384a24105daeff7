// SPDX-License-Identifier: GPL-3.0-or-later
// Muon's step (core/program/muon.h) of this rank's parts of the hidden matrices. Each whole matrix comes together on
// one of the ranks that hold it in parts, which iterates and sends everybody his part of the step:
//   copies   of a shard group (HSDP) take every so many matrices, and tell each other the steps of their parts;
//   shards   of each matrix go to one rank of the shard group, where it is cut (ZeRO); where every replica has all of
//            it each does its share of the matrices, and tells the others the steps;
//   slices   of each matrix go to one rank of the tensor-parallel group (an expert's: etp).
// So no matrix is iterated twice, and none otherwise than on one rank. Where masters and momentum lie in the host's
// memory the device gets the momentum, as it is sent, and the host the step.
#pragma once

#include "core/layout/run_settings.h"
#include "core/program/muon.h"
#include "runner/trainer/comm/mesh.h"
#include "runner/trainer/model/weights.h"
#include "runner/trainer/offload/copy_lane.h"

#include <optional>
#include <vector>

namespace fourfold::trainer {

// [batch, rows, columns] with rows <= columns: the iteration, each matrix by itself, in their type. Changes `matrices`.
at::Tensor newton_schulz(at::Tensor matrices);

class Muon {
public:
    // `heads`: of the model's fused projections. `momenta`: beside weights.masters(), which keep the momentum of these
    // matrices. `type`: in which they are sent and iterated. `at_once`: elements, see MuonDeal. What it refers to must
    // outlive it.
    Muon(const Weights& weights, const Mesh& mesh, const RunSettings& settings, int64_t heads,
        const std::vector<at::Tensor>& momenta, at::ScalarType type, double at_once = kMuonElements);
    // One update of weights.masters() from `gradients` beside them, where those lie. Collective.
    void step(const std::vector<at::Tensor>& gradients, double learning_rate) const;

private:
    struct Matrix {
        std::size_t bucket = 0;
        BucketEntry entry;
    };
    // Matrices that are dealt together: of the same groups and sides, and as large on each rank.
    struct Alike {
        GroupKind cut = GroupKind::tp;
        ReplicaGroups groups;
        int64_t rows = 0, columns = 0, parts = 1, slice = 0; // rows, columns: the shorter first, of each part
        std::vector<Matrix> matrices;
    };
    class Round;

    const Weights& weights_;
    const Mesh& mesh_;
    RunSettings settings_;
    int64_t heads_;
    const std::vector<at::Tensor>& momenta_;
    at::ScalarType type_;
    double at_once_;
    std::optional<CopyLane> lane_; // none: masters are on the device
    std::vector<Alike> alike_;
};

} // namespace fourfold::trainer
