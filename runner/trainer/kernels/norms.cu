// SPDX-License-Identifier: GPL-3.0-or-later
// The residual stream with what a region adds to it, and its norm for the next region.
#include "runner/trainer/kernels/launches.h"

#include "runner/trainer/kernels/vectors.h"

#include <type_traits>

namespace fourfold::trainer {

namespace {
constexpr int kNormThreads = 512;

// A block for each row. Each thread comes back to the columns that it wrote: they are still in the cache.
template <typename T, int n>
__global__ void __launch_bounds__(kNormThreads)
    normed_sum_kernel(RowShape shape, float eps, const T* x, const T* more, const T* weight, T* sum, T* y, float* scale)
{
    __shared__ float room[kNormThreads / kWarp];
    const int width = int(shape.width), step = kNormThreads * n;
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        const int64_t begin = row * shape.width;
        float squares = 0;
        for (int column = int(threadIdx.x) * n; column < width; column += step) {
            float a[n], b[n];
            load(x + begin + column, a);
            load(more + begin + column, b);
#pragma unroll
            for (int i = 0; i < n; ++i) {
                a[i] = float(T(a[i] + b[i])); // as the sum is in memory
                squares += a[i] * a[i];
            }
            store(a, sum + begin + column);
        }
        const float factor = 1 / sqrtf(sum_over_block<kNormThreads>(squares, room) / float(width) + eps);
        if (threadIdx.x == 0)
            scale[row] = factor;
        for (int column = int(threadIdx.x) * n; column < width; column += step) {
            float a[n], w[n];
            load(sum + begin + column, a);
            load(weight + column, w);
#pragma unroll
            for (int i = 0; i < n; ++i)
                a[i] = a[i] * factor * w[i];
            store(a, y + begin + column);
        }
    }
}

// As norm_slopes() of cpu_loops.cpp. A block has a part of the rows, and a thread always the same columns: what it adds
// up of the weight's gradient is nobody else's.
template <typename T, int n>
__global__ void __launch_bounds__(kNormThreads)
    normed_sum_slopes_kernel(RowShape shape, NormSlopes of, T* x_slope, float* weight_parts)
{
    __shared__ float room[kNormThreads / kWarp];
    const int width = int(shape.width), first = int(threadIdx.x) * n, step = kNormThreads * n;
    const T *const weight = static_cast<const T*>(of.weight), *const sums = static_cast<const T*>(of.sum),
                   *const slopes = static_cast<const T*>(of.slope),
                   *const sum_slopes = static_cast<const T*>(of.sum_slope);
    float* const part = weight_parts + blockIdx.x * shape.width;
    for (int column = first; column < width; column += step)
#pragma unroll
        for (int i = 0; i < n; ++i)
            part[column + i] = 0;
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        const int64_t begin = row * shape.width;
        float dot = 0;
        for (int column = first; column < width; column += step) {
            float x[n], w[n], d[n];
            load(sums + begin + column, x);
            load(weight + column, w);
            load(slopes + begin + column, d);
#pragma unroll
            for (int i = 0; i < n; ++i)
                dot += d[i] * w[i] * x[i];
        }
        const float factor = of.scale[row];
        const float back = sum_over_block<kNormThreads>(dot, room) / float(width) * factor * factor;
        for (int column = first; column < width; column += step) {
            float x[n], w[n], d[n], all[n];
            load(sums + begin + column, x);
            load(weight + column, w);
            load(slopes + begin + column, d);
            load(sum_slopes + begin + column, all);
#pragma unroll
            for (int i = 0; i < n; ++i) {
                part[column + i] += d[i] * x[i] * factor;
                all[i] += factor * (d[i] * w[i] - x[i] * back);
            }
            store(all, x_slope + begin + column);
        }
    }
}

// Whether rows are whole vectors of T wherever they begin.
template <typename T>
bool in_vectors(const RowShape& shape, std::initializer_list<const void*> pointers)
{
    return aligned(pointers) && shape.width % kVector<T> == 0;
}
} // namespace

void launch_normed_sum(const Launch& launch, const RowShape& shape, float eps, const void* x, const void* more,
    const void* weight, void* sum, void* y, float* scale)
{
    if (shape.rows == 0)
        return;
    check_row(shape.width, "normed_sum");
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const auto start = [&]<int size>(Size<size>) {
            normed_sum_kernel<T, size><<<blocks(shape.rows, 1), kNormThreads, 0, stream_of(launch)>>>(shape, eps,
                static_cast<const T*>(x), static_cast<const T*>(more), static_cast<const T*>(weight),
                static_cast<T*>(sum), static_cast<T*>(y), scale);
        };
        if (in_vectors<T>(shape, {x, more, weight, sum, y}))
            start(Size<kVector<T>>());
        else
            start(Size<1>());
    });
    check_launch("normed_sum");
}

void launch_normed_sum_slopes(const Launch& launch, const RowShape& shape, const NormSlopes& of, void* x_slope,
    float* weight_parts, int64_t parts)
{
    if (parts == 0)
        return;
    check_row(shape.width, "normed_sum_slopes");
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const auto start = [&]<int size>(Size<size>) {
            normed_sum_slopes_kernel<T, size><<<unsigned(parts), kNormThreads, 0, stream_of(launch)>>>(
                shape, of, static_cast<T*>(x_slope), weight_parts);
        };
        if (in_vectors<T>(shape, {of.sum_slope, of.slope, of.sum, of.weight, x_slope}))
            start(Size<kVector<T>>());
        else
            start(Size<1>());
    });
    check_launch("normed_sum_slopes");
}

} // namespace fourfold::trainer
