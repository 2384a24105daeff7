// SPDX-License-Identifier: GPL-3.0-or-later
// Random numbers by position: the n-th number of a stream is a pure function of (stream, n). Any rank can make any part
// of a stream without making what stands before it, which is how every mesh sees the same data and the same weights.
#pragma once

#include <cstdint>
#include <string_view>

namespace fourfold::trainer {

// The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
constexpr uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

constexpr uint64_t combine(uint64_t seed, uint64_t value)
{
    return mix(seed ^ mix(value));
}

// A stream's identity from a seed and a name (FNV-1a over the name).
constexpr uint64_t stream_of(uint64_t seed, std::string_view name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return combine(seed, hash);
}

constexpr uint64_t random_bits(uint64_t stream, uint64_t n)
{
    return combine(stream, n);
}

// Uniform in [0, 1) with 53 bits.
constexpr double random_unit(uint64_t stream, uint64_t n)
{
    return double(random_bits(stream, n) >> 11) * 0x1.0p-53;
}

} // namespace fourfold::trainer
