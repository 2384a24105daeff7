// SPDX-License-Identifier: GPL-3.0-or-later
// What the attention of a layer sees, and what is added to its scores.
#pragma once

#include "core/layout/training.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fourfold::trainer {

struct AttentionRule {
    AttentionKernel kernel = AttentionKernel::flash2;
    double scale = 1; // of scores
    int64_t window = 0; // tokens, the query's own among them; 0: all up to the query
    bool chunked = false; // back to the begin of the query's own chunk of so many tokens instead
    at::Tensor slopes; // of each head's linear bias (attention.h); undefined: none

    [[nodiscard]] bool plain() const { return window == 0 && !slopes.defined(); }
    // The first position that a query sees.
    [[nodiscard]] int64_t first_seen(int64_t position) const
    {
        if (window == 0)
            return 0;
        return chunked ? position / window * window : std::max<int64_t>(0, position - window + 1);
    }
};

// Positions that follow each other.
struct Run {
    int64_t begin = 0, length = 0;
    [[nodiscard]] int64_t end() const { return begin + length; }
    bool operator==(const Run&) const = default;
};
using Runs = std::vector<Run>; // rising

} // namespace fourfold::trainer
