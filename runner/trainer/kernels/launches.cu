// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/launches.h"

#include "runner/trainer/kernels/elements.h"
#include "runner/trainer/kernels/vectors.h"

#include <type_traits>

namespace fourfold::trainer {

namespace {
constexpr int kRowThreads = 512;

// blockDim.y tokens at once, the threads of each over its heads: what they read of the tables stays in the cache.
template <typename T, int n>
__global__ void turn_kernel(TurnShape shape, const T* __restrict__ x, const float* __restrict__ cosine,
    const float* __restrict__ sine, float direction, T* __restrict__ y)
{
    const int64_t tokens = shape.positions * shape.sequences;
    const int vectors = int(shape.half / n), items = int(shape.heads) * vectors;
    for (int64_t token = int64_t(blockIdx.x) * blockDim.y + threadIdx.y; token < tokens;
         token += int64_t(gridDim.x) * blockDim.y) {
        const int64_t position = token / shape.sequences, sequence = token - position * shape.sequences;
        const int64_t angles = (shape.own_tables ? token : position) * shape.half;
        const T* const from = x + position * shape.position_step + sequence * shape.sequence_step;
        T* const to = y + token * shape.heads * 2 * shape.half;
        for (int item = int(threadIdx.x); item < items; item += int(blockDim.x)) {
            const int head = item / vectors, plane = (item - head * vectors) * n;
            const T* const own = from + head * shape.head_step + plane;
            T* const turned_own = to + head * 2 * shape.half + plane;
            float first[n], second[n], c[n], s[n];
            load(own, first);
            load(own + shape.half, second);
            load(cosine + angles + plane, c);
            load(sine + angles + plane, s);
#pragma unroll
            for (int i = 0; i < n; ++i) {
                const Pair<float> pair = turned(first[i], second[i], c[i], direction * s[i]);
                first[i] = pair.first;
                second[i] = pair.second;
            }
            store(first, turned_own);
            store(second, turned_own + shape.half);
        }
    }
}

__device__ __forceinline__ float gate_sigmoid(const GateForm<float>& form, float gate)
{
    return 1 / (1 + expf(-form.steepness * at_most(gate, form.limit)));
}

template <typename T, int n>
__global__ void gated_kernel(
    GateForm<float> form, const T* __restrict__ gate, const T* __restrict__ up, int64_t count, T* __restrict__ y)
{
    each_vector<n>(count, [&]<int size>(int64_t at, Size<size>) {
        float g[size], u[size];
        load(gate + at, g);
        load(up + at, u);
#pragma unroll
        for (int i = 0; i < size; ++i)
            g[i] = gated_element(form, g[i], gate_sigmoid(form, g[i]), u[i]);
        store(g, y + at);
    });
}

template <typename T, int n>
__global__ void gated_slopes_kernel(GateForm<float> form, const T* __restrict__ slope, const T* __restrict__ gate,
    const T* __restrict__ up, int64_t count, T* __restrict__ gate_slope, T* __restrict__ up_slope)
{
    each_vector<n>(count, [&]<int size>(int64_t at, Size<size>) {
        float d[size], g[size], u[size];
        load(slope + at, d);
        load(gate + at, g);
        load(up + at, u);
#pragma unroll
        for (int i = 0; i < size; ++i) {
            const Pair<float> slopes = gated_slope(form, d[i], g[i], gate_sigmoid(form, g[i]), u[i]);
            g[i] = slopes.first;
            u[i] = slopes.second;
        }
        store(g, gate_slope + at);
        store(u, up_slope + at);
    });
}

// Columns 0 ... count of a row by the threads of a block: `use` as in each_vector(). Rows need not begin with a vector.
template <typename T, typename Use>
__device__ __forceinline__ void each_column(const T* row, int count, const Use& use)
{
    constexpr int n = kVector<T>;
    const int misplaced = int(reinterpret_cast<uintptr_t>(row) % kVectorBytes) / int(sizeof(T));
    const int before = min(count, (n - misplaced) % n), vectors = (count - before) / n, rest = before + vectors * n;
    const int own = int(threadIdx.x);
    if (own < before)
        use(own, Size<1>());
#pragma unroll 2
    for (int vector = own; vector < vectors; vector += int(blockDim.x))
        use(before + vector * n, Size<n>());
    if (own < count - rest)
        use(rest + own, Size<1>());
}

__device__ __forceinline__ ExponentialSum over_warp(ExponentialSum sums)
{
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
        ExponentialSum other;
        other.highest = __shfl_xor_sync(0xffffffffU, sums.highest, distance);
        other.sum = __shfl_xor_sync(0xffffffffU, sums.sum, distance);
        sums.add(other);
    }
    return sums;
}

// A block for each row.
template <typename T>
__global__ void __launch_bounds__(kRowThreads) row_sums_kernel(
    LogitShape shape, const T* __restrict__ logits, float* __restrict__ highest, float* __restrict__ sum)
{
    constexpr int kWarps = kRowThreads / kWarp;
    __shared__ float highest_of_warps[kWarps], sum_of_warps[kWarps];
    const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        const T* const own = logits + row * shape.width;
        ExponentialSum sums;
        each_column(own, int(shape.valid), [&]<int size>(int column, Size<size>) {
            float x[size];
            load(own + column, x);
            sums.add(x);
        });
        sums = over_warp(sums);
        if (lane == 0) {
            highest_of_warps[warp] = sums.highest;
            sum_of_warps[warp] = sums.sum;
        }
        __syncthreads();
        if (warp == 0) {
            ExponentialSum all;
            if (lane < kWarps) {
                all.highest = highest_of_warps[lane];
                all.sum = sum_of_warps[lane];
            }
            all = over_warp(all);
            if (lane == 0) {
                highest[row] = all.highest;
                sum[row] = all.sum;
            }
        }
        __syncthreads(); // before the next row's warps write theirs
    }
}

// A block for each row.
template <typename T>
__global__ void __launch_bounds__(kRowThreads) loss_slopes_kernel(LogitShape shape, LossSlopes of, T* logits)
{
    const int valid = int(shape.valid);
    for (int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
        T* const own = logits + row * shape.width;
        const int64_t label = of.labels[row], local = label - of.first_label;
        const int target = label >= 0 && local >= 0 && local < shape.width ? int(local) : -1;
        const float log_sum = of.log_sum[row], factor = of.all_count || label >= 0 ? *of.factor : 0;
        each_column(own, int(shape.width), [&]<int size>(int column, Size<size>) {
            float x[size];
            load(own + column, x);
#pragma unroll
            for (int i = 0; i < size; ++i) {
                const float share = column + i < valid ? expf(x[i] - log_sum) : 0;
                x[i] = (column + i == target ? share - 1 : share) * factor;
            }
            store(x, own + column);
        });
    }
}
} // namespace

void launch_turn(const Launch& launch, const TurnShape& shape, const void* x, const float* cosine, const float* sine,
    int direction, void* y)
{
    const int64_t tokens = shape.positions * shape.sequences, of_token = shape.heads * shape.half;
    if (tokens == 0 || of_token == 0)
        return;
    check_row(2 * of_token, "turn");
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        constexpr int n = kVector<T>;
        const bool whole = aligned({x, cosine, sine, y}) && shape.half % n == 0 && shape.position_step % n == 0
            && shape.sequence_step % n == 0 && shape.head_step % n == 0;
        const auto start = [&]<int size>(Size<size>) {
            const int across = int(std::min<int64_t>(of_token / size, kThreads)), down = kThreads / across;
            turn_kernel<T, size>
                <<<blocks(tokens, down), dim3(unsigned(across), unsigned(down)), 0, stream_of(launch)>>>(
                    shape, static_cast<const T*>(x), cosine, sine, float(direction), static_cast<T*>(y));
        };
        if (whole)
            start(Size<n>());
        else
            start(Size<1>());
    });
    check_launch("turn");
}

void launch_gated(
    const Launch& launch, const GateForm<float>& form, const void* gate, const void* up, int64_t count, void* y)
{
    if (count == 0)
        return;
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const auto start = [&]<int size>(Size<size>) {
            gated_kernel<T, size><<<blocks(count, int64_t(kThreads) * size), kThreads, 0, stream_of(launch)>>>(
                form, static_cast<const T*>(gate), static_cast<const T*>(up), count, static_cast<T*>(y));
        };
        if (aligned({gate, up, y}))
            start(Size<kVector<T>>());
        else
            start(Size<1>());
    });
    check_launch("gated");
}

void launch_gated_slopes(const Launch& launch, const GateForm<float>& form, const void* slope, const void* gate,
    const void* up, int64_t count, void* gate_slope, void* up_slope)
{
    if (count == 0)
        return;
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const auto start = [&]<int size>(Size<size>) {
            gated_slopes_kernel<T, size><<<blocks(count, int64_t(kThreads) * size), kThreads, 0, stream_of(launch)>>>(
                form, static_cast<const T*>(slope), static_cast<const T*>(gate), static_cast<const T*>(up), count,
                static_cast<T*>(gate_slope), static_cast<T*>(up_slope));
        };
        if (aligned({slope, gate, up, gate_slope, up_slope}))
            start(Size<kVector<T>>());
        else
            start(Size<1>());
    });
    check_launch("gated_slopes");
}

void launch_row_sums(const Launch& launch, const LogitShape& shape, const void* logits, float* highest, float* sum)
{
    if (shape.rows == 0)
        return;
    check_row(shape.width, "row_sums");
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        row_sums_kernel<T><<<blocks(shape.rows, 1), kRowThreads, 0, stream_of(launch)>>>(
            shape, static_cast<const T*>(logits), highest, sum);
    });
    check_launch("row_sums");
}

void launch_loss_slopes(const Launch& launch, const LogitShape& shape, const LossSlopes& of, void* logits)
{
    if (shape.rows == 0)
        return;
    check_row(shape.width, "loss_slopes");
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        loss_slopes_kernel<T>
            <<<blocks(shape.rows, 1), kRowThreads, 0, stream_of(launch)>>>(shape, of, static_cast<T*>(logits));
    });
    check_launch("loss_slopes");
}

} // namespace fourfold::trainer
