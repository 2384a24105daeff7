// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/coverage_grid.h"

#include "app/view/prediction/timeline_scene.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

namespace {
constexpr std::size_t kFewBars = 4096, kMostBins = 1 << 17; // of a row; a float counts no more of them exactly enough
}

CoverageGrid::CoverageGrid(std::span<const TimelineBar> bars, double length)
{
    if (bars.size() < kFewBars || !(length > 0))
        return;
    bins_ = std::min(bars.size() / 2, kMostBins);
    bin_s_ = length / double(bins_);
    std::array<std::vector<double>, kBarKinds> shares; // of each bin, and what the next ones have more than it
    for (const TimelineBar& bar : bars) {
        std::vector<double>& share = shares[static_cast<std::size_t>(bar.kind)];
        if (share.empty())
            share.resize(2 * bins_, 0.0);
        const double from = std::clamp(bar.start_s / bin_s_, 0.0, double(bins_));
        const double to = std::clamp(bar.end_s / bin_s_, 0.0, double(bins_));
        const std::size_t first = std::min(bins_ - 1, static_cast<std::size_t>(from));
        const std::size_t last = std::min(bins_ - 1, static_cast<std::size_t>(to));
        if (first == last) {
            share[first] += to - from;
            continue;
        }
        share[first] += double(first) + 1 - from;
        share[last] += to - double(last);
        share[bins_ + first + 1] += 1; // whole bins between the two
        share[bins_ + last] -= 1;
    }
    const auto none = std::ranges::count_if(shares, [](const std::vector<double>& share) { return share.empty(); });
    sums_.reserve((kBarKinds - static_cast<std::size_t>(none)) * (bins_ + 1));
    for (std::size_t kind = 0; kind < kBarKinds; ++kind) {
        if (shares[kind].empty())
            continue;
        kinds_.push_back(kind);
        double sum = 0, whole = 0;
        sums_.push_back(0);
        for (std::size_t bin = 0; bin < bins_; ++bin) {
            whole += shares[kind][bins_ + bin];
            sums_.push_back(static_cast<float>(sum += shares[kind][bin] + whole));
        }
    }
}

double CoverageGrid::covered(std::size_t kind, double time_s) const
{
    const double place = std::clamp(time_s / bin_s_, 0.0, double(bins_));
    const std::size_t bin = std::min(bins_ - 1, static_cast<std::size_t>(place));
    const float* const sums = sums_.data() + kind * (bins_ + 1) + bin;
    return sums[0] + (double(sums[1]) - sums[0]) * (place - double(bin));
}

void CoverageGrid::add(double begin, double end, std::span<Coverage> columns) const
{
    const double column = (end - begin) / double(columns.size());
    for (std::size_t place = 0; place < kinds_.size(); ++place) {
        double before = covered(place, begin);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const double now = covered(place, begin + double(i + 1) * column);
            columns[i][kinds_[place]] += static_cast<float>((now - before) * bin_s_ / column);
            before = now;
        }
    }
}

} // namespace fourfold::view
