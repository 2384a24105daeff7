// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/data/blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourfold::trainer {

namespace {
// Integers that add up to `denominator`, by largest remainder.
std::vector<int64_t> rounded(const std::vector<double>& weights, int64_t denominator)
{
    std::vector<int64_t> shares;
    std::vector<double> rest;
    for (const double weight : weights) {
        const double exact = weight * double(denominator), whole = std::floor(exact + 1e-6);
        shares.push_back(int64_t(whole));
        rest.push_back(exact - whole);
    }
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
    int64_t missing = denominator - std::accumulate(shares.begin(), shares.end(), int64_t(0));
    for (std::size_t i = 0; missing > 0; i = (i + 1) % order.size(), --missing)
        ++shares[order[i]];
    return shares;
}

int64_t denominator_of(const std::vector<double>& weights)
{
    constexpr int64_t kMostExact = 4096, kOtherwise = int64_t(1) << 20;
    constexpr double kEqual = 1e-10;
    for (int64_t denominator = 1; denominator <= kMostExact; ++denominator)
        if (std::all_of(weights.begin(), weights.end(), [&](double weight) {
                const double share = std::round(weight * double(denominator));
                return share > 0 && std::abs(share / double(denominator) - weight) < kEqual;
            }))
            return denominator;
    return kOtherwise;
}
} // namespace

Blend::Blend(const std::vector<double>& weights)
    : shares_(rounded(weights, denominator_of(weights)))
{
    const int64_t period = std::accumulate(shares_.begin(), shares_.end(), int64_t(0));
    std::vector<int64_t> drawn(weights.size(), 0);
    for (int64_t i = 0; i < period; ++i) {
        std::size_t furthest = 0;
        int64_t most = -1;
        for (std::size_t source = 0; source < shares_.size(); ++source) {
            // In units of 1 / period samples; the first sample as if one had been drawn, as Megatron does.
            const int64_t behind = shares_[source] * std::max(i, int64_t(1)) - drawn[source] * period;
            if (source == 0 || behind > most) {
                furthest = source;
                most = behind;
            }
        }
        source_.push_back(uint16_t(furthest));
        before_.push_back(uint32_t(drawn[furthest]++));
    }
}

Blend::Draw Blend::at(int64_t number) const
{
    const int64_t periods = number / period();
    const auto place = std::size_t(number % period());
    const int source = source_[place];
    return {source, periods * shares_[std::size_t(source)] + int64_t(before_[place])};
}

} // namespace fourfold::trainer
