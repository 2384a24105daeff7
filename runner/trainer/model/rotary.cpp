// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/rotary.h"

#include "runner/trainer/kernels/fused.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <cmath>
#include <numbers>

namespace fourfold::trainer {

namespace {
double llama3_scaled(double frequency, const RopeScaling& scaling)
{
    const double wave = 2 * std::numbers::pi / frequency;
    const double context = double(scaling.original_positions);
    if (wave > context / scaling.low_freq_factor)
        return frequency / scaling.factor;
    if (wave < context / scaling.high_freq_factor)
        return frequency;
    const double smooth
        = (context / wave - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
    return (1 - smooth) * frequency / scaling.factor + smooth * frequency;
}
} // namespace

std::vector<double> rotary_frequencies(const ModelShape& model)
{
    std::vector<double> frequencies;
    for (int64_t plane = 0; plane < model.head_dim / 2; ++plane) {
        const double frequency = std::pow(model.rope_theta, -2.0 * double(plane) / double(model.head_dim));
        if (model.rope_scaling.type == "llama3")
            frequencies.push_back(llama3_scaled(frequency, model.rope_scaling));
        else if (model.rope_scaling.type == "linear")
            frequencies.push_back(frequency / model.rope_scaling.factor);
        else
            frequencies.push_back(frequency);
    }
    return frequencies;
}

RotaryTable rotary_table(
    const ModelShape& model, const std::vector<int64_t>& positions, const at::TensorOptions& options)
{
    const auto frequencies = rotary_frequencies(model);
    const auto planes = static_cast<int64_t>(frequencies.size());
    // In fp64 first: fp32 angles lose digits at far positions.
    const at::Tensor cosine = at::empty({int64_t(positions.size()), planes}, at::kDouble),
                     sine = at::empty_like(cosine);
    auto* cosines = cosine.data_ptr<double>();
    auto* sines = sine.data_ptr<double>();
    for (const int64_t position : positions)
        for (const double frequency : frequencies) {
            *cosines++ = std::cos(double(position) * frequency);
            *sines++ = std::sin(double(position) * frequency);
        }
    return {cosine.to(options), sine.to(options)};
}

at::Tensor rotate(const at::Tensor& x, const RotaryTable& table)
{
    return fused_rotation(x, table.cosine, table.sine);
}

} // namespace fourfold::trainer
