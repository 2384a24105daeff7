// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/training.h"

#include <algorithm>

namespace fourfold {

template <>
std::vector<std::string> spellings<Schedule>()
{
    std::vector<std::string> words;
    for (const ScheduleTraits& traits : schedules()) {
        if (traits.generator != nullptr)
            words.emplace_back(traits.name);
    }
    return words;
}

std::string schedule_name(const Training& training)
{
    return training.schedule_csv.empty() ? to_text(training.schedule) : training.schedule_csv;
}

int recomputed_layers(const Training& training, int first, int layers)
{
    const auto up_to = [&](int count) {
        const int recomputing = count / training.recompute_every;
        return training.recompute_layers ? std::min(recomputing, *training.recompute_layers) : recomputing;
    };
    return up_to(first + layers) - up_to(first);
}

int offloaded_layers(const Training& training, int first, int layers)
{
    if (training.offload != Offload::activations)
        return 0;
    const int most = training.offload_layers.value_or(first + layers);
    return std::min(first + layers, most) - std::min(first, most);
}

double bytes_per_element(Precision precision)
{
    switch (precision) {
    case Precision::fp32:
        return 4;
    case Precision::fp16:
    case Precision::bf16:
        return 2;
    case Precision::nvfp4:
        return 0.5 + 1.0 / 16; // a scale of a byte for each 16 (NVIDIA, arXiv:2509.25149, section 2)
    case Precision::fp8:
        break;
    }
    return 1;
}

} // namespace fourfold
