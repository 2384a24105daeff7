// SPDX-License-Identifier: GPL-3.0-or-later
// Facts of kernels, each kept once.
#pragma once

#include "core/profile/kernel_timeline.h"

#include <map>

namespace fourfold {

class KernelList {
public:
    KernelList() = default;
    KernelList(const KernelList&) = delete; // it holds places in itself
    KernelList& operator=(const KernelList&) = delete;
    std::uint32_t index_of(KernelFacts facts)
    {
        const auto [place, is_new] = places_.try_emplace(std::move(facts), static_cast<std::uint32_t>(places_.size()));
        if (is_new)
            order_.push_back(&place->first);
        return place->second;
    }
    // By an index that was given.
    [[nodiscard]] const KernelFacts& at(std::uint32_t index) const { return *order_[index]; }
    [[nodiscard]] std::vector<KernelFacts> take() const
    {
        std::vector<KernelFacts> list;
        list.reserve(order_.size());
        for (const KernelFacts* facts : order_)
            list.push_back(*facts);
        return list;
    }

private:
    std::map<KernelFacts, std::uint32_t> places_;
    std::vector<const KernelFacts*> order_; // keys of the map, which stay where they are
};

} // namespace fourfold
