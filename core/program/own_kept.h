// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer of the bundled trainer keeps for its backward pass beside the tensors that every trainer does. Of other
// stacks it is in what their constants were fitted to.
#pragma once

#include "core/program/allocations.h"

namespace fourfold {

// Of latent attention: inputs and outputs of the latents' norms, and what fills up narrower values for a kernel whose
// heads have one width (runner/trainer/model/latent_attention.cpp).
template <typename Number>
Number kept_of_latents(const ResolvedPlan& plan, const RankShape& rank);

// Of that, what repeating the attention frees: its output with the filling.
template <typename Number>
Number filled_output(const ResolvedPlan& plan, const RankShape& rank);

// Of a router and the exchange of its tokens (runner/trainer/expert_parallel/routing.cpp, dispatch.cpp).
template <typename Number>
Number kept_of_routing(const ResolvedPlan& plan, const RankShape& rank);

} // namespace fourfold
