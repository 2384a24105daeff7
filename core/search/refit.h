// SPDX-License-Identifier: GPL-3.0-or-later
// The same training on fewer GPUs than its plan was made for: what a run goes on with when hosts were lost.
#pragma once

#include "core/plan/plan.h"

#include <stop_token>
#include <vector>

namespace fourfold {

// A number of GPUs that could be had.
struct RefitPlace {
    int gpus = 0;
    double memory_gib = 0; // of the host for each rank, where ranks train on CPUs; 0: the plan's cluster alone decides
};

struct RefitRequest {
    ResolvedPlan plan; // of the stack that runs it
    std::vector<RefitPlace> places; // each number of GPUs once
    int threads = 0; // 0: one a core
};

// The plan on the layout that takes the shortest step on one of these numbers of GPUs: found by the search among those
// that fit and that the trainer runs. Model, global batch, data, precision and order of the ranks stay as they are, so
// that it trains the same; degrees, micro-batch, pipeline schedule, sharding and recomputation may be others. Where
// there are many numbers, smaller ones are tried only when the larger ones have no layout.
// `failed` where there is none: the message says how much memory is missing, or which rule stands in the way;
// `cancelled` after `stop`.
Expected<ResolvedPlan> refit(const RefitRequest& request, std::stop_token stop = {});

// "tp2 cp1 pp1 dp8 mb1", with experts and virtual stages where there are any: a layout as lists of runs write it.
std::string layout_words(const ResolvedPlan& plan);

} // namespace fourfold
