// SPDX-License-Identifier: GPL-3.0-or-later
// Which token follows, of those that a model finds more or less likely.
#pragma once

#include <cstdint>
#include <span>

namespace fourfold::trainer {

struct Sampling {
    double temperature = 0; // 0: always the likeliest token
    int64_t top_k = 0; // of so many likeliest tokens alone; 0: of all
    double top_p = 1; // of the likeliest tokens that have this share of the probability together
    uint64_t seed = 1;
};

// The token that `sampling` draws as number `index` of a text. log_probabilities: of the vocabulary, not changed by
// the temperature yet.
int64_t draw_token(std::span<const float> log_probabilities, const Sampling& sampling, int64_t index);

} // namespace fourfold::trainer
