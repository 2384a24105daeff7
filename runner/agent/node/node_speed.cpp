// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/node/node_speed.h"

#include "runner/agent/node/numa.h"
#include "runner/agent/system/processes.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace fourfold {

namespace {

constexpr double kMeasuredSeconds = 0.3; // of each measurement
constexpr std::size_t kCopyBytes = 32u << 20; // of each thread: beyond the caches
// One tile of a matrix product, small enough for the first cache: C[rows x columns] += A[rows x depth] * B.
constexpr int kRows = 6, kColumns = 32, kDepth = 256;

// The compiler vectorizes the inner loop for each instruction set; all three keep C in registers.
#define FOURFOLD_TILE(name, target_text)                                                                               \
    __attribute__((target(target_text), optimize("O3,fast-math,unroll-loops"), noinline)) void name(                   \
        const float* a, const float* b, float* c)                                                                      \
    {                                                                                                                  \
        float sum[kRows][kColumns] = {};                                                                               \
        for (int k = 0; k < kDepth; ++k)                                                                               \
            for (int i = 0; i < kRows; ++i)                                                                            \
                for (int j = 0; j < kColumns; ++j)                                                                     \
                    sum[i][j] += a[k * kRows + i] * b[k * kColumns + j];                                               \
        for (int i = 0; i < kRows; ++i)                                                                                \
            for (int j = 0; j < kColumns; ++j)                                                                         \
                c[i * kColumns + j] += sum[i][j];                                                                      \
    }

using Tile = void (*)(const float*, const float*, float*);

#if defined(__x86_64__)
FOURFOLD_TILE(tile_avx512, "avx512f,avx512vl,fma,prefer-vector-width=512")
FOURFOLD_TILE(tile_avx2, "avx2,fma")
FOURFOLD_TILE(tile_plain, "sse2")

std::pair<Tile, const char*> best_tile()
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return {tile_avx512, "avx512"};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return {tile_avx2, "avx2"};
    return {tile_plain, "sse2"};
}
#else
void tile_plain(const float* a, const float* b, float* c)
{
    for (int k = 0; k < kDepth; ++k)
        for (int i = 0; i < kRows; ++i)
            for (int j = 0; j < kColumns; ++j)
                c[i * kColumns + j] += a[k * kRows + i] * b[k * kColumns + j];
}

std::pair<Tile, const char*> best_tile()
{
    return {tile_plain, "generic"};
}
#endif

// `work` says how much it did a second, after its preparations and in one turn at least: on a busy node a thread may
// come to its turn only when the time is over. The sum over all threads.
double rate(std::size_t threads, const std::function<double(const std::atomic<bool>&)>& work)
{
    std::vector<double> done(threads);
    std::atomic<bool> stop = false;
    {
        std::vector<std::jthread> all;
        const double begin = monotonic_seconds();
        for (std::size_t i = 0; i < threads; ++i)
            all.emplace_back([&, i] { done[i] = work(stop); });
        while (monotonic_seconds() - begin < kMeasuredSeconds)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        stop = true;
    }
    double sum = 0;
    for (const double one : done)
        sum += one;
    return sum;
}

double copy_until(const std::atomic<bool>& stop)
{
    std::vector<char> from(kCopyBytes, 'a'), to(kCopyBytes, 'b');
    double bytes = 0;
    const double begin = monotonic_seconds();
    do {
        std::memcpy(to.data(), from.data(), kCopyBytes);
        std::swap(from, to);
        bytes += 2.0 * kCopyBytes;
    } while (!stop);
    return bytes / (monotonic_seconds() - begin);
}

} // namespace

Json measure_speed()
{
    const std::size_t threads = std::max<std::size_t>(1, usable_cores().size());
    const auto [tile, instructions] = best_tile();
    const double bandwidth = rate(threads, copy_until);
    const double flops = rate(threads, [tile = tile](const std::atomic<bool>& stop) {
        std::vector<float> a(kRows * kDepth, 1e-3F), b(kColumns * kDepth, 1e-3F), c(kRows * kColumns, 0.0F);
        double done = 0;
        const double begin = monotonic_seconds();
        do {
            for (int i = 0; i < 256; ++i)
                tile(a.data(), b.data(), c.data());
            done += 256.0 * 2 * kRows * kColumns * kDepth;
        } while (!stop);
        return done / (monotonic_seconds() - begin);
    });
    return {{"threads", threads}, {"memory_bandwidth_gb_s", bandwidth / 1e9}, {"gemm_tflops_fp32", flops / 1e12},
        {"instructions", instructions}};
}

} // namespace fourfold
