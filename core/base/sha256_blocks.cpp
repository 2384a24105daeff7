// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/sha256_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#else
#include <cassert>
#endif

namespace fourfold {

#if defined(__x86_64__)

namespace {
alignas(16) constexpr std::array<uint32_t, 64> kRounds{// FIPS 180-4, 4.2.2
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};
} // namespace

bool has_sha256_instructions()
{
    static const bool kHas = [] {
        unsigned a = 0, b = 0, c = 0, d = 0;
        const bool sse41 = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0 && (c & bit_SSSE3) != 0;
        return sse41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
    }();
    return kHas;
}

// The instructions keep the eight words a..h as (f, e, b, a) and (h, g, d, c), lowest first, and make two rounds each
// (Intel 64 manual, volume 2: SHA256RNDS2, SHA256MSG1, SHA256MSG2).
__attribute__((target("sha,sse4.1,ssse3"))) void add_sha256_blocks(
    Sha256Words& state, const unsigned char* blocks, std::size_t count)
{
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    auto* words = reinterpret_cast<__m128i*>(state.data());
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
    __m128i feba = _mm_alignr_epi8(badc, hgfe, 8);
    __m128i hgdc = _mm_blend_epi16(hgfe, badc, 0xf0);
    for (; count > 0; --count, blocks += 64) {
        const __m128i feba_before = feba, hgdc_before = hgdc;
        __m128i w[4]; // the message's words of the next sixteen rounds
        for (int i = 0; i < 4; ++i)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i), big_endian);
#pragma GCC unroll 16
        for (int four = 0; four < 16; ++four) { // rounds at a time
            const __m128i now = w[four % 4], next = w[(four + 1) % 4], third = w[(four + 2) % 4],
                          last = w[(four + 3) % 4];
            const __m128i input
                = _mm_add_epi32(now, _mm_load_si128(reinterpret_cast<const __m128i*>(kRounds.data()) + four));
            hgdc = _mm_sha256rnds2_epu32(hgdc, feba, input);
            feba = _mm_sha256rnds2_epu32(feba, hgdc, _mm_shuffle_epi32(input, 0x0e));
            if (four < 12) { // W[t] = s1(W[t-2]) + W[t-7] + s0(W[t-15]) + W[t-16]
                const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(now, next), _mm_alignr_epi8(last, third, 4));
                w[four % 4] = _mm_sha256msg2_epu32(sum, last);
            }
        }
        feba = _mm_add_epi32(feba, feba_before);
        hgdc = _mm_add_epi32(hgdc, hgdc_before);
    }
    const __m128i abef = _mm_shuffle_epi32(feba, 0x1b), ghcd = _mm_shuffle_epi32(hgdc, 0xb1);
    _mm_storeu_si128(words, _mm_blend_epi16(abef, ghcd, 0xf0));
    _mm_storeu_si128(words + 1, _mm_alignr_epi8(ghcd, abef, 8));
}

#else

bool has_sha256_instructions()
{
    return false;
}

void add_sha256_blocks(Sha256Words&, const unsigned char*, std::size_t)
{
    assert(false);
}

#endif

} // namespace fourfold
