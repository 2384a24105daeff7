// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/overlap_bound.h"

namespace fourfold {

std::optional<double> OverlapBound::least_batch() const
{
    const double gain = compute_s_per_sequence - transfer_s_per_sequence;
    if (latency_s + transfer_s <= 0)
        return gain >= 0 ? std::optional(0.0) : std::nullopt;
    return gain > 0 ? std::optional((latency_s + transfer_s) / gain) : std::nullopt;
}

} // namespace fourfold
