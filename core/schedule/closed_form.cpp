// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/closed_form.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

bool about(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

} // namespace

std::optional<double> closed_form_length(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk)
{
    if (pp < 1 || virtual_stages < 1 || micro_batches < 1)
        return std::nullopt;
    const double forward = chunk.forward_s, backward = chunk.backward_s, weight = chunk.weight_gradient_s;
    const double input = backward - weight, both = forward + backward;
    const double m = micro_batches, hops = pp - 1;
    if (pp == 1)
        return m * virtual_stages * both;
    switch (schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b:
        if (virtual_stages == 1)
            return (m + hops) * both;
        break;
    case Schedule::interleaved:
        if (micro_batches % pp == 0)
            return (virtual_stages * m + hops) * both;
        break;
    case Schedule::zb_h1:
        if (virtual_stages == 1 && weight <= std::min(forward, input))
            return m * both + hops * (forward + input) - std::min(m - 1, hops) * weight;
        break;
    case Schedule::zb_v:
        if (virtual_stages == 2 && about(forward, input) && about(input, weight))
            return 2 * m * both + std::max(hops, 4 * hops - 2 * (m - 1)) * forward;
        break;
    case Schedule::csv:
        break;
    }
    return std::nullopt;
}

std::optional<double> closed_form_idle_share(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk)
{
    const auto length = closed_form_length(schedule, pp, virtual_stages, micro_batches, chunk);
    if (!length || *length <= 0)
        return std::nullopt;
    return 1 - virtual_stages * double(micro_batches) * (chunk.forward_s + chunk.backward_s) / *length;
}

} // namespace fourfold
