// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/cpu_loops.h"

#include "runner/trainer/kernels/elements.h"

#include <cmath>
#include <vector>

// The program runs on any x86-64; where the processor has AVX2 and FMA, the loader takes the version that uses them.
// Sanitizers start too late for that choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)                  \
    && !defined(__SANITIZE_THREAD__)
#define FOURFOLD_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define FOURFOLD_CLONES
#endif
#define FOURFOLD_INLINE __attribute__((always_inline)) inline

namespace fourfold::trainer {

namespace {
// Sums in this many lanes, which the compiler may keep in vectors: one running sum would fix the order.
constexpr int64_t kLanes = 16;

template <typename T, typename Term>
FOURFOLD_INLINE T sum_of(int64_t count, const Term& term)
{
    T lanes[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] += term(i + lane);
    T sum = 0;
    for (const T lane : lanes)
        sum += lane;
    for (; i < count; ++i)
        sum += term(i);
    return sum;
}

template <typename T>
FOURFOLD_INLINE void norm_rows(const T* x, const T* weight, int64_t rows, int64_t width, double eps, T* y, T* scale)
{
    for (int64_t row = 0; row < rows; ++row, x += width, y += width) {
        const T squares = sum_of<T>(
            width, [&](int64_t i) __attribute__((always_inline)) { return x[i] * x[i]; });
        const T factor = scale[row] = T(1 / std::sqrt(double(squares) / double(width) + eps));
        for (int64_t i = 0; i < width; ++i)
            y[i] = x[i] * factor * weight[i];
    }
}

// With g = slope * weight: x_slope = scale * (g - x * scale^2 * mean(g * x)).
template <typename T>
FOURFOLD_INLINE void norm_slopes(const T* slope, const T* x, const T* weight, const T* scale, int64_t rows,
    int64_t width, T* x_slope, T* weight_slope)
{
    constexpr int64_t kBlock = 32; // rows that are added up in T before their sum goes to fp64
    std::vector<T> block(std::size_t(width), T(0));
    std::vector<double> total(std::size_t(width), 0.0);
    T* const part = block.data();
    double* const whole = total.data();
    for (int64_t row = 0; row < rows; ++row, x += width, slope += width, x_slope += width) {
        const T factor = scale[row];
        const T dot = sum_of<T>(
            width, [&](int64_t i) __attribute__((always_inline)) { return slope[i] * weight[i] * x[i]; });
        const T back = T(double(dot) / double(width)) * factor * factor;
        for (int64_t i = 0; i < width; ++i) {
            x_slope[i] = factor * (slope[i] * weight[i] - x[i] * back);
            part[i] += slope[i] * x[i] * factor;
        }
        if ((row + 1) % kBlock == 0 || row + 1 == rows)
            for (int64_t i = 0; i < width; ++i) {
                whole[i] += double(part[i]);
                part[i] = 0;
            }
    }
    for (int64_t i = 0; i < width; ++i)
        weight_slope[i] = T(whole[i]);
}

template <typename T>
FOURFOLD_INLINE void turn_rows(const T* x, const T* cosine, const T* sine, int64_t positions, int64_t rows,
    int64_t half, int direction, T* __restrict y)
{
    const T sign = T(direction);
    for (int64_t position = 0; position < positions; ++position, cosine += half, sine += half)
        for (int64_t row = 0; row < rows; ++row, x += 2 * half, y += 2 * half)
            for (int64_t i = 0; i < half; ++i) {
                const Pair<T> pair = turned(x[i], x[half + i], cosine[i], sign * sine[i]);
                y[i] = pair.first;
                y[half + i] = pair.second;
            }
}

template <typename T>
FOURFOLD_INLINE void gated_all(const T* gate, const T* sigmoid, const T* up, int64_t count, T* __restrict y)
{
    for (int64_t i = 0; i < count; ++i)
        y[i] = gate[i] * sigmoid[i] * up[i];
}

template <typename T>
FOURFOLD_INLINE void gated_all_slopes(const T* slope, const T* gate, const T* sigmoid, const T* up, int64_t count,
    T* __restrict gate_slope, T* __restrict up_slope)
{
    for (int64_t i = 0; i < count; ++i) {
        const Pair<T> slopes = gated_slope(slope[i], gate[i], sigmoid[i], up[i]);
        gate_slope[i] = slopes.first;
        up_slope[i] = slopes.second;
    }
}
} // namespace

#define FOURFOLD_BOTH_TYPES(T)                                                                                         \
    FOURFOLD_CLONES void rms_norm_rows(                                                                                \
        const T* x, const T* weight, int64_t rows, int64_t width, double eps, T* y, T* scale)                          \
    {                                                                                                                  \
        norm_rows(x, weight, rows, width, eps, y, scale);                                                              \
    }                                                                                                                  \
    FOURFOLD_CLONES void rms_norm_slopes(const T* slope, const T* x, const T* weight, const T* scale, int64_t rows,    \
        int64_t width, T* x_slope, T* weight_slope)                                                                    \
    {                                                                                                                  \
        norm_slopes(slope, x, weight, scale, rows, width, x_slope, weight_slope);                                      \
    }                                                                                                                  \
    FOURFOLD_CLONES void turn(const T* x, const T* cosine, const T* sine, int64_t positions, int64_t rows,             \
        int64_t half, int direction, T* y)                                                                             \
    {                                                                                                                  \
        turn_rows(x, cosine, sine, positions, rows, half, direction, y);                                               \
    }                                                                                                                  \
    FOURFOLD_CLONES void gated(const T* gate, const T* sigmoid, const T* up, int64_t count, T* y)                      \
    {                                                                                                                  \
        gated_all(gate, sigmoid, up, count, y);                                                                        \
    }                                                                                                                  \
    FOURFOLD_CLONES void gated_slopes(                                                                                 \
        const T* slope, const T* gate, const T* sigmoid, const T* up, int64_t count, T* gate_slope, T* up_slope)       \
    {                                                                                                                  \
        gated_all_slopes(slope, gate, sigmoid, up, count, gate_slope, up_slope);                                       \
    }

FOURFOLD_BOTH_TYPES(float)
FOURFOLD_BOTH_TYPES(double)

} // namespace fourfold::trainer
