// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/cpu_loops.h"

#include "runner/trainer/kernels/elements.h"

#include <algorithm>
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

// Of x, or where it adds, of sum = x + more.
template <bool adds, typename T>
FOURFOLD_INLINE void norm_rows(
    const T* x, const T* more, const T* weight, int64_t rows, int64_t width, double eps, T* sum, T* y, T* scale)
{
    for (int64_t row = 0; row < rows; ++row, y += width) {
        if constexpr (adds) {
            for (int64_t i = 0; i < width; ++i)
                sum[i] = x[i] + more[i];
            more += width;
        }
        const T* const own = adds ? sum : x;
        const T squares = sum_of<T>(
            width, [&](int64_t i) __attribute__((always_inline)) { return own[i] * own[i]; });
        const T factor = scale[row] = T(1 / std::sqrt(double(squares) / double(width) + eps));
        for (int64_t i = 0; i < width; ++i)
            y[i] = own[i] * factor * weight[i];
        x += width;
        if constexpr (adds)
            sum += width;
    }
}

// With g = slope * weight: x_slope = scale * (g - x * scale^2 * mean(g * x)), on top of `sum_slope` where it adds.
template <bool adds, typename T>
FOURFOLD_INLINE void norm_slopes(const T* sum_slope, const T* slope, const T* x, const T* weight, const T* scale,
    int64_t rows, int64_t width, T* x_slope, T* weight_slope)
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
            const T own = factor * (slope[i] * weight[i] - x[i] * back);
            x_slope[i] = adds ? sum_slope[i] + own : own;
            part[i] += slope[i] * x[i] * factor;
        }
        if constexpr (adds)
            sum_slope += width;
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
FOURFOLD_INLINE void gated_all(
    const GateForm<T>& form, const T* gate, const T* sigmoid, const T* up, int64_t count, T* __restrict y)
{
    const GateForm<T> own = form;
    for (int64_t i = 0; i < count; ++i)
        y[i] = gated_element(own, gate[i], sigmoid[i], up[i]);
}

template <typename T>
FOURFOLD_INLINE void gated_all_slopes(const GateForm<T>& form, const T* slope, const T* gate, const T* sigmoid,
    const T* up, int64_t count, T* __restrict gate_slope, T* __restrict up_slope)
{
    const GateForm<T> own = form;
    for (int64_t i = 0; i < count; ++i) {
        const Pair<T> slopes = gated_slope(own, slope[i], gate[i], sigmoid[i], up[i]);
        gate_slope[i] = slopes.first;
        up_slope[i] = slopes.second;
    }
}
FOURFOLD_INLINE float wide(Brain16 x)
{
    return of_bits(uint32_t(x.bits) << 16);
}
template <typename T>
FOURFOLD_INLINE T wide(T x)
{
    return x;
}
FOURFOLD_INLINE void put(float x, Brain16& to)
{
    const uint32_t bits = bits_of(x), odd = bits >> 16 & 1; // to nearest even
    to.bits = magnitude_bits(x) > kInfinityBits ? uint16_t(bits >> 16 | 0x40) : uint16_t((bits + 0x7FFF + odd) >> 16);
}
template <typename T>
FOURFOLD_INLINE void put(T x, T& to)
{
    to = x;
}

template <typename T, typename Gradient, typename Moment>
FOURFOLD_INLINE void adam_all(const AdamFactors<T>& factors, const Gradient* __restrict gradient, int64_t count,
    T* __restrict master, Moment* __restrict first, Moment* __restrict second)
{
    const AdamFactors<T> own = factors;
    for (int64_t i = 0; i < count; ++i) {
        T mean = wide(first[i]), square = wide(second[i]);
        adam_element(own, T(wide(gradient[i])), master[i], mean, square);
        put(mean, first[i]);
        put(square, second[i]);
    }
}

// Rows in T, their sum in fp64.
template <typename T, typename X>
FOURFOLD_INLINE double squares_of(const X* x, int64_t count)
{
    constexpr int64_t kRow = 1024;
    double sum = 0;
    for (int64_t begin = 0; begin < count; begin += kRow) {
        const X* const row = x + begin;
        sum += double(sum_of<T>(
            std::min(kRow, count - begin), [&](int64_t i) __attribute__((always_inline)) {
                const T value = wide(row[i]);
                return value * value;
            }));
    }
    return sum;
}
} // namespace

#define FOURFOLD_BOTH_TYPES(T)                                                                                         \
    FOURFOLD_CLONES void rms_norm_rows(                                                                                \
        const T* x, const T* weight, int64_t rows, int64_t width, double eps, T* y, T* scale)                          \
    {                                                                                                                  \
        norm_rows<false, T>(x, nullptr, weight, rows, width, eps, nullptr, y, scale);                                  \
    }                                                                                                                  \
    FOURFOLD_CLONES void rms_norm_slopes(const T* slope, const T* x, const T* weight, const T* scale, int64_t rows,    \
        int64_t width, T* x_slope, T* weight_slope)                                                                    \
    {                                                                                                                  \
        norm_slopes<false, T>(nullptr, slope, x, weight, scale, rows, width, x_slope, weight_slope);                   \
    }                                                                                                                  \
    FOURFOLD_CLONES void normed_sum_rows(                                                                              \
        const T* x, const T* more, const T* weight, int64_t rows, int64_t width, double eps, T* sum, T* y, T* scale)   \
    {                                                                                                                  \
        norm_rows<true, T>(x, more, weight, rows, width, eps, sum, y, scale);                                          \
    }                                                                                                                  \
    FOURFOLD_CLONES void normed_sum_slopes(const T* sum_slope, const T* slope, const T* sum, const T* weight,          \
        const T* scale, int64_t rows, int64_t width, T* x_slope, T* weight_slope)                                      \
    {                                                                                                                  \
        norm_slopes<true, T>(sum_slope, slope, sum, weight, scale, rows, width, x_slope, weight_slope);                \
    }                                                                                                                  \
    FOURFOLD_CLONES void turn(const T* x, const T* cosine, const T* sine, int64_t positions, int64_t rows,             \
        int64_t half, int direction, T* y)                                                                             \
    {                                                                                                                  \
        turn_rows(x, cosine, sine, positions, rows, half, direction, y);                                               \
    }                                                                                                                  \
    FOURFOLD_CLONES void gated(                                                                                        \
        const GateForm<T>& form, const T* gate, const T* sigmoid, const T* up, int64_t count, T* y)                    \
    {                                                                                                                  \
        gated_all(form, gate, sigmoid, up, count, y);                                                                  \
    }                                                                                                                  \
    FOURFOLD_CLONES void gated_slopes(const GateForm<T>& form, const T* slope, const T* gate, const T* sigmoid,        \
        const T* up, int64_t count, T* gate_slope, T* up_slope)                                                        \
    {                                                                                                                  \
        gated_all_slopes(form, slope, gate, sigmoid, up, count, gate_slope, up_slope);                                 \
    }

FOURFOLD_BOTH_TYPES(float)
FOURFOLD_BOTH_TYPES(double)

#define FOURFOLD_UPDATE(T, Gradient, Moment)                                                                           \
    FOURFOLD_CLONES void adam(const AdamFactors<T>& factors, const Gradient* gradient, int64_t count, T* master,       \
        Moment* first, Moment* second)                                                                                 \
    {                                                                                                                  \
        adam_all(factors, gradient, count, master, first, second);                                                     \
    }
#define FOURFOLD_SQUARES(T, X)                                                                                         \
    FOURFOLD_CLONES double sum_of_squares(const X* x, int64_t count)                                                   \
    {                                                                                                                  \
        return squares_of<T>(x, count);                                                                                \
    }

FOURFOLD_UPDATE(float, float, float)
FOURFOLD_UPDATE(double, double, double)
FOURFOLD_UPDATE(float, float, Brain16)
FOURFOLD_UPDATE(float, Brain16, float)
FOURFOLD_UPDATE(float, Brain16, Brain16)
FOURFOLD_SQUARES(float, float)
FOURFOLD_SQUARES(double, double)
FOURFOLD_SQUARES(float, Brain16)

} // namespace fourfold::trainer
