// SPDX-License-Identifier: GPL-3.0-or-later
// Layouts of which none is beaten in speed, memory and number of GPUs at once.
#pragma once

#include "core/search/search.h"

#include <map>

namespace fourfold {

class ParetoFront {
public:
    void add(const FoundLayout& found);
    // True where a layout on as many GPUs is as fast with as little memory.
    [[nodiscard]] bool covers(int gpus, double memory_gib, double seconds_per_sequence) const;
    // By GPUs, then memory.
    [[nodiscard]] std::vector<FoundLayout> sorted() const;
    void merge(const ParetoFront& other);

private:
    // Of each number of GPUs the layouts of which none is faster with as little memory: by memory, step time per
    // sequence falling. Other numbers of GPUs are compared in sorted(), so that adding stays cheap.
    std::map<int, std::map<double, FoundLayout>> by_gpus_;
};

} // namespace fourfold
