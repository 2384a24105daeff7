// SPDX-License-Identifier: GPL-3.0-or-later
// Micro-batches that are alike are computed once. Each pass (an action of a chunk) runs for the first micro-batches of
// a step as it would in training; once two in a row did the same, the ones after them are played from the ledger's
// tape, with all their allocations, messages and changes of lasting state.
#pragma once

#include "core/rehearsal/host_times.h"
#include "core/rehearsal/ledger.h"
#include "runner/trainer/pipeline_parallel/executor.h"

#include <map>
#include <set>
#include <utility>

namespace fourfold::trainer {

class PassPlayer {
public:
    // `fold`: else every pass is computed. `ledger` and `host` must outlive the player.
    PassPlayer(Ledger& ledger, const HostTimes& host, bool fold)
        : ledger_(ledger)
        , host_(host)
        , fold_(fold)
    {
    }

    // As StageWork::perform.
    Expected<at::Tensor> operator()(const Action& action, const Compute& compute);
    void end_step();

    [[nodiscard]] int64_t computed() const { return computed_; } // passes
    [[nodiscard]] int64_t played() const { return played_; }
    // A pass that has to be played is not known well enough, or a tape did not have all of it: nothing of this holds,
    // the rank has to be rehearsed without folding.
    [[nodiscard]] bool gave_up() const { return gave_up_ || ledger_.lost_track(); }

private:
    struct Known {
        Tape tape;
        bool stable = false; // the one before it was the same
        // What the pass gives, but for its memory.
        std::vector<int64_t> sizes, strides;
        int64_t offset = 0;
        std::size_t storage_bytes = 0;
        at::TensorOptions options;
    };
    Expected<at::Tensor> compute_and_keep(const Action& action, const Compute& compute);
    at::Tensor play(const Known& known);

    Ledger& ledger_;
    const HostTimes& host_;
    bool fold_, gave_up_ = false;
    std::map<std::pair<ActionKind, int>, Known> known_; // kind, chunk
    std::map<int, int> forwards_; // of this step, by chunk
    std::set<std::pair<int, int>> folded_; // chunk, micro-batch: whose passes are all played
    int64_t computed_ = 0, played_ = 0;
};

} // namespace fourfold::trainer
