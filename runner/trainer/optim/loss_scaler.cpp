// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/optim/loss_scaler.h"

#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace fourfold::trainer {

LossScaler::LossScaler(bool on, const at::TensorOptions& options)
    : on_(on)
    , scale_(at::full({}, on ? kFirst : 1.0, options.dtype(at::kFloat)))
    , steady_(at::zeros({}, options.dtype(at::kInt)))
{
}

Expected<void> LossScaler::take(bool finite)
{
    if (!on_)
        return {};
    overflows_ = finite ? 0 : overflows_ + 1;
    at::_amp_update_scale_(scale_, steady_, at::full({}, finite ? 0.0 : 1.0, scale_.options()), /*growth=*/2,
        /*backoff=*/0.5, kGrowsAfter);
    // Fewer overflows than it takes from the first scale to the least say nothing.
    const int most = int(std::log2(kFirst / kLeast));
    if (overflows_ <= most || scale_.is_meta() || state().scale >= kLeast)
        return {};
    return Problem{ProblemCode::failed,
        "the gradients overflow fp16 with every loss scale down to " + std::to_string(int(kLeast)) + ", in "
            + std::to_string(overflows_) + " steps one after the other",
        "lower run.lr, train in bf16, or look for what is wrong in the data", "training.precision"};
}

LossScaler::State LossScaler::state() const
{
    if (!on_ || scale_.is_meta())
        return {};
    return {double(scale_.item<float>()), steady_.item<int>()};
}

void LossScaler::restore(const State& state)
{
    if (!on_)
        return;
    scale_.fill_(state.scale);
    steady_.fill_(state.steady);
}

} // namespace fourfold::trainer
