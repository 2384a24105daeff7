// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic between the matrix products, each operation one pass over plain arrays: LibTorch takes a pass for every
// term of a formula. Row-major, no padding. fp32 and fp64.
#pragma once

#include <cstdint>

namespace fourfold::trainer {

// y = x * scale * weight with scale = 1 / sqrt(mean(x^2) + eps) of each row. x, y: [rows, width]; scale: [rows].
void rms_norm_rows(
    const float* x, const float* weight, int64_t rows, int64_t width, double eps, float* y, float* scale);
void rms_norm_rows(
    const double* x, const double* weight, int64_t rows, int64_t width, double eps, double* y, double* scale);
// slope: of y. weight_slope [width] is written, not added to.
void rms_norm_slopes(const float* slope, const float* x, const float* weight, const float* scale, int64_t rows,
    int64_t width, float* x_slope, float* weight_slope);
void rms_norm_slopes(const double* slope, const double* x, const double* weight, const double* scale, int64_t rows,
    int64_t width, double* x_slope, double* weight_slope);

// Turns each pair (x[i], x[i + half]) of a row of 2 half elements by the angle of its position; `direction` -1 turns
// back. x, y: [positions, rows, 2 half]; cosine, sine: [positions, half].
void turn(const float* x, const float* cosine, const float* sine, int64_t positions, int64_t rows, int64_t half,
    int direction, float* y);
void turn(const double* x, const double* cosine, const double* sine, int64_t positions, int64_t rows, int64_t half,
    int direction, double* y);

// y = gate * sigmoid * up, with sigmoid = 1 / (1 + exp(-gate)), and its gradients.
void gated(const float* gate, const float* sigmoid, const float* up, int64_t count, float* y);
void gated(const double* gate, const double* sigmoid, const double* up, int64_t count, double* y);
void gated_slopes(const float* slope, const float* gate, const float* sigmoid, const float* up, int64_t count,
    float* gate_slope, float* up_slope);
void gated_slopes(const double* slope, const double* gate, const double* sigmoid, const double* up, int64_t count,
    double* gate_slope, double* up_slope);

} // namespace fourfold::trainer
