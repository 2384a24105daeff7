// SPDX-License-Identifier: GPL-3.0-or-later
// Texts with a number each, found from their first byte on: all that begin at one place in one walk.
#pragma once

#include "core/tokenizer/packed_map.h"

#include <string_view>

namespace fourfold {

class ByteTrie {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t(0);

    // The number of `text`, to be set; kNone where it had none.
    std::uint32_t& number_of(std::string_view text)
    {
        std::uint32_t node = 0;
        for (const char byte : text) {
            if (step(node, byte))
                continue;
            const auto made = static_cast<std::uint32_t>(numbers_.size());
            numbers_.push_back(kNone);
            edges_.insert(node, static_cast<unsigned char>(byte), {made, 0});
            node = made;
        }
        return numbers_[node];
    }
    // From a node (0: the beginning) to the next; false, and the node as it was, where no text goes on so.
    bool step(std::uint32_t& node, char byte) const
    {
        const PackedMap::Value* next = edges_.find(node, static_cast<unsigned char>(byte));
        if (next != nullptr)
            node = next->first;
        return next != nullptr;
    }
    // Of the text that ends at a node.
    [[nodiscard]] std::uint32_t at(std::uint32_t node) const { return numbers_[node]; }

private:
    PackedMap edges_; // (node, byte) -> node
    std::vector<std::uint32_t> numbers_{kNone}; // by node
};

} // namespace fourfold
