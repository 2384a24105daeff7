// SPDX-License-Identifier: GPL-3.0-or-later
// What happens when: the simulated (or measured) spans of one training step.
#pragma once

#include "core/base/words.h"
#include "core/schedule/actions.h"

#include <string>
#include <vector>

namespace fourfold {

enum class SpanKind {
    forward,
    backward,
    weight_gradient,
    send_receive,
    gradient_reduce,
    parameter_gather,
    optimizer,
    other
};
template <>
inline constexpr auto kWords<SpanKind> = std::to_array<std::string_view>({"forward", "backward", "weight gradient",
    "send/receive", "gradient reduce", "parameter gather", "optimizer", "other"});

// What an action is on a timeline; an input gradient is the backward pass of a chunk whose weight gradients wait.
SpanKind span_kind(ActionKind kind);

struct Span {
    int stage = 0; // one track a pipeline rank
    SpanKind kind = SpanKind::forward;
    int micro_batch = -1; // -1: belongs to the step
    int chunk = 0;
    double start_s = 0, end_s = 0;
};

struct Timeline {
    int stages = 0;
    double length_s = 0; // of the step
    std::vector<Span> spans; // sorted by (stage, start)
};

// Durations that the simulation needs, in seconds.
struct ScheduleTimes {
    std::vector<ChunkTimes> chunks; // pp * virtual_stages
    double send_receive_s = 0; // one activation or gradient hop between neighbouring stages
};
// Event simulation of the action lists: a rank receives an input when it is free and the input is there, which occupies
// it for a hop (blocking receives, as in Megatron-LM's 1F1B and in the trainer); then it computes. Neighbouring chunks
// of one rank (the foot of a V) hand over without a hop. Precondition: `actions` come from make_schedule or
// plan_schedule with the same pp and virtual stages.
Timeline simulate(const std::vector<std::vector<Action>>& actions, const ScheduleTimes& times, int virtual_stages);

} // namespace fourfold
