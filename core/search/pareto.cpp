// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/pareto.h"

namespace fourfold {
namespace {

// Seconds by memory, such that more memory always means less time.
template <typename Value, typename Seconds>
bool beaten(const std::map<double, Value>& front, double memory, double seconds, const Seconds& seconds_of)
{
    // The last entry with at most this memory is the fastest of those.
    const auto after = front.upper_bound(memory);
    return after != front.begin() && seconds_of(std::prev(after)->second) <= seconds;
}

template <typename Value, typename Seconds>
void insert(std::map<double, Value>& front, double memory, const Value& value, const Seconds& seconds_of)
{
    auto after = front.lower_bound(memory);
    while (after != front.end() && seconds_of(after->second) >= seconds_of(value))
        after = front.erase(after);
    front.insert_or_assign(memory, value);
}

double seconds_of(const FoundLayout& found)
{
    return found.seconds_per_sequence;
}

double memory_of(const FoundLayout& found)
{
    return found.figures.memory_device_gib;
}

} // namespace

void ParetoFront::add(const FoundLayout& found)
{
    auto& front = by_gpus_[found.candidate.gpus()];
    const double memory = memory_of(found), seconds = seconds_of(found);
    if (beaten(front, memory, seconds, seconds_of)) {
        // Of two alike the first in the order of candidates stays, whatever order they come in.
        const auto twin = front.find(memory);
        const bool same = twin != front.end() && seconds_of(twin->second) == seconds;
        if (same && found.candidate < twin->second.candidate)
            twin->second = found;
        return;
    }
    insert(front, memory, found, seconds_of);
}

bool ParetoFront::covers(int gpus, double memory_gib, double seconds_per_sequence) const
{
    const auto front = by_gpus_.find(gpus);
    // A tie may still come first in the order of candidates.
    return front != by_gpus_.end() && beaten(front->second, memory_gib, seconds_per_sequence * (1 - 1e-9), seconds_of);
}

void ParetoFront::merge(const ParetoFront& other)
{
    for (const auto& [gpus, front] : other.by_gpus_) {
        for (const auto& [memory, found] : front)
            add(found);
    }
}

std::vector<FoundLayout> ParetoFront::sorted() const
{
    std::vector<FoundLayout> list;
    const auto itself = [](double seconds) { return seconds; };
    std::map<double, double> fewer; // of all smaller numbers of GPUs, which a layout on more of them must beat
    for (const auto& [gpus, front] : by_gpus_) {
        std::vector<FoundLayout> fresh;
        for (const auto& [memory, found] : front) {
            if (!beaten(fewer, memory, seconds_of(found), itself))
                fresh.push_back(found);
        }
        for (const FoundLayout& found : fresh)
            insert(fewer, memory_of(found), seconds_of(found), itself);
        list.insert(list.end(), fresh.begin(), fresh.end());
    }
    return list;
}

} // namespace fourfold
