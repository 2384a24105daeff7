// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/gpu_kernels.h"

#include "runner/trainer/device/device.h"
#include "runner/trainer/device/kind.h"
#include "runner/trainer/kernels/launches.h"
#include "runner/trainer/rehearsal/lasting.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <vector>

namespace fourfold::trainer {

namespace {
// Calls `use` with where to launch, for elements as those of `x`; without values a rehearsal is told instead.
template <typename Use>
void launch_on(
    const at::Tensor& x, const std::vector<at::Tensor>& reads, const std::vector<at::Tensor>& writes, const Use& use)
{
    if (x.is_meta()) {
        launched(reads, writes);
        return;
    }
    const c10::DeviceGuard current(x.device());
    const at::ScalarType type = x.scalar_type();
    use(Launch{gpu_stream(x.device().index()),
        type == at::kBFloat16   ? Element::bf16
            : type == at::kHalf ? Element::fp16
                                : Element::fp32});
}

at::Tensor without_gaps(const at::Tensor& x)
{
    return at::empty(x.sizes(), x.options());
}

// Its rows, or its columns, without gaps inside.
at::Tensor along_memory(const at::Tensor& matrix)
{
    return matrix.stride(1) == 1 || matrix.stride(0) == 1 ? matrix : matrix.contiguous();
}

BlockShape shape_of(const at::Tensor& matrix, const ScaleBlock& block)
{
    return {matrix.size(0), matrix.size(1), matrix.stride(0), matrix.stride(1), block.rows, block.columns};
}
} // namespace

bool has_gpu_kernels(const at::Tensor& x)
{
    const at::ScalarType type = x.scalar_type();
    return !on_cpu(x) && (type == at::kFloat || type == at::kBFloat16 || type == at::kHalf);
}

at::Tensor turned_by_kernel(const at::Tensor& any, const at::Tensor& cosine, const at::Tensor& sine, int direction)
{
    const at::Tensor x = any.stride(-1) == 1 ? any : any.contiguous();
    const at::Tensor cosines = cosine.contiguous(), sines = sine.contiguous(), y = without_gaps(x);
    const TurnShape shape{x.size(0), x.size(1), x.size(2), x.size(3) / 2, x.stride(0), x.stride(1), x.stride(2),
        /*own_tables=*/cosine.dim() == 3};
    launch_on(x, {x, cosines, sines}, {y}, [&](const Launch& launch) {
        launch_turn(launch, shape, x.const_data_ptr(), cosines.const_data_ptr<float>(), sines.const_data_ptr<float>(),
            direction, y.mutable_data_ptr());
    });
    return y;
}

NormedSumAndScale normed_sum_by_kernel(
    const at::Tensor& x, const at::Tensor& more, const at::Tensor& any_weight, double eps)
{
    const at::Tensor weight = any_weight.contiguous();
    const RowShape shape{x.numel() / x.size(-1), x.size(-1)};
    NormedSumAndScale out{without_gaps(x), without_gaps(x), at::empty({shape.rows}, x.options().dtype(at::kFloat))};
    launch_on(x, {x, more, weight}, {out.sum, out.normed, out.scale}, [&](const Launch& launch) {
        launch_normed_sum(launch, shape, float(eps), x.const_data_ptr(), more.const_data_ptr(), weight.const_data_ptr(),
            out.sum.mutable_data_ptr(), out.normed.mutable_data_ptr(), out.scale.mutable_data_ptr<float>());
    });
    return out;
}

std::pair<at::Tensor, at::Tensor> normed_sum_slopes_by_kernel(const at::Tensor& sum_slope, const at::Tensor& slope,
    const at::Tensor& sum, const at::Tensor& any_weight, const at::Tensor& scale)
{
    constexpr int64_t kParts = 256; // as many as run at once on GPUs of today
    const at::Tensor weight = any_weight.contiguous(), x_slope = without_gaps(sum);
    const RowShape shape{sum.numel() / sum.size(-1), sum.size(-1)};
    const int64_t parts = std::min(kParts, shape.rows);
    const at::Tensor weight_parts = at::empty({parts, shape.width}, scale.options());
    launch_on(sum, {sum_slope, slope, sum, weight, scale}, {x_slope, weight_parts}, [&](const Launch& launch) {
        launch_normed_sum_slopes(launch, shape,
            {sum_slope.const_data_ptr(), slope.const_data_ptr(), sum.const_data_ptr(), weight.const_data_ptr(),
                scale.const_data_ptr<float>()},
            x_slope.mutable_data_ptr(), weight_parts.mutable_data_ptr<float>(), parts);
    });
    return {x_slope, weight_parts.sum(0).to(weight.scalar_type())};
}

void update_by_kernel(const AdamFactors<float>& factors, const at::Tensor& gradient, const at::Tensor& master,
    const at::Tensor& first, const at::Tensor& second)
{
    launch_on(gradient, {gradient, master, first, second}, {master, first, second}, [&](const Launch& launch) {
        launch_adam(launch, factors, gradient.const_data_ptr(), gradient.numel(), master.mutable_data_ptr<float>(),
            first.scalar_type() == at::kBFloat16, first.mutable_data_ptr(), second.mutable_data_ptr());
    });
    for (const at::Tensor& written : {master, first, second})
        written.unsafeGetTensorImpl()->bump_version(); // as operators in place do
}

at::Tensor squares_by_kernel(const at::Tensor& x)
{
    constexpr int64_t kParts = 1024, kOfPart = 1 << 12; // elements
    const int64_t parts = std::clamp<int64_t>(x.numel() / kOfPart, 1, kParts);
    const at::Tensor sums = at::empty({parts}, x.options().dtype(at::kDouble));
    launch_on(x, {x}, {sums}, [&](const Launch& launch) {
        launch_squares(launch, x.const_data_ptr(), x.numel(), sums.mutable_data_ptr<double>(), parts);
    });
    return sums.sum();
}

at::Tensor gated_by_kernel(const GateForm<float>& form, const at::Tensor& any_gate, const at::Tensor& any_up)
{
    const at::Tensor gate = any_gate.contiguous(), up = any_up.contiguous(), y = without_gaps(gate);
    launch_on(gate, {gate, up}, {y}, [&](const Launch& launch) {
        launch_gated(launch, form, gate.const_data_ptr(), up.const_data_ptr(), gate.numel(), y.mutable_data_ptr());
    });
    return y;
}

std::pair<at::Tensor, at::Tensor> gated_slopes_by_kernel(
    const GateForm<float>& form, const at::Tensor& any_slope, const at::Tensor& any_gate, const at::Tensor& any_up)
{
    const at::Tensor slope = any_slope.contiguous(), gate = any_gate.contiguous(), up = any_up.contiguous();
    const at::Tensor gate_slope = without_gaps(gate), up_slope = without_gaps(up);
    launch_on(gate, {slope, gate, up}, {gate_slope, up_slope}, [&](const Launch& launch) {
        launch_gated_slopes(launch, form, slope.const_data_ptr(), gate.const_data_ptr(), up.const_data_ptr(),
            gate.numel(), gate_slope.mutable_data_ptr(), up_slope.mutable_data_ptr());
    });
    return {gate_slope, up_slope};
}

RowSums row_sums_by_kernel(const at::Tensor& any_logits, int64_t valid)
{
    const at::Tensor logits = any_logits.contiguous();
    const auto numbers = logits.options().dtype(at::kFloat);
    RowSums sums{at::empty({logits.size(0)}, numbers), at::empty({logits.size(0)}, numbers)};
    launch_on(logits, {logits}, {sums.highest, sums.sum}, [&](const Launch& launch) {
        launch_row_sums(launch, {logits.size(0), logits.size(1), valid}, logits.const_data_ptr(),
            sums.highest.mutable_data_ptr<float>(), sums.sum.mutable_data_ptr<float>());
    });
    return sums;
}

void write_loss_slopes(const at::Tensor& logits, int64_t valid, const at::Tensor& log_sum, const at::Tensor& any_labels,
    int64_t first_label, bool all_count, const at::Tensor& factor)
{
    const at::Tensor labels = any_labels.contiguous();
    launch_on(logits, {logits, log_sum, labels, factor}, {logits}, [&](const Launch& launch) {
        launch_loss_slopes(launch, {logits.size(0), logits.size(1), valid},
            {log_sum.const_data_ptr<float>(), labels.const_data_ptr<int64_t>(), factor.const_data_ptr<float>(),
                first_label, all_count},
            logits.mutable_data_ptr());
    });
    logits.unsafeGetTensorImpl()->bump_version(); // as operators in place do
}

void largest_by_kernel(const at::Tensor& zeros, const at::Tensor& any, const ScaleBlock& block)
{
    const at::Tensor matrix = along_memory(any);
    launch_on(matrix, {matrix}, {zeros}, [&](const Launch& launch) {
        launch_largest(launch, shape_of(matrix, block), matrix.const_data_ptr(), zeros.mutable_data_ptr<float>());
    });
}

Quantized quantized_by_kernel(
    const at::Tensor& any, at::ScalarType type, const ScaleBlock& block, ScaleKind kind, const at::Tensor& any_largest)
{
    const at::Tensor matrix = along_memory(any), largest = any_largest.contiguous();
    const Rounding rounding{type == at::kFloat8_e4m3fn ? Narrow::e4m3 : Narrow::e5m2, kind};
    Quantized quantized{at::empty(matrix.sizes(), matrix.options().dtype(type)), without_gaps(largest)};
    launch_on(matrix, {matrix, largest}, {quantized.values, quantized.inverse_scales}, [&](const Launch& launch) {
        launch_rounding(launch, shape_of(matrix, block), rounding, matrix.const_data_ptr(),
            largest.const_data_ptr<float>(), static_cast<uint8_t*>(quantized.values.mutable_data_ptr()),
            quantized.inverse_scales.mutable_data_ptr<float>());
    });
    return quantized;
}

} // namespace fourfold::trainer
