// SPDX-License-Identifier: GPL-3.0-or-later
// Dynamic loss scaling for fp16 (Micikevicius et al. 2017, arXiv:1710.03740, section 3.2), by the rule and with the
// numbers of torch.amp.GradScaler: gradients that would be too small for fp16 are made of a loss that is scaled up.
#pragma once

#include "core/base/expected.h"

#include <ATen/core/Tensor.h>

namespace fourfold::trainer {

// The scale is a tensor on the device of the gradients, so that no step waits for it.
class LossScaler {
public:
    static constexpr double kFirst = 65536, kLeast = 1; // scales
    static constexpr int kGrowsAfter = 2000; // steps without overflow

    // `on`: of a precision that needs it; else the scale is 1 and stays so. `options`: fp32 on the device.
    LossScaler(bool on, const at::TensorOptions& options);

    [[nodiscard]] bool on() const { return on_; }
    [[nodiscard]] const at::Tensor& scale() const { return scale_; } // a scalar
    // After a step whose gradients were finite, or not: the scale doubles after kGrowsAfter steps of the one, and
    // halves with each of the other. A Problem where it cannot get any smaller.
    Expected<void> take(bool finite);

    // For events and checkpoints; they wait for the device.
    struct State {
        double scale = 1;
        int steady = 0; // steps since it last changed
    };
    [[nodiscard]] State state() const;
    void restore(const State& state);

private:
    bool on_;
    at::Tensor scale_, steady_;
    int overflows_ = 0; // one after the other
};

} // namespace fourfold::trainer
