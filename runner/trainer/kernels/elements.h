// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic of single elements that the loops of the CPU (cpu_loops.cpp) and the kernels of a GPU (launches.cu) share.
#pragma once

#include <cmath>

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

// d (g s(g)) / dg = s (1 + g (1 - s)). Gradients of gate and up from that of gate * sigmoid * up.
template <typename T>
FOURFOLD_ELEMENT Pair<T> gated_slope(T slope, T gate, T sigmoid, T up)
{
    return {slope * up * sigmoid * (T(1) + gate * (T(1) - sigmoid)), slope * gate * sigmoid};
}

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

} // namespace fourfold::trainer
