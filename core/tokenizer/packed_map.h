// SPDX-License-Identifier: GPL-3.0-or-later
// A hash table from pairs of 32-bit numbers to pairs of them: one array, linear probing, at most half full. Merges and
// tries are looked up in it for every character of a corpus, where a node of std::unordered_map would be a cache miss.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace fourfold {

class PackedMap {
public:
    struct Value {
        std::uint32_t first = 0, second = 0;
    };

    // A key that is there already keeps its value.
    void insert(std::uint32_t a, std::uint32_t b, Value value)
    {
        if (2 * (used_ + 1) > slots_.size())
            grow();
        Slot& slot = slots_[place(key_of(a, b))];
        if (slot.key != kEmpty)
            return;
        slot = {key_of(a, b), value};
        ++used_;
    }
    // Null where there is none.
    [[nodiscard]] const Value* find(std::uint32_t a, std::uint32_t b) const
    {
        if (slots_.empty())
            return nullptr;
        const Slot& slot = slots_[place(key_of(a, b))];
        return slot.key == kEmpty ? nullptr : &slot.value;
    }

private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t(0); // no pair: ids are below 2^32 - 1
    struct Slot {
        std::uint64_t key = kEmpty;
        Value value;
    };

    static std::uint64_t key_of(std::uint32_t a, std::uint32_t b) { return std::uint64_t(a) << 32 | b; }
    [[nodiscard]] std::size_t place(std::uint64_t key) const
    {
        // Fibonacci hashing (Knuth, volume 3, section 6.4): the upper bits of the product.
        constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (key * kGolden) >> shift_;
        while (slots_[at].key != kEmpty && slots_[at].key != key)
            at = (at + 1) & mask;
        return at;
    }
    void grow()
    {
        constexpr std::size_t kFirst = 16;
        constexpr int kBits = 64;
        std::vector<Slot> old(slots_.empty() ? kFirst : 2 * slots_.size());
        old.swap(slots_);
        shift_ = kBits - std::countr_zero(slots_.size());
        for (const Slot& slot : old)
            if (slot.key != kEmpty)
                slots_[place(slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    int shift_ = 0;
};

} // namespace fourfold
