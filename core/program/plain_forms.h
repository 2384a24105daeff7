// SPDX-License-Identifier: GPL-3.0-or-later
// What the bundled trainer moves, launches and keeps more where training.compile is off, and each term of a formula is
// an operation of LibTorch's (runner/trainer/kernels/plain.h) instead of one pass with its own gradient. Counted, not
// fitted: tests/parity/fused_operations_test.cpp runs both forms on tensors without values and counts the bytes.
#pragma once

#include "core/program/allocations.h"

namespace fourfold {

// Per element, beyond the fused form. Of 16 bits, which are computed in fp32, or of fp32.
struct PlainForm {
    struct Of {
        double forward = 0, backward = 0; // bytes moved
        double kept = 0; // bytes, from the forward to the backward pass
    };
    Of narrow, wide;
    double launches = 0, backward_launches = 0; // in all
    [[nodiscard]] const Of& of(double element_bytes) const { return element_bytes > 2 ? wide : narrow; }
};
namespace plain_forms {
inline constexpr PlainForm kNorm{{36, 82, 6}, {20, 72, 4}, 7, 17}; // RMSNorm, per element
inline constexpr PlainForm kGate{{4, 10, 2}, {8, 20, 4}, 1, 3}; // SwiGLU, per element of the gate
inline constexpr PlainForm kClampedGate{{22, 48, 8}, {44, 96, 16}, 7, 10};
inline constexpr PlainForm kRotation{{40, 60, 0}, {36, 60, 0}, 7, 12}; // per element of queries and keys
inline constexpr PlainForm kLoss{{20, 20, 4}, {20, 20, 4}, 5, 3}; // per logit
inline constexpr PlainForm kUpdate{{}, {72, 0, 0}, 9, 0}; // per parameter
// Launches of a layer of the Llama family over those of its fused form.
inline constexpr double kForwardLaunches = 2.5, kBackwardLaunches = 2.5;
} // namespace plain_forms

// Whether the plan's stack is the bundled trainer with plain forms.
inline bool has_plain_forms(const ResolvedPlan& plan, const RankShape& rank)
{
    return is_our_trainer(rank.constants) && !plan.training.compile;
}

// The efficiency of elementwise work: other stacks have one of compiled code, ours moves fewer bytes at the same one.
inline Constant elementwise_rate(const ResolvedPlan& plan, const RankShape& rank)
{
    return plan.training.compile && !is_our_trainer(rank.constants) ? Constant::elementwise_efficiency_compiled
                                                                    : Constant::elementwise_efficiency;
}

} // namespace fourfold
