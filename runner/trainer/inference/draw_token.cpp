// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/inference/draw_token.h"

#include "runner/trainer/data/counter_random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace fourfold::trainer {

int64_t draw_token(std::span<const float> log_probabilities, const Sampling& sampling, int64_t index)
{
    const auto likeliest = std::ranges::max_element(log_probabilities);
    if (sampling.temperature == 0)
        return likeliest - log_probabilities.begin();
    std::vector<int64_t> order(log_probabilities.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](int64_t id) { return log_probabilities[std::size_t(id)]; });
    if (sampling.top_k > 0 && sampling.top_k < int64_t(order.size()))
        order.resize(std::size_t(sampling.top_k));
    std::vector<double> weights;
    for (const int64_t id : order)
        weights.push_back(
            std::exp((double(log_probabilities[std::size_t(id)]) - double(*likeliest)) / sampling.temperature));
    double total = std::accumulate(weights.begin(), weights.end(), 0.0), sum = 0;
    std::size_t kept = 0;
    while (kept < weights.size() && (kept == 0 || sum < sampling.top_p * total))
        sum += weights[kept++];
    double left = random_unit(stream_of(sampling.seed, "generate"), uint64_t(index)) * sum;
    for (std::size_t i = 0; i + 1 < kept; ++i)
        if ((left -= weights[i]) < 0)
            return order[i];
    return order[kept - 1];
}

} // namespace fourfold::trainer
