// SPDX-License-Identifier: GPL-3.0-or-later
// Which layers the bundled trainer records as CUDA graphs: the host then asks for all kernels of a layer with one call
// a pass. What a graph holds is fixed when it is recorded: shapes, addresses, and that nobody but the GPU takes part.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace fourfold {

// In run.environment: 1 asks for them, 0 or nothing does not. Other values break a rule of the plan's (why_no_graphs).
inline constexpr std::string_view kGraphsVariable = "FOURFOLD_CUDA_GRAPHS";
bool wants_graphs(const ResolvedPlan& plan);

// Why no layer of the plan can be recorded; empty: all those of is_graphed() are.
std::string why_no_graphs(const ResolvedPlan& plan);

// Whether this layer is, of a plan that asks for it and has no reason against it. `repeats`: it is computed once more
// in the backward pass.
bool is_graphed(const ResolvedPlan& plan, int layer, bool repeats);

// Of the layers from `first` on, of a plan that asks for graphs; 0 where there is a reason against them.
double graphed_layers(const ResolvedPlan& plan, int first, int layers, double recompute_layers);

// How many micro-batches of each chunk, by its index, are between the begin of their forward and the end of their
// backward pass at once, at most: so many sets of graphs a chunk has. `actions`: of one pipeline rank.
std::vector<int> most_in_flight(const std::vector<Action>& actions, int chunks);

} // namespace fourfold
