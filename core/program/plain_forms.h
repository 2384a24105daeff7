// SPDX-License-Identifier: GPL-3.0-or-later
// What the bundled trainer moves, launches and keeps more where training.compile is off, and each term of a formula is
// an operation of LibTorch's (runner/trainer/kernels/plain.h) instead of one pass with its own gradient. Counted, not
// fitted: tests/parity/fused_operations_test.cpp runs both forms on tensors without values and counts the bytes.
#pragma once

#include "core/program/allocations.h"

namespace fourfold {

// Beyond the fused form. Of elements of 16 bits, which are computed in fp32, or of fp32.
struct PlainForm {
    struct Of {
        double forward = 0, backward = 0; // bytes moved per element
        double kept = 0; // bytes per element, from the forward to the backward pass
        double launches = 0, backward_launches = 0; // in all
    };
    Of narrow, wide;
    [[nodiscard]] const Of& of(double element_bytes) const { return element_bytes > 2 ? wide : narrow; }
};
namespace plain_forms {
inline constexpr PlainForm kNorm{{42, 108, 6, 7, 16}, {20, 84, 4, 5, 13}}; // RMSNorm
inline constexpr PlainForm kGate{{4, 8, 2, 1, 2}, {8, 16, 4, 1, 2}}; // SwiGLU, per element of the gate
inline constexpr PlainForm kClampedGate{{26, 53, 8, 6, 14}, {52, 97, 16, 6, 14}}; // that of GPT-OSS
inline constexpr PlainForm kRotation{{37, 69, 0, 7, 16}, {29, 65, 0, 6, 11}}; // per element of queries and keys
inline constexpr PlainForm kLoss{{38, 20, 4, 9, 6}, {40, 8, 4, 8, 5}}; // per logit
inline constexpr PlainForm kUpdate{{144, 0, 0, 14, 0}, {88, 0, 0, 9, 0}}; // AdamW, per parameter
// Launches of a layer of the Llama family over those of its fused form.
inline constexpr double kForwardLaunches = 3.1, kBackwardLaunches = 3.4;
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
