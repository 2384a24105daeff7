// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernels (launches.cu, norms.cu, rounding.cu, updates.cu) have in common, for nvcc alone: accesses of 16
// bytes, and launches.
#pragma once

#include "runner/trainer/kernels/launches.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>

namespace fourfold::trainer {

constexpr int kVectorBytes = 16; // the widest access
constexpr int kThreads = 256, kWarp = 32;
constexpr int64_t kMostBlocks = 1 << 30; // below the limit of a grid's first dimension; kernels loop beyond it

// Tells a lambda, as its type, how many elements it is to take.
template <int n>
struct Size {
};

template <typename T>
constexpr int kVector = kVectorBytes / int(sizeof(T));

// n elements in whole 16-byte accesses, or one.
template <int n, typename T>
__device__ __forceinline__ void load(const T* from, float (&x)[n])
{
    if constexpr (n == 1) {
        x[0] = float(*from);
    } else {
        static_assert(n % kVector<T> == 0);
#pragma unroll
        for (int first = 0; first < n; first += kVector<T>) {
            const uint4 bytes = *reinterpret_cast<const uint4*>(from + first);
            const T* const elements = reinterpret_cast<const T*>(&bytes);
#pragma unroll
            for (int i = 0; i < kVector<T>; ++i)
                x[first + i] = float(elements[i]);
        }
    }
}

template <int n, typename T>
__device__ __forceinline__ void store(const float (&x)[n], T* to)
{
    if constexpr (n == 1) {
        *to = T(x[0]);
    } else {
        static_assert(n % kVector<T> == 0);
#pragma unroll
        for (int first = 0; first < n; first += kVector<T>) {
            uint4 bytes;
            T* const elements = reinterpret_cast<T*>(&bytes);
#pragma unroll
            for (int i = 0; i < kVector<T>; ++i)
                elements[i] = T(x[first + i]);
            *reinterpret_cast<uint4*>(to + first) = bytes;
        }
    }
}

// Calls `use` with the first element of each vector that is this thread's, and its size; last with single elements of
// the rest.
template <int n, typename Use>
__device__ __forceinline__ void each_vector(int64_t count, const Use& use)
{
    const int64_t threads = int64_t(gridDim.x) * blockDim.x, own = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t vectors = count / n;
    for (int64_t vector = own; vector < vectors; vector += threads)
        use(vector * n, Size<n>());
    if (n > 1 && own < count - vectors * n)
        use(vectors * n + own, Size<1>());
}

// The sum over a block of `threads`, on each of them. `room`: a number for each warp, in shared memory.
template <int threads, typename T>
__device__ __forceinline__ T sum_over_block(T x, T* room)
{
    constexpr int kWarps = threads / kWarp;
    static_assert(kWarps <= kWarp);
    const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffffU, x, distance);
    __syncthreads(); // the sum before this one has been read
    if (lane == 0)
        room[warp] = x;
    __syncthreads();
    x = lane < kWarps ? room[lane] : T(0);
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffffU, x, distance);
    return x;
}

// Calls `use` with a null pointer of the element type.
template <typename Use>
void by_element(Element element, const Use& use)
{
    if (element == Element::bf16)
        use(static_cast<__nv_bfloat16*>(nullptr));
    else if (element == Element::fp16)
        use(static_cast<__half*>(nullptr));
    else
        use(static_cast<float*>(nullptr));
}

inline bool aligned(std::initializer_list<const void*> pointers)
{
    return std::all_of(pointers.begin(), pointers.end(),
        [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % kVectorBytes == 0; });
}

inline unsigned blocks(int64_t work, int64_t of_a_block)
{
    return unsigned(std::min(kMostBlocks, (work + of_a_block - 1) / of_a_block));
}

inline cudaStream_t stream_of(const Launch& launch)
{
    return static_cast<cudaStream_t>(launch.stream);
}

inline void check_launch(const char* kernel)
{
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
        throw std::runtime_error(std::string("kernel ") + kernel + ": " + cudaGetErrorString(error));
}

// Within a row the kernels count in 32 bits.
inline void check_row(int64_t elements, const char* kernel)
{
    constexpr int64_t kBeyond = 1 << 16; // how far the last step of a loop may lead
    if (elements > std::numeric_limits<int>::max() - kBeyond)
        throw std::runtime_error(std::string("kernel ") + kernel + ": a row is too long");
}

} // namespace fourfold::trainer
