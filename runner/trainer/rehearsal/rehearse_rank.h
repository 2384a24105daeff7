// SPDX-License-Identifier: GPL-3.0-or-later
// One rank of a plan, rehearsed: the trainer's own code makes two steps on tensors without values and wires that go
// nowhere.
#pragma once

#include "core/plan/plan.h"
#include "core/rehearsal/ledger.h"
#include "runner/trainer/comm/transport.h"
#include "runner/trainer/expert_parallel/routing_record.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold::trainer {

struct WireTotal {
    int64_t count = 0, bytes = 0; // payload
};
using WireTotals = std::map<std::pair<std::string, std::string>, WireTotal>; // by group and operation

// What one rank does in two steps, the first of which makes what the second finds.
struct RankRehearsal {
    RankProgram program; // of everything from the making of the weights to the end of the second step
    // Of the second step.
    Moment step_begin;
    WireTotals traffic;
    KernelWork work;
    // Of tensors, at their most: bytes as asked for, as rounded, and what the caching allocator reserves for them.
    uint64_t requested = 0, allocated = 0, reserved = 0;
    std::string ran_out, misused; // see Ledger
    int64_t computed = 0, played = 0; // passes of both steps
};

struct RankSettings {
    bool fold = true; // equal micro-batches are computed once
    uint64_t capacity = 0; // see AllocatorSettings
    double expert_imbalance = 0; // tokens of each first expert-parallel rank above the mean, as a share of it
    // What this rank's real one recorded in two steps: repeated, whatever the imbalance, and without folding.
    std::optional<RoutingRecord> routing = {};
    // A plan for GPUs as its ranks run where the job asks for CPUs by name (gloo).
    bool on_cpus = false;
    int threads = 0; // of a CPU rank; 0: as many as it takes on this computer
    // What the rank gets in the place of a recording wire of this name: a test's faulty one. Nothing: the wire itself.
    std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport>, const std::string&)> wire = {};
};
// `plan`: checked, and within trainer_limits(). A Problem (failed) where LibTorch refuses what the trainer asks for.
Expected<RankRehearsal> rehearse_rank(const ResolvedPlan& plan, int rank, RankSettings settings = {});

} // namespace fourfold::trainer
