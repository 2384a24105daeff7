// SPDX-License-Identifier: GPL-3.0-or-later
// Facts of kernels, each kept once.
#pragma once

#include "core/profile/kernel_timeline.h"

#include <map>

namespace fourfold {

class KernelList {
public:
    std::uint32_t index_of(KernelFacts facts)
    {
        const auto [place, is_new] = places_.try_emplace(std::move(facts), static_cast<std::uint32_t>(places_.size()));
        return place->second;
    }
    [[nodiscard]] std::vector<KernelFacts> take() const
    {
        std::vector<KernelFacts> list(places_.size());
        for (const auto& [facts, index] : places_)
            list[index] = facts;
        return list;
    }

private:
    std::map<KernelFacts, std::uint32_t> places_;
};

} // namespace fourfold
