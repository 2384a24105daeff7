// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/measure/stopwatch.h"

#include "core/base/seconds.h"
#include "runner/trainer/device/device.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace fourfold::trainer {

Stopwatch::Stopwatch(const Communicator& world, bool cuda)
    : world_(world)
    , cuda_(cuda)
{
}

void Stopwatch::meet() const
{
    (void)most(0);
}

double Stopwatch::most(double value) const
{
    at::Tensor all = at::zeros({1}, at::TensorOptions().dtype(at::kDouble));
    all[0] = value;
    if (cuda_)
        all = all.cuda();
    world_.all_reduce(all, Reduce::max);
    return all.cpu().item<double>();
}

double Stopwatch::time(bool takes_part, double seconds, const std::function<void()>& work) const
{
    using Clock = std::chrono::steady_clock;
    constexpr int kLots = 4;
    const auto lot = [&](int times) { // seconds of one execution, the mean over so many
        synchronize_gpu();
        const auto begin = Clock::now();
        for (int i = 0; i < times; ++i)
            work();
        synchronize_gpu();
        return seconds_since(begin) / times;
    };
    meet();
    double first = 0;
    if (takes_part) {
        lot(1); // allocates, and fills caches
        first = lot(2);
    }
    const double once = most(first); // all ranks do as many, or a collective would wait for ever
    const int times = std::clamp(int(seconds / kLots / std::max(once, 1e-7)), 1, 20000);
    std::vector<double> lots;
    for (int i = 0; takes_part && i < (times == 1 ? 3 : kLots); ++i)
        lots.push_back(lot(times));
    return most(lots.empty() ? 0 : *std::min_element(lots.begin(), lots.end()));
}

} // namespace fourfold::trainer
