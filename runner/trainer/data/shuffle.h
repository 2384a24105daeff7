// SPDX-License-Identifier: GPL-3.0-or-later
// A shuffled order of the numbers below n, without a table: a Feistel network over the next larger power of four
// (Luby, Rackoff: "How to construct pseudorandom permutations from pseudorandom functions", 1988), and where it leads
// beyond n, once more ("cycle walking": Black, Rogaway: "Ciphers with arbitrary finite domains", 2002, section 3).
#pragma once

#include "runner/trainer/data/counter_random.h"

#include <bit>
#include <cstdint>

namespace fourfold::trainer {

// Which number stands at `place` of the order that `key` names. Precondition: 0 <= place < count. On average less than
// four passes through the network.
constexpr int64_t shuffled(int64_t place, int64_t count, uint64_t key)
{
    constexpr int kRounds = 12; // with six, neighbours among ten numbers stay neighbours 4 % too often
    const int half = (std::bit_width(uint64_t(count - 1)) + 1) / 2; // bits
    const uint64_t mask = (uint64_t(1) << half) - 1;
    auto x = uint64_t(place);
    do {
        uint64_t left = x >> half, right = x & mask;
        for (int round = 0; round < kRounds; ++round) {
            const uint64_t next = left ^ (random_bits(combine(key, uint64_t(round)), right) & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= uint64_t(count));
    return int64_t(x);
}

} // namespace fourfold::trainer
