// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic between the matrix products, each operation one pass over plain arrays: LibTorch takes a pass for every
// term of a formula. Row-major, no padding. fp32 and fp64.
#pragma once

#include "runner/trainer/kernels/elements.h"

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

// The same of sum = x + more, which is written too.
void normed_sum_rows(const float* x, const float* more, const float* weight, int64_t rows, int64_t width, double eps,
    float* sum, float* y, float* scale);
void normed_sum_rows(const double* x, const double* more, const double* weight, int64_t rows, int64_t width, double eps,
    double* sum, double* y, double* scale);
// sum_slope: what comes to the sum by itself, slope: of y. x_slope: of both summands.
void normed_sum_slopes(const float* sum_slope, const float* slope, const float* sum, const float* weight,
    const float* scale, int64_t rows, int64_t width, float* x_slope, float* weight_slope);
void normed_sum_slopes(const double* sum_slope, const double* slope, const double* sum, const double* weight,
    const double* scale, int64_t rows, int64_t width, double* x_slope, double* weight_slope);

// Turns each pair (x[i], x[i + half]) of a row of 2 half elements by the angle of its position; `direction` -1 turns
// back. x, y: [positions, rows, 2 half]; cosine, sine: [positions, half].
void turn(const float* x, const float* cosine, const float* sine, int64_t positions, int64_t rows, int64_t half,
    int direction, float* y);
void turn(const double* x, const double* cosine, const double* sine, int64_t positions, int64_t rows, int64_t half,
    int direction, double* y);

// A gated activation of which the sigmoid is made already, and its gradients.
void gated(
    const GateForm<float>& form, const float* gate, const float* sigmoid, const float* up, int64_t count, float* y);
void gated(const GateForm<double>& form, const double* gate, const double* sigmoid, const double* up, int64_t count,
    double* y);
void gated_slopes(const GateForm<float>& form, const float* slope, const float* gate, const float* sigmoid,
    const float* up, int64_t count, float* gate_slope, float* up_slope);
void gated_slopes(const GateForm<double>& form, const double* slope, const double* gate, const double* sigmoid,
    const double* up, int64_t count, double* gate_slope, double* up_slope);

// One update of Adam: see AdamFactors. Gradients and moments may be in bf16.
void adam(const AdamFactors<float>& factors, const float* gradient, int64_t count, float* master, float* first,
    float* second);
void adam(const AdamFactors<double>& factors, const double* gradient, int64_t count, double* master, double* first,
    double* second);
void adam(const AdamFactors<float>& factors, const float* gradient, int64_t count, float* master, Brain16* first,
    Brain16* second);
void adam(const AdamFactors<float>& factors, const Brain16* gradient, int64_t count, float* master, float* first,
    float* second);
void adam(const AdamFactors<float>& factors, const Brain16* gradient, int64_t count, float* master, Brain16* first,
    Brain16* second);

double sum_of_squares(const float* x, int64_t count);
double sum_of_squares(const double* x, int64_t count);
double sum_of_squares(const Brain16* x, int64_t count);

} // namespace fourfold::trainer
