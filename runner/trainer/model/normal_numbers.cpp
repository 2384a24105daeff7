// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/normal_numbers.h"

#include "runner/trainer/data/counter_random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace fourfold::trainer {

namespace {
constexpr std::size_t kPairs = 256;

// Only additions, multiplications and square roots, which IEEE 754 rounds in one way, in an order that is fixed here
// (the build has no fast-math and contracts nothing): replicas on different CPUs begin with the same weights. A
// library's log and cos differ by CPU. Polynomials: S. Moshier's Cephes library, logf.c and sinf.c.

// ln x, x in (0, 1], 1 ulp.
inline float logarithm(float x)
{
    constexpr uint32_t kHalfRoot = 0x3f3504f3; // sqrt(1/2)
    const uint32_t shifted = std::bit_cast<uint32_t>(x) - kHalfRoot;
    const auto exponent = float(static_cast<int32_t>(shifted) >> 23);
    const float z = std::bit_cast<float>((shifted & 0x007fffff) + kHalfRoot) - 1; // mantissa in [sqrt(1/2), sqrt(2))
    float p = 7.0376836292e-2f;
    for (const float c : {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
             2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f})
        p = p * z + c;
    const float square = z * z;
    return z + (square * z * p - 0.5f * square + exponent * -2.12194440e-4f) + exponent * 0.693359375f;
}

struct Turn {
    float cosine, sine;
};
// Of the angle 2 pi turn / 2^32.
inline Turn of_turn(uint32_t turn)
{
    // Quarter turns around the nearest axis: an angle in [-pi/4, pi/4).
    const uint32_t rounded = turn + 0x20000000u;
    const uint32_t quarter = rounded >> 30;
    const float x = float(static_cast<int32_t>(turn - (quarter << 30))) * 1.4629180792671596e-9f; // 2 pi / 2^32
    const float y = x * x;
    const float sine = x + x * y * ((-1.9515295891e-4f * y + 8.3321608736e-3f) * y - 1.6666654611e-1f);
    const float cosine
        = 1 - 0.5f * y + y * y * ((2.443315711809948e-5f * y - 1.388731625493765e-3f) * y + 4.166664568298827e-2f);
    const bool odd = (quarter & 1) != 0;
    const float along = odd ? sine : cosine, across = odd ? cosine : sine;
    return {(quarter + 1) & 2 ? -along : along, quarter & 2 ? -across : across};
}

// Numbers 2 pair and 2 pair + 1 of the stream, for kPairs pairs.
void make_pairs(uint64_t stream, uint64_t first_pair, std::size_t count, float* even, float* odd)
{
    std::array<uint32_t, kPairs> radii{}, turns{};
    for (std::size_t i = 0; i < count; ++i) {
        const uint64_t bits = random_bits(stream, first_pair + i);
        radii[i] = uint32_t(bits >> 32);
        turns[i] = uint32_t(bits);
    }
    for (std::size_t i = 0; i < count; ++i) {
        // Exact halves of 31-bit numbers: unsigned ones convert slowly.
        const float unit = (float(static_cast<int32_t>(radii[i] >> 1)) + 0.5f) * 0x1p-31f;
        const float radius = std::sqrt(-2 * logarithm(unit));
        const Turn turn = of_turn(turns[i]);
        even[i] = radius * turn.cosine;
        odd[i] = radius * turn.sine;
    }
}
} // namespace

void normal_numbers(uint64_t stream, uint64_t first, std::span<float> out)
{
    std::array<float, kPairs> even, odd;
    for (std::size_t done = 0; done < out.size();) {
        const uint64_t number = first + done;
        const std::size_t skipped = number % 2;
        const std::size_t wanted = std::min(out.size() - done, 2 * kPairs - skipped);
        make_pairs(stream, number / 2, (wanted + skipped + 1) / 2, even.data(), odd.data());
        for (std::size_t i = 0; i < wanted; ++i) {
            const std::size_t place = i + skipped;
            out[done + i] = place % 2 == 0 ? even[place / 2] : odd[place / 2];
        }
        done += wanted;
    }
}

} // namespace fourfold::trainer
