// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels of our own for GPUs, one pass over memory each: what goes to the GPU, without headers of LibTorch's or
// CUDA's. Pointers are to the current GPU's memory, arithmetic is in fp32, results are rounded once. Row-major, no
// padding, any alignment of whole elements. Each throws std::runtime_error with the kernel's name where it does not
// start; the CPU trainer has none of them (device/cpu_only.cpp). gpu_kernels.h has the same on tensors.
#pragma once

#include "runner/trainer/kernels/elements.h"

#include <cstdint>

namespace fourfold::trainer {

enum class Element { fp32, bf16, fp16 };

struct Launch {
    void* stream = nullptr; // cudaStream_t
    Element element = Element::fp32; // of void pointers
};

// x: [positions, sequences, heads, 2 half] with these distances between neighbours of the first three dimensions.
// Cosines and sines: [positions, half], or with `own_tables` [positions, sequences, half].
struct TurnShape {
    int64_t positions = 0, sequences = 0, heads = 0, half = 0;
    int64_t position_step = 0, sequence_step = 0, head_step = 0;
    bool own_tables = false;
};
// Turns each pair (x[i], x[i + half]) by the angle of its position; `direction` -1 turns back. y: as x, without gaps.
void launch_turn(const Launch& launch, const TurnShape& shape, const void* x, const float* cosine, const float* sine,
    int direction, void* y);

struct RowShape {
    int64_t rows = 0, width = 0;
};
// sum = x + more, y = sum * scale * weight with scale = 1 / sqrt(mean(sum^2) + eps) of each row. weight: [width];
// scale: [rows]; all others: [rows, width]
void launch_normed_sum(const Launch& launch, const RowShape& shape, float eps, const void* x, const void* more,
    const void* weight, void* sum, void* y, float* scale);
// Gradients of both summands, which are one, from that of y and what comes to the sum by itself; and of the weight, in
// parts of which each has some of the rows: [parts, width].
struct NormSlopes {
    const void *sum_slope = nullptr, *slope = nullptr, *sum = nullptr, *weight = nullptr;
    const float* scale = nullptr;
};
void launch_normed_sum_slopes(const Launch& launch, const RowShape& shape, const NormSlopes& of, void* x_slope,
    float* weight_parts, int64_t parts);

// A gated activation (GateForm), and its gradients. [count]
void launch_gated(
    const Launch& launch, const GateForm<float>& form, const void* gate, const void* up, int64_t count, void* y);
void launch_gated_slopes(const Launch& launch, const GateForm<float>& form, const void* slope, const void* gate,
    const void* up, int64_t count, void* gate_slope, void* up_slope);

// Logits: [rows, width], of which the first `valid` columns count.
struct LogitShape {
    int64_t rows = 0, width = 0, valid = 0;
};
// Of each row the highest and the sum of exp(x - highest); without columns -inf and 0. highest, sum: [rows]
void launch_row_sums(const Launch& launch, const LogitShape& shape, const void* logits, float* highest, float* sum);
// Writes (exp(x - log_sum) - (column + first_label == label)) * factor over the logits x, the exponential 0 from column
// `valid` on; zeros in rows whose label is below 0, unless `all_count`. log_sum, labels: [rows]; factor: [1]
struct LossSlopes {
    const float* log_sum = nullptr;
    const int64_t* labels = nullptr;
    const float* factor = nullptr;
    int64_t first_label = 0;
    bool all_count = true;
};
void launch_loss_slopes(const Launch& launch, const LogitShape& shape, const LossSlopes& of, void* logits);

// One update of Adam. gradient: of the launch's elements; both moments: bf16, or fp32. [count]
void launch_adam(const Launch& launch, const AdamFactors<float>& factors, const void* gradient, int64_t count,
    float* master, bool moments_in_bf16, void* first, void* second);
// Sums of the squares of x [count], each of some of its elements: [parts].
void launch_squares(const Launch& launch, const void* x, int64_t count, double* sums, int64_t parts);

// A matrix [rows, columns] with these distances between neighbours of both dimensions, one of which is 1. Each block of
// `block_rows` x `block_columns` shares a scale; last ones may be smaller.
struct BlockShape {
    int64_t rows = 0, columns = 0, row_step = 0, column_step = 0;
    int64_t block_rows = 0, block_columns = 0;
};
// Raises `largest` [blocks down, blocks across] to the largest magnitude of each block; NaN where it has one.
void launch_largest(const Launch& launch, const BlockShape& shape, const void* x, float* largest);
// Rounds to numbers of 8 bits with the scale (scale_of()) of each block's largest magnitude. values: [rows, columns];
// inverse_scales, by what they are to be multiplied: as `largest`.
struct Rounding {
    Narrow type = Narrow::e4m3;
    ScaleKind kind = ScaleKind::exact;
};
void launch_rounding(const Launch& launch, const BlockShape& shape, const Rounding& rounding, const void* x,
    const float* largest, uint8_t* values, float* inverse_scales);

} // namespace fourfold::trainer
