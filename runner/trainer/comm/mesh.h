// SPDX-License-Identifier: GPL-3.0-or-later
// This rank's communicators. Which ranks form which group is the planner's DeviceMesh, nothing else.
#pragma once

#include "core/layout/mesh.h"
#include "core/plan/plan_schedule.h"
#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/comm/pipeline_link.h"

#include <functional>
#include <map>

namespace fourfold::trainer {

struct Mesh {
    Layout layout;
    Coordinates at; // of this rank
    PlanSchedule schedule; // of the pipeline: which of its ranks holds which chunk of the model, and does what
    std::map<GroupKind, Communicator> groups;
    std::map<GroupKind, Communicator> numbers; // of groups with another communicator for numbers: see for_numbers()
    // Pipeline messages, apart from all collectives. Under NCCL, messages of a communicator match in the order of the
    // calls, and one that waits for its peer holds up all that were asked for after it. So each link that this rank
    // sends or receives on has a communicator of its own, of two ranks, on which messages only go one way: whatever
    // waits there waits for nothing but what the schedule itself puts first. (One communicator for all stages deadlocks
    // with an interleaved schedule, one for both ways between two stages already with 1F1B:
    // tests/parity/nccl_parity_test.cpp.)
    std::map<PipelineLink, Communicator> links;
    std::vector<int> stages; // global rank of each pipeline rank of this rank's pipeline
    Communicator ends; // of the first and the last chunk, whose ranks both hold a tied embedding; else this rank alone
    std::shared_ptr<FlightRecorder> recorder;

    // Precondition: one of the groups that make_mesh() makes; std::out_of_range otherwise.
    const Communicator& operator[](GroupKind group) const { return groups.at(group); }
    // Of the same ranks, for small numbers that a pass waits for: they do not queue up behind gathered weights and
    // reduced gradients, where the plan has such numbers (core/plan/shared_numbers.h).
    [[nodiscard]] const Communicator& for_numbers(GroupKind group) const
    {
        const auto found = numbers.find(group);
        return found != numbers.end() ? found->second : groups.at(group);
    }
    // "tp 0, cp 0, pp 0, dp 1"
    [[nodiscard]] std::string words() const;
};

// Makes the wire of a group of these global ranks, of which this rank has place `place`; tests wrap it.
using TransportFactory
    = std::function<std::shared_ptr<Transport>(const std::string& name, const std::vector<int>& ranks, int place)>;

// Creates every group of `rank`, each once and in the same order on all ranks. The plan's model decides the kv groups
// and whether there are groups of experts, `schedule` (listed_schedule()) those of pipeline messages. Throws
// std::exception when a group cannot be made. Groups with the same members share one wire where their operations follow
// one order anyway (replicas and shard).
Mesh make_mesh(const ResolvedPlan& plan, int rank, PlanSchedule schedule, const TransportFactory& make_transport);

} // namespace fourfold::trainer
