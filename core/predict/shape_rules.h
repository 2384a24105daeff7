// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of kernels about the shape that one GPU sees, which no check enforces: a breach runs, but slower.
#pragma once

#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace fourfold {

// Megatron's fused scale-mask-softmax takes four rows of scores a block: heads / tp x micro_batch and seq_len / cp must
// be multiples of 4. Says nothing about whether the plan's attention uses that kernel.
bool fused_softmax_fits(const ResolvedPlan& plan);

// One line for each rule that this plan's kernels break: the fused softmax where the plan's attention is that kernel,
// and a head dimension that tensor cores do not take (not a multiple of 8); and capacity_warning().
std::vector<std::string> shape_warnings(const ResolvedPlan& plan);
// Where experts have less room than tokens choose: how much of the choices is dropped at least. Empty: none.
std::string capacity_warning(const ResolvedPlan& plan);
// Where the bundled trainer finds no fused kernel on a GPU for the attention that the plan asks for. Empty: it does.
std::string attention_warning(const ResolvedPlan& plan);

} // namespace fourfold
