// SPDX-License-Identifier: GPL-3.0-or-later
// Which messages the actions of a schedule send and receive. Needs no network: the lists of all pipeline ranks say it.
#pragma once

#include "core/plan/plan_schedule.h"
#include "runner/trainer/comm/pipeline_link.h"

#include <optional>
#include <vector>

namespace fourfold::trainer {

// The plan's schedule of the whole batch with every list; a generated one of more than kMostListedPasses is
// `unsupported`.
Expected<PlanSchedule> listed_schedule(const ResolvedPlan& plan);

inline bool is_forward(const Action& action)
{
    return action.kind == ActionKind::forward;
}

// One message of a pipeline rank: an activation to the chunk after, or a gradient to the chunk before.
struct Message {
    int peer = 0; // pipeline rank
    int tag = 0; // tells the messages of a step apart: chunk of the producing action and micro-batch
    std::size_t peer_action = 0; // place in the peer's list of the action that produces or consumes it
    PipelineLink link;
};

struct PlannedAction {
    Action action;
    // Empty: the first chunk's tokens, the last chunk's own loss, or a neighbour on this rank.
    std::optional<Message> receive, send;
    bool beside_next = false; // a forward that runs beside the next action, a backward
};

// The list of `rank` with its messages. `lists`: one list a pipeline rank, as make_schedule makes them, or the forward
// actions of such lists alone. Chunk c runs where the lists have it.
std::vector<PlannedAction> plan_messages(const std::vector<std::vector<Action>>& lists, int rank);

// Beside the list of `rank`: at which of its later actions the message that an action sends is known to have arrived.
// It has when the receiver has begun the action that takes it, and whatever message of a later moment says so, through
// however many ranks it came (vector clocks: Fidge 1988, Mattern 1989). The list's length: at none; also of an action
// that sends nothing.
std::vector<std::size_t> known_to_have_arrived(const std::vector<std::vector<Action>>& lists, int rank);

// Which forwards run beside the backward that follows them, by rank and place: those of another micro-batch and, where
// a rank has several chunks, of another chunk, as far as no rank then waits for what another pair holds up.
std::vector<std::vector<bool>> pair_passes(const std::vector<std::vector<Action>>& lists);

// Every link that some message of the lists goes over, ascending.
std::vector<PipelineLink> pipeline_links(const std::vector<std::vector<Action>>& lists);

// The lists without backward passes, for an evaluation.
std::vector<std::vector<Action>> forwards_only(const std::vector<std::vector<Action>>& lists);

} // namespace fourfold::trainer
