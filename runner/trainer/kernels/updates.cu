// SPDX-License-Identifier: GPL-3.0-or-later
// What is done once a step, over flat buffers: the gradient norm's squares and the optimizer's update.
#include "runner/trainer/kernels/launches.h"

#include "runner/trainer/kernels/vectors.h"

#include <type_traits>

namespace fourfold::trainer {

namespace {
constexpr int kTogether = 8; // elements of a thread: whole vectors of every type

template <typename Gradient, typename Moment, int n>
__global__ void adam_kernel(AdamFactors<float> factors, const Gradient* __restrict__ gradient, int64_t count,
    float* __restrict__ master, Moment* __restrict__ first, Moment* __restrict__ second)
{
    each_vector<n>(count, [&]<int size>(int64_t at, Size<size>) {
        float slope[size], weight[size], mean[size], square[size];
        load(gradient + at, slope);
        load(master + at, weight);
        load(first + at, mean);
        load(second + at, square);
#pragma unroll
        for (int i = 0; i < size; ++i)
            adam_element(factors, slope[i], weight[i], mean[i], square[i]);
        store(weight, master + at);
        store(mean, first + at);
        store(square, second + at);
    });
}

template <typename T, int n>
__global__ void __launch_bounds__(kThreads) squares_kernel(const T* __restrict__ x, int64_t count, double* sums)
{
    __shared__ double room[kThreads / kWarp];
    double sum = 0;
    each_vector<n>(count, [&]<int size>(int64_t at, Size<size>) {
        float value[size], squares = 0;
        load(x + at, value);
#pragma unroll
        for (int i = 0; i < size; ++i)
            squares += value[i] * value[i];
        sum += double(squares);
    });
    sum = sum_over_block<kThreads>(sum, room);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
} // namespace

void launch_adam(const Launch& launch, const AdamFactors<float>& factors, const void* gradient, int64_t count,
    float* master, bool moments_in_bf16, void* first, void* second)
{
    if (count == 0)
        return;
    by_element(launch.element, [&](auto* of_gradient) {
        by_element(moments_in_bf16 ? Element::bf16 : Element::fp32, [&](auto* of_moment) {
            using Gradient = std::remove_pointer_t<decltype(of_gradient)>;
            using Moment = std::remove_pointer_t<decltype(of_moment)>;
            const auto start = [&]<int size>(Size<size>) {
                adam_kernel<Gradient, Moment, size>
                    <<<blocks(count, int64_t(kThreads) * size), kThreads, 0, stream_of(launch)>>>(factors,
                        static_cast<const Gradient*>(gradient), count, master, static_cast<Moment*>(first),
                        static_cast<Moment*>(second));
            };
            if (aligned({gradient, master, first, second}))
                start(Size<kTogether>());
            else
                start(Size<1>());
        });
    });
    check_launch("adam");
}

void launch_squares(const Launch& launch, const void* x, int64_t count, double* sums, int64_t parts)
{
    if (parts == 0)
        return;
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const auto start = [&]<int size>(Size<size>) {
            squares_kernel<T, size>
                <<<unsigned(parts), kThreads, 0, stream_of(launch)>>>(static_cast<const T*>(x), count, sums);
        };
        if (aligned({x}))
            start(Size<kTogether>());
        else
            start(Size<1>());
    });
    check_launch("squares");
}

} // namespace fourfold::trainer
