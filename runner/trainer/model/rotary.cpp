// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/rotary.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
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
    if (wave <= context / scaling.high_freq_factor)
        return frequency;
    const double smooth
        = (context / wave - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
    return (1 - smooth) * frequency / scaling.factor + smooth * frequency;
}
// Of a wave that makes `turns` turns in the original context: which plane that is, as a real number.
double plane_of(double turns, double theta, int64_t dim, int64_t positions)
{
    return double(dim) * std::log(double(positions) / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
}

double yarn_grown(const RopeScaling& scaling, double by)
{
    return scaling.factor <= 1 ? 1.0 : 0.1 * by * std::log(scaling.factor) + 1;
}

double yarn_magnitude(const RopeScaling& scaling)
{
    if (scaling.attention_factor > 0)
        return scaling.attention_factor;
    if (scaling.mscale > 0 && scaling.mscale_all_dim > 0)
        return yarn_grown(scaling, scaling.mscale) / yarn_grown(scaling, scaling.mscale_all_dim);
    return yarn_grown(scaling, 1);
}

// How much of each plane is stretched: 0 for fast waves, 1 for slow ones.
std::vector<double> yarn_ramp(const RopeScaling& scaling, double theta, int64_t dim)
{
    double low = plane_of(scaling.beta_fast, theta, dim, scaling.original_positions);
    double high = plane_of(scaling.beta_slow, theta, dim, scaling.original_positions);
    if (scaling.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, double(dim - 1));
    if (low == high)
        high += 0.001;
    std::vector<double> ramp;
    for (int64_t plane = 0; plane < dim / 2; ++plane)
        ramp.push_back(std::clamp((double(plane) - low) / (high - low), 0.0, 1.0));
    return ramp;
}

double longrope_magnitude(const RopeScaling& scaling)
{
    if (scaling.attention_factor > 0)
        return scaling.attention_factor;
    return scaling.factor <= 1 ? 1
                               : std::sqrt(1 + std::log(scaling.factor) / std::log(double(scaling.original_positions)));
}
} // namespace

double latent_score_factor(const RopeScaling& scaling)
{
    const double magnitude = yarn_grown(scaling, scaling.mscale_all_dim);
    return scaling.type == "yarn" && scaling.mscale_all_dim > 0 ? magnitude * magnitude : 1;
}

RotaryFrequencies rotary_frequencies(
    const RopeScaling& scaling, double theta, int64_t dim, int64_t max_positions, int64_t seq_len)
{
    RotaryFrequencies out;
    if (scaling.type == "dynamic") {
        const double longer = double(std::max(seq_len, max_positions)) / double(max_positions);
        theta *= std::pow(scaling.factor * longer - (scaling.factor - 1), double(dim) / double(dim - 2));
    }
    for (int64_t plane = 0; plane < dim / 2; ++plane)
        out.each.push_back(std::pow(theta, -2.0 * double(plane) / double(dim)));
    if (scaling.type == "llama3") {
        for (double& frequency : out.each)
            frequency = llama3_scaled(frequency, scaling);
    } else if (scaling.type == "linear") {
        for (double& frequency : out.each)
            frequency /= scaling.factor;
    } else if (scaling.type == "yarn") {
        const auto ramp = yarn_ramp(scaling, theta, dim);
        for (std::size_t plane = 0; plane < out.each.size(); ++plane)
            out.each[plane] *= (1 - ramp[plane]) + ramp[plane] / scaling.factor;
        out.magnitude = yarn_magnitude(scaling);
    } else if (scaling.type == "longrope") {
        const auto& factors = seq_len > scaling.original_positions ? scaling.long_factors : scaling.short_factors;
        for (std::size_t plane = 0; plane < out.each.size(); ++plane)
            out.each[plane] /= factors.at(plane);
        out.magnitude = longrope_magnitude(scaling);
    }
    return out;
}

RotaryTable rotary_table(
    const RotaryFrequencies& frequencies, const std::vector<int64_t>& positions, const at::TensorOptions& options)
{
    const auto planes = static_cast<int64_t>(frequencies.each.size());
    // In fp64 first: fp32 angles lose digits at far positions.
    const at::Tensor cosine = at::empty({int64_t(positions.size()), planes}, at::kDouble),
                     sine = at::empty_like(cosine);
    auto* cosines = cosine.data_ptr<double>();
    auto* sines = sine.data_ptr<double>();
    for (const int64_t position : positions)
        for (const double frequency : frequencies.each) {
            *cosines++ = frequencies.magnitude * std::cos(double(position) * frequency);
            *sines++ = frequencies.magnitude * std::sin(double(position) * frequency);
        }
    return {cosine.to(options), sine.to(options)};
}

at::Tensor rotate(Kernels kernels, const at::Tensor& x, const RotaryTable& table)
{
    const int64_t turned = 2 * table.cosine.size(-1), rest = x.size(-1) - turned;
    if (rest == 0)
        return rotation(kernels, x, table.cosine, table.sine);
    return at::cat(
        {rotation(kernels, x.narrow(-1, 0, turned), table.cosine, table.sine), x.narrow(-1, turned, rest)}, -1);
}

} // namespace fourfold::trainer
