// SPDX-License-Identifier: GPL-3.0-or-later
// What LibTorch's kernels for CPUs allocate for themselves, of those that allocate something else than kernels for
// GPUs: aten/src/ATen/native of LibTorch 2.11, each in its order. Those that only CPUs have are registered for device
// `meta` here; those that both have are called by meta_kernels.cpp.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

namespace fourfold::trainer::cpu {

// Copies of operands in another type that an operator makes, and frees when it returns.
int64_t bytes_of_copies(std::string_view name, c10::ArrayRef<const c10::IValue> inputs);

// Mean and reciprocal deviation of each row are kept in the type of the weight.
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(
    const at::Tensor& input, int64_t width, const std::optional<at::Tensor>& weight);
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm_backward(const at::Tensor& gradient,
    const at::Tensor& input, int64_t width, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, std::array<bool, 3> wanted);
at::Tensor embedding_dense_backward(const at::Tensor& gradient, const at::Tensor& indices, int64_t rows);

} // namespace fourfold::trainer::cpu
