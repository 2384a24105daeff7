// SPDX-License-Identifier: GPL-3.0-or-later
// Saves checkpoints of a training without holding it up for longer than the copy to the host's memory takes.
#pragma once

#include "runner/trainer/checkpoint/background_save.h"
#include "runner/trainer/checkpoint/rank_share.h"
#include "runner/trainer/optim/loss_scaler.h"

#include <set>

namespace fourfold::trainer {

class CheckpointSaver {
public:
    // `folder`: of all steps. `from`: the one in it that the run went on from, 0 where it did from none. `line`,
    // `told`: see BackgroundSave. What it refers to must outlive it.
    CheckpointSaver(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights, const Adam& optimizer,
        const LossScaler& loss_scaler, std::filesystem::path folder, int from, std::shared_ptr<StoreClient> line,
        std::function<void(const SaveOutcome&)> told);

    // Copies what stands after `steps` finished steps and writes it behind what follows. Where the save before is not
    // on the disk yet, all ranks wait for it first, in no collective: the seconds of that. Collective.
    double save(int steps);
    // Waits for the last save. Its Problem, `cancelled` where another rank failed.
    Expected<void> finish();

private:
    const ResolvedPlan& plan_;
    const Adam& optimizer_;
    const LossScaler& loss_scaler_;
    std::filesystem::path folder_;
    int from_;
    std::set<int> saved_; // by this run
    RankShare share_;
    BackgroundSave writer_;
};

} // namespace fourfold::trainer
