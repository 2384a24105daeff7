// SPDX-License-Identifier: GPL-3.0-or-later
// Rounding to numbers of 8 bits: one pass over a matrix for the largest magnitudes of its blocks, one to round it. A
// transposed view is read in the order in which it lies and written row by row, through a tile in shared memory.
#include "runner/trainer/kernels/elements.h"
#include "runner/trainer/kernels/launches.h"
#include "runner/trainer/kernels/vectors.h"

#include <cuda_fp8.h>

#include <type_traits>

namespace fourfold::trainer {

namespace {
constexpr int kStored = kVectorBytes; // numbers of 8 bits in one access
constexpr int64_t kMostDown = 65535; // blocks of a grid's second dimension

__device__ __forceinline__ void raise(float* largest, uint32_t bits)
{
    atomicMax(reinterpret_cast<unsigned*>(largest), bits);
}

__device__ __forceinline__ uint32_t largest_of_lanes(uint32_t bits, int lanes)
{
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        bits = max(bits, __shfl_xor_sync(0xffffffffU, bits, distance));
    return bits;
}

template <int n>
__device__ __forceinline__ uint32_t largest_of(const float (&x)[n], uint32_t bits)
{
#pragma unroll
    for (int i = 0; i < n; ++i)
        bits = max(bits, magnitude_bits(x[i]));
    return bits;
}

// All elements are one block.
template <typename T, int n>
__global__ void __launch_bounds__(kThreads) largest_kernel(const T* __restrict__ x, int64_t count, float* largest)
{
    __shared__ uint32_t of_warps[kThreads / kWarp];
    uint32_t bits = 0;
    each_vector<n>(count, [&]<int size>(int64_t at, Size<size>) {
        float some[size];
        load(x + at, some);
        bits = largest_of(some, bits);
    });
    bits = largest_of_lanes(bits, kWarp);
    const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp;
    if (lane == 0)
        of_warps[warp] = bits;
    __syncthreads();
    if (warp == 0) {
        bits = largest_of_lanes(lane < kThreads / kWarp ? of_warps[lane] : 0, kWarp);
        if (lane == 0)
            raise(largest, bits);
    }
}

// Which row of blocks. Divisions in 32 bits cost a third of those in 64.
__device__ __forceinline__ int64_t block_of_row(const BlockShape& shape, int64_t row)
{
    if (shape.block_rows == 1)
        return row;
    return shape.block_rows >= shape.rows ? 0 : int(row) / int(shape.block_rows);
}

int64_t blocks_across(const BlockShape& shape)
{
    return (shape.columns + shape.block_columns - 1) / shape.block_columns;
}

// Rows without gaps: 2^doublings neighbours of a warp for what a block has of a row.
template <typename T, int n>
__global__ void __launch_bounds__(kThreads)
    largest_of_rows_kernel(BlockShape shape, int64_t across, int doublings, const T* __restrict__ x, float* largest)
{
    const int lanes = 1 << doublings, lane = int(threadIdx.x) % kWarp, own = lane & (lanes - 1);
    for (int64_t row = int64_t(blockIdx.x) * blockDim.y + threadIdx.y; row < shape.rows;
         row += int64_t(gridDim.x) * blockDim.y) {
        float* const of_row = largest + block_of_row(shape, row) * across;
        // A warp goes on as one, its lanes wait for each other.
        for (int64_t first = int64_t(blockIdx.y) * blockDim.x + threadIdx.x - lane; first < across << doublings;
             first += int64_t(gridDim.y) * blockDim.x) {
            const int64_t block = (first + lane) >> doublings;
            uint32_t bits = 0;
            if (block < across) {
                const int64_t begin = block * shape.block_columns,
                              end = min(begin + shape.block_columns, shape.columns);
#pragma unroll 4
                for (int64_t column = begin + int64_t(own) * n; column < end; column += int64_t(lanes) * n) {
                    float some[n];
                    load(x + row * shape.row_step + column, some);
                    bits = largest_of(some, bits);
                }
            }
            bits = largest_of_lanes(bits, lanes);
            if (own == 0 && block < across)
                raise(of_row + block, bits);
        }
    }
}

constexpr int kAtOnce = 64; // columns of a thread

// Columns without gaps: each thread takes n rows of some columns of a block.
template <typename T, int n>
__global__ void __launch_bounds__(kThreads)
    largest_of_columns_kernel(BlockShape shape, int64_t across, const T* __restrict__ x, float* largest)
{
    const int64_t parts = (shape.block_columns + kAtOnce - 1) / kAtOnce; // of a block
    for (int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * n; row < shape.rows;
         row += int64_t(gridDim.x) * blockDim.x * n) {
        for (int64_t part = int64_t(blockIdx.y) * blockDim.y + threadIdx.y; part < across * parts;
             part += int64_t(gridDim.y) * blockDim.y) {
            const int64_t block = part / parts, from = block * shape.block_columns,
                          begin = from + (part - block * parts) * kAtOnce,
                          end = min(min(begin + kAtOnce, from + shape.block_columns), shape.columns);
            uint32_t bits[n] = {};
#pragma unroll 4
            for (int64_t column = begin; column < end; ++column) {
                float some[n];
                load(x + row + column * shape.column_step, some);
#pragma unroll
                for (int i = 0; i < n; ++i)
                    bits[i] = max(bits[i], magnitude_bits(some[i]));
            }
            // Rows of one block have one entry.
            float* entry = nullptr;
            uint32_t most = 0;
#pragma unroll
            for (int i = 0; i < n && begin < end; ++i) {
                float* const own = largest + block_of_row(shape, row + i) * across + block;
                if (own != entry && entry != nullptr)
                    raise(entry, most);
                most = own == entry ? max(most, bits[i]) : bits[i];
                entry = own;
            }
            if (entry != nullptr)
                raise(entry, most);
        }
    }
}

// Two at once, the first in the lower byte. An instruction does it from compute capability 8.9 on: a NaN loses its
// sign, but what a GPU multiplied has none.
template <Narrow type>
__device__ __forceinline__ uint32_t narrowed_pair(float first, float second)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    constexpr __nv_fp8_interpretation_t kType = type == Narrow::e4m3 ? __NV_E4M3 : __NV_E5M2;
    return __nv_cvt_float2_to_fp8x2(float2{first, second}, __NV_SATFINITE, kType);
#else
    return narrowed<type>(first) | uint32_t(narrowed<type>(second)) << 8;
#endif
}

template <Narrow type, int n>
__device__ __forceinline__ void store_narrowed(const float (&x)[n], float scale, uint8_t* to)
{
    if constexpr (n == 1) {
        *to = uint8_t(narrowed_pair<type>(x[0] * scale, 0));
    } else {
        static_assert(n == kStored);
        uint32_t words[n / 4];
#pragma unroll
        for (int i = 0; i < n; i += 4)
            words[i / 4] = narrowed_pair<type>(x[i] * scale, x[i + 1] * scale)
                | narrowed_pair<type>(x[i + 2] * scale, x[i + 3] * scale) << 16;
        *reinterpret_cast<uint4*>(to) = uint4{words[0], words[1], words[2], words[3]};
    }
}

// Where the results go, and how the elements are rounded.
struct Results {
    Rounding rounding;
    int64_t across; // blocks
    const float* largest;
    uint8_t* values;
    float* inverse_scales;
};

// n elements of one block from (row, column) on.
template <int n>
__device__ __forceinline__ void put(
    const BlockShape& shape, const Results& to, int64_t row, int64_t column, const float (&x)[n])
{
    const int64_t down = block_of_row(shape, row), block = to.across == 1 ? 0 : int(column) / int(shape.block_columns);
    const int64_t entry = down * to.across + block;
    const float scale = scale_of(to.largest[entry], to.rounding.type, to.rounding.kind);
    if (row == down * shape.block_rows && column == block * shape.block_columns)
        to.inverse_scales[entry] = 1 / scale;
    uint8_t* const values = to.values + row * shape.columns + column;
    if (to.rounding.type == Narrow::e4m3)
        store_narrowed<Narrow::e4m3>(x, scale, values);
    else
        store_narrowed<Narrow::e5m2>(x, scale, values);
}

template <typename T, int n>
__global__ void __launch_bounds__(kThreads) rounding_kernel(BlockShape shape, Results to, const T* __restrict__ x)
{
    for (int64_t row = int64_t(blockIdx.x) * blockDim.y + threadIdx.y; row < shape.rows;
         row += int64_t(gridDim.x) * blockDim.y)
        for (int64_t column = (int64_t(blockIdx.y) * blockDim.x + threadIdx.x) * n; column < shape.columns;
             column += int64_t(gridDim.y) * blockDim.x * n) {
            float some[n];
            load(x + row * shape.row_step + column, some);
            put(shape, to, row, column, some);
        }
}

constexpr int kTileRows = 64, kTileColumns = 128;
// Rows of a tile: two lanes of a warp beside each other, 16 below, so that they write whole sectors.
constexpr int kLanesAcross = 2;

// Columns without gaps. n: elements of a read, `stored`: of a write.
template <typename T, int n, int stored>
__global__ void __launch_bounds__(kThreads)
    rounding_columns_kernel(BlockShape shape, Results to, const T* __restrict__ x)
{
    // Of 16 bits, neither lanes that write it column by column nor those that read it row by row meet in a bank.
    constexpr int kPitch = kTileRows + (sizeof(T) == 4 ? 1 : 2);
    __shared__ T tile[kTileColumns][kPitch];
    for (int64_t first_row = int64_t(blockIdx.x) * kTileRows; first_row < shape.rows;
         first_row += int64_t(gridDim.x) * kTileRows)
        for (int64_t first_column = int64_t(blockIdx.y) * kTileColumns; first_column < shape.columns;
             first_column += int64_t(gridDim.y) * kTileColumns) {
            constexpr int kVectors = kTileRows / n; // of a column
#pragma unroll 4
            for (int item = int(threadIdx.x); item < kVectors * kTileColumns; item += kThreads) {
                const int row = item % kVectors * n, column = item / kVectors;
                if (first_row + row < shape.rows && first_column + column < shape.columns) {
                    const T* const from = x + first_row + row + (first_column + column) * shape.column_step;
                    alignas(kVectorBytes) T some[n];
                    if constexpr (n == 1)
                        some[0] = *from;
                    else
                        *reinterpret_cast<uint4*>(some) = *reinterpret_cast<const uint4*>(from);
#pragma unroll
                    for (int i = 0; i < n; ++i)
                        tile[column][row + i] = some[i];
                }
            }
            __syncthreads();
            for (int item = int(threadIdx.x); item < kTileRows * kTileColumns / stored; item += kThreads) {
                const int pair = item / kLanesAcross, row = pair % kTileRows,
                          column = (pair / kTileRows * kLanesAcross + item % kLanesAcross) * stored;
                if (first_row + row < shape.rows && first_column + column < shape.columns) {
                    float some[stored];
#pragma unroll
                    for (int i = 0; i < stored; ++i)
                        some[i] = float(tile[column + i][row]);
                    put(shape, to, first_row + row, first_column + column, some);
                }
            }
            __syncthreads(); // before the next tile is written
        }
}

// Whether each column of x, or each row, begins with a vector of n elements and consists of such.
bool in_vectors(const void* x, int64_t length, int64_t count, int64_t step, int n)
{
    return aligned({x}) && length % n == 0 && (count == 1 || step % n == 0);
}

// Threads of a block for `work` in one row, and blocks for rows and what is beyond a block's threads.
struct Threads {
    dim3 grid, block;
};
Threads over_rows(int64_t rows, int64_t work, int64_t multiple)
{
    const int64_t of_row = (work + kThreads - 1) / kThreads; // blocks
    const int64_t even = (work + of_row - 1) / of_row,
                  across = std::min<int64_t>((even + multiple - 1) / multiple * multiple, kThreads);
    const int64_t down = kThreads / across;
    return {dim3(blocks(rows, down), unsigned(std::min(kMostDown, of_row))), dim3(unsigned(across), unsigned(down))};
}
} // namespace

void launch_largest(const Launch& launch, const BlockShape& shape, const void* x, float* largest)
{
    if (shape.rows == 0 || shape.columns == 0)
        return;
    check_row(shape.rows, "largest");
    const int64_t across = blocks_across(shape);
    const bool by_rows = shape.column_step == 1;
    const bool whole = shape.block_rows >= shape.rows && shape.block_columns >= shape.columns;
    const bool dense = by_rows ? shape.rows == 1 || shape.row_step == shape.columns
                               : shape.columns == 1 || shape.column_step == shape.rows;
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const T* const from = static_cast<const T*>(x);
        const auto start = [&]<int n>(Size<n>) {
            if (whole && dense) {
                constexpr int64_t kMost = 2048; // they meet at one number
                const int64_t count = shape.rows * shape.columns;
                largest_kernel<T, n><<<unsigned(std::min<int64_t>(kMost, blocks(count, int64_t(kThreads) * n))),
                    kThreads, 0, stream_of(launch)>>>(from, count, largest);
            } else if (by_rows) {
                const int64_t of_row = std::min(shape.block_columns, shape.columns);
                int doublings = 0;
                while (1 << doublings < kWarp && of_row > n << doublings)
                    ++doublings;
                const Threads threads = over_rows(shape.rows, across << doublings, kWarp);
                largest_of_rows_kernel<T, n>
                    <<<threads.grid, threads.block, 0, stream_of(launch)>>>(shape, across, doublings, from, largest);
            } else {
                const int64_t parts = across * ((shape.block_columns + kAtOnce - 1) / kAtOnce);
                constexpr int kDown = kThreads / kWarp;
                const unsigned down = unsigned(std::min<int64_t>(kMostDown, blocks(parts, kDown)));
                largest_of_columns_kernel<T, n>
                    <<<dim3(blocks(shape.rows, int64_t(kWarp) * n), down), dim3(kWarp, kDown), 0, stream_of(launch)>>>(
                        shape, across, from, largest);
            }
        };
        constexpr int n = kVector<T>;
        const bool vectors = whole && dense ? aligned({x})
            : by_rows                       ? in_vectors(x, shape.columns, shape.rows, shape.row_step, n)
                && (shape.block_columns % n == 0 || shape.block_columns >= shape.columns)
                      : in_vectors(x, shape.rows, shape.columns, shape.column_step, n);
        if (vectors)
            start(Size<n>());
        else
            start(Size<1>());
    });
    check_launch("largest");
}

void launch_rounding(const Launch& launch, const BlockShape& shape, const Rounding& rounding, const void* x,
    const float* largest, uint8_t* values, float* inverse_scales)
{
    if (shape.rows == 0 || shape.columns == 0)
        return;
    const bool by_rows = shape.column_step == 1;
    check_row(shape.rows, "rounding");
    if (shape.block_columns < shape.columns || !by_rows)
        check_row(shape.columns, "rounding");
    const bool one_scale = shape.block_columns % kStored == 0 || shape.block_columns >= shape.columns;
    const bool stored = one_scale && aligned({values}) && shape.columns % kStored == 0;
    const Results to{rounding, blocks_across(shape), largest, values, inverse_scales};
    by_element(launch.element, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const T* const from = static_cast<const T*>(x);
        constexpr int n = kVector<T>;
        const auto rows = [&]<int size>(Size<size>) {
            const Threads threads = over_rows(shape.rows, (shape.columns + size - 1) / size, 1);
            rounding_kernel<T, size><<<threads.grid, threads.block, 0, stream_of(launch)>>>(shape, to, from);
        };
        const auto columns = [&]<int size, int at_once>(Size<size>, Size<at_once>) {
            const int64_t across = (shape.columns + kTileColumns - 1) / kTileColumns;
            const dim3 tiles(blocks(shape.rows, kTileRows), unsigned(std::min(kMostDown, across)));
            rounding_columns_kernel<T, size, at_once><<<tiles, kThreads, 0, stream_of(launch)>>>(shape, to, from);
        };
        if (by_rows && stored && in_vectors(x, shape.columns, shape.rows, shape.row_step, n))
            rows(Size<kStored>());
        else if (by_rows)
            rows(Size<1>());
        else if (stored && in_vectors(x, shape.rows, shape.columns, shape.column_step, n))
            columns(Size<n>(), Size<kStored>());
        else
            columns(Size<1>(), Size<1>());
    });
    check_launch("rounding");
}

} // namespace fourfold::trainer
