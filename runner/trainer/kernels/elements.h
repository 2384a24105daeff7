// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic of single elements that the loops of the CPU (cpu_loops.cpp) and the kernels of a GPU (launches.cu,
// updates.cu) share, and that of 8 bits as the GPU's kernels do it (rounding.cu).
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define FOURFOLD_ELEMENT __host__ __device__ __forceinline__
#else
#define FOURFOLD_ELEMENT __attribute__((always_inline)) inline
#endif

namespace fourfold::trainer {

template <typename T>
struct Pair {
    T first, second;
};

// Turned by the angle of this cosine and sine.
template <typename T>
FOURFOLD_ELEMENT Pair<T> turned(T first, T second, T cosine, T sine)
{
    return {first * cosine - second * sine, second * cosine + first * sine};
}

// A gated activation: g s(a g) (u + shift), g the gate up to `limit` and u the up between -limit and limit, s the
// sigmoid, a its steepness. As it stands SwiGLU (Shazeer 2020, arXiv:2002.05202).
template <typename T>
struct GateForm {
    T steepness = 1, limit = T(INFINITY), shift = 0;
};
// That of GPT-OSS (arXiv:2508.10925, section 2): (u + 1) g s(1.702 g). x s(1.702 x) is near to GELU (arXiv:1606.08415,
// section 2).
constexpr double kGluSteepness = 1.702;
template <typename T>
GateForm<T> clamped_form(double limit)
{
    return {T(kGluSteepness), T(limit), 1};
}

// What is no number stays none.
template <typename T>
FOURFOLD_ELEMENT T at_most(T x, T limit)
{
    return x > limit ? limit : x;
}
template <typename T>
FOURFOLD_ELEMENT T within(T x, T limit)
{
    return x < -limit ? -limit : at_most(x, limit);
}

// `sigmoid`: of steepness times the gate up to the limit.
template <typename T>
FOURFOLD_ELEMENT T gated_element(const GateForm<T>& form, T gate, T sigmoid, T up)
{
    return at_most(gate, form.limit) * sigmoid * (within(up, form.limit) + form.shift);
}

// d (g s(a g)) / dg = s (1 + a g (1 - s)). Gradients of gate and up from that of the result; none beyond the limit.
template <typename T>
FOURFOLD_ELEMENT Pair<T> gated_slope(const GateForm<T>& form, T slope, T gate, T sigmoid, T up)
{
    const T g = at_most(gate, form.limit), u = within(up, form.limit);
    const T of_gate = slope * (u + form.shift) * sigmoid * (T(1) + form.steepness * g * (T(1) - sigmoid));
    const T of_up = slope * g * sigmoid;
    return {gate > form.limit ? T(0) : of_gate, up > form.limit || up < -form.limit ? T(0) : of_up};
}

FOURFOLD_ELEMENT float square_root(float x)
{
    return sqrtf(x);
}
FOURFOLD_ELEMENT double square_root(double x)
{
    return sqrt(x);
}

// One update of AdamW (Loshchilov, Hutter 2019, arXiv:1711.05101, algorithm 2), or of Adam with L2 decay.
template <typename T>
struct AdamFactors {
    T gradient_scale, l2; // what is added to a gradient: l2 * weight
    T beta1, rest1, beta2, rest2; // rest: 1 - beta
    T kept; // of a weight by decay that is apart from the gradient
    T rate, root; // learning rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t)
    T eps;
};
template <typename T>
FOURFOLD_ELEMENT void adam_element(const AdamFactors<T>& of, T gradient, T& master, T& first, T& second)
{
    const T slope = gradient * of.gradient_scale + of.l2 * master;
    first = of.beta1 * first + of.rest1 * slope;
    second = of.beta2 * second + of.rest2 * slope * slope;
    master = of.kept * master - of.rate * first / (square_root(second) * of.root + of.eps);
}

// As c10::BFloat16 lies in memory.
struct Brain16 {
    uint16_t bits;
};

// Sum of exp(x - highest) over all x so far, in one pass (Milakov and Gimelshein 2018, arXiv:1805.02867). No x, or -inf
// alone: highest -inf and sum 0. A NaN or +inf makes the sum NaN.
struct ExponentialSum {
    float highest = -INFINITY, sum = 0;

    template <int n>
    FOURFOLD_ELEMENT void add(const float (&x)[n])
    {
        float most = highest;
        for (int i = 0; i < n; ++i)
            most = fmaxf(most, x[i]);
        if (most > highest)
            sum *= expf(highest - finite(most));
        for (int i = 0; i < n; ++i)
            sum += expf(x[i] - finite(most));
        highest = most;
    }
    FOURFOLD_ELEMENT void add(const ExponentialSum& other)
    {
        const float most = fmaxf(highest, other.highest);
        sum = sum * expf(highest - finite(most)) + other.sum * expf(other.highest - finite(most));
        highest = most;
    }

private:
    // -inf - -inf would be no number, where exp(-inf) is to be 0.
    FOURFOLD_ELEMENT static float finite(float most) { return most == -INFINITY ? 0 : most; }
};

FOURFOLD_ELEMENT uint32_t bits_of(float x)
{
    uint32_t bits = 0;
    __builtin_memcpy(&bits, &x, sizeof(x));
    return bits;
}
FOURFOLD_ELEMENT float of_bits(uint32_t bits)
{
    float x = 0;
    __builtin_memcpy(&x, &bits, sizeof(x));
    return x;
}
// Ordered as magnitudes are: infinity above all numbers, NaN above infinity.
FOURFOLD_ELEMENT uint32_t magnitude_bits(float x)
{
    return bits_of(x) & 0x7FFFFFFFU;
}
constexpr uint32_t kInfinityBits = 0x7F800000U;

enum class Narrow { e4m3, e5m2 }; // numbers of 8 bits
enum class ScaleKind {
    exact, // largest number of the format / largest magnitude
    power_of_two, // that, rounded down to a power of two: no number is cut off
    e8m0, // OCP MX v1.0, section 6.3: 2^(exponent of the largest magnitude - exponent of the format's largest number)
};

FOURFOLD_ELEMENT float largest_number(Narrow type)
{
    return type == Narrow::e4m3 ? 448 : 57344; // 1.75 * 2^8, 1.75 * 2^15
}

// 2 to the largest whole number that is not above log2(x): frexp gives x = mantissa * 2^exponent, mantissa in [0.5, 1).
FOURFOLD_ELEMENT float power_below(float x)
{
    int exponent = 0;
    frexpf(x, &exponent);
    return ldexpf(1, exponent - 1);
}

// By what a block's elements are multiplied. `largest`: magnitude of them; NaN makes all of them NaN.
constexpr double kSmallestMagnitude = 1e-12; // below it a block is taken for zeros (as torchao does)
FOURFOLD_ELEMENT float scale_of(float largest, Narrow type, ScaleKind kind)
{
    const float magnitude = largest < float(kSmallestMagnitude) ? float(kSmallestMagnitude) : largest;
    if (kind == ScaleKind::e8m0)
        return 1 / power_below(magnitude) * (type == Narrow::e4m3 ? 256 : 32768);
    const float scale = 1 / magnitude * largest_number(type);
    return kind == ScaleKind::power_of_two ? power_below(scale) : scale;
}

// To nearest even, what is too large to the largest number. NaN keeps its sign.
template <Narrow type>
FOURFOLD_ELEMENT uint8_t narrowed(float x)
{
    constexpr int kMantissa = type == Narrow::e4m3 ? 3 : 2, kBias = type == Narrow::e4m3 ? 7 : 15;
    constexpr int kWideMantissa = 23, kWideBias = 127, kDropped = kWideMantissa - kMantissa;
    constexpr uint32_t kNormal = uint32_t(kWideBias - kBias + 1) << kWideMantissa; // smallest one of the format
    // Its last place is that of the format's subnormal numbers: fp32's own sum rounds to them.
    constexpr uint32_t kSamePlace = kNormal + (uint32_t(kDropped) << kWideMantissa);
    const uint32_t sign = bits_of(x) >> 31 << 7, any = magnitude_bits(x), most = bits_of(largest_number(type));
    if (any > kInfinityBits)
        return uint8_t(sign | 0x7F);
    const uint32_t bits = any < most ? any : most;
    if (bits < kNormal)
        return uint8_t(sign | (bits_of(of_bits(bits) + of_bits(kSamePlace)) - kSamePlace));
    const uint32_t odd = bits >> kDropped & 1, half = (1U << (kDropped - 1)) - 1;
    return uint8_t(sign | ((bits - (uint32_t(kWideBias - kBias) << kWideMantissa) + half + odd) >> kDropped));
}

} // namespace fourfold::trainer
