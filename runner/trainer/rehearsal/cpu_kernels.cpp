// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/rehearsal/cpu_kernels.h"

#include "runner/trainer/rehearsal/rehearsed_device.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include <algorithm>

namespace fourfold::trainer::cpu {

namespace {
// [b, heads, s, head_dim]. Queries and keys that a thread computes at once: cpu/FlashAttentionKernel.cpp.
struct AtOnce {
    int64_t queries, keys;
};
AtOnce at_once(const at::Tensor& query, const at::Tensor& key)
{
    constexpr int64_t kLong = 768, kMiddle = 192, kKeys = 512;
    const int64_t length = query.size(2), most = length >= kLong ? 256 : length >= kMiddle ? 64 : 32;
    return {std::min(most, length), std::min(kKeys, key.size(2))};
}

bool is_short(const at::Tensor& x) // numbers of 16 bits, which are added up in fp32
{
    return at::toOpMathType(x.scalar_type()) != x.scalar_type();
}

at::TensorOptions exact(const at::Tensor& x)
{
    return x.options().dtype(at::toOpMathType(x.scalar_type()));
}

// The result lies as the queries do, the log-sums positions before heads.
std::tuple<at::Tensor, at::Tensor> flash_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor&,
    double, bool, const std::optional<at::Tensor>&, std::optional<double>)
{
    const int64_t batch = query.size(0), heads = query.size(1), length = query.size(2), width = query.size(3);
    const at::Tensor output = at::empty_like(query), log_sum = at::empty({batch, length, heads}, exact(query));
    const auto [queries, keys] = at_once(query, key);
    const int64_t threads = rehearsed_device().threads;
    const at::Tensor scores = at::empty({threads, queries * keys + 2 * queries + queries * width}, exact(query)),
                     rounded = at::empty({threads, queries, is_short(query) ? keys : 0}, query.options());
    return {output, log_sum.transpose(1, 2)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const at::Tensor& gradient,
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor&, const at::Tensor&,
    double, bool, const std::optional<at::Tensor>&, std::optional<double>)
{
    const auto slope_of
        = [](const at::Tensor& x) { return at::empty(x.transpose(1, 2).sizes(), x.options()).transpose(1, 2); };
    at::Tensor query_slope = slope_of(query), key_slope = slope_of(key), value_slope = slope_of(value);
    const at::Tensor slope = gradient.transpose(1, 2).contiguous();
    const auto [queries, keys] = at_once(query, key);
    const int64_t threads = rehearsed_device().threads;
    const at::Tensor scores = at::empty({threads, 2 * queries * keys}, exact(query)),
                     rounded = at::empty({threads, is_short(query) ? 2 * queries * keys : 0}, query.options()),
                     sums = at::empty({threads, queries}, exact(query));
    return {std::move(query_slope), std::move(key_slope), std::move(value_slope)};
}

// `last`: the type that is asked for, or the result.
at::ScalarType type_of_sum(const at::Tensor& x, const c10::IValue& last)
{
    if (last.isTensor())
        return last.toTensor().scalar_type();
    if (last.isInt())
        return at::ScalarType(last.toInt());
    return at::isIntegralType(x.scalar_type(), /*includeBool=*/true) ? at::kLong : x.scalar_type();
}

// Operators whose operands are brought into the type of their result first.
constexpr std::array<std::string_view, 9> kPromotes{"aten::add", "aten::add_", "aten::sub", "aten::sub_", "aten::mul",
    "aten::mul_", "aten::div", "aten::div_", "aten::maximum"};

TORCH_LIBRARY_IMPL(aten, Meta, library)
{
    library.impl("_scaled_dot_product_flash_attention_for_cpu", flash_attention);
    library.impl("_scaled_dot_product_flash_attention_for_cpu_backward", flash_attention_backward);
}
} // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(
    const at::Tensor& input, int64_t width, const std::optional<at::Tensor>& weight)
{
    const at::Tensor x = input.contiguous();
    auto rows = input.sizes().vec();
    rows.back() = 1;
    const auto kept = weight && weight->defined() ? weight->options() : input.options();
    return {at::empty_like(x), at::empty({input.numel() / width}, kept).view(rows),
        at::empty({input.numel() / width}, kept).view(rows)};
}

// layer_norm.cpp, and what cpu/layer_norm_kernel.cpp adds up in by thread.
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm_backward(const at::Tensor& gradient,
    const at::Tensor& input, int64_t width, const std::optional<at::Tensor>& weight,
    const std::optional<at::Tensor>& bias, std::array<bool, 3> wanted)
{
    const at::Tensor slope = gradient.contiguous(), x = input.contiguous();
    const auto like = [](bool asked, const at::Tensor& of) { return asked ? at::empty_like(of) : at::Tensor(); };
    at::Tensor x_slope = like(wanted[0], x), weight_slope = like(wanted[1] && weight, weight.value_or(x)),
               bias_slope = like(wanted[2] && bias, bias.value_or(x));
    const at::Tensor sums = weight_slope.defined() || bias_slope.defined()
        ? at::empty({2, rehearsed_device().threads, width}, exact(input))
        : at::Tensor();
    return {std::move(x_slope), std::move(weight_slope), std::move(bias_slope)};
}

// TensorIterator.cpp (compute_types), ReduceOpsUtils.h (make_reduction_from_out_ty).
int64_t bytes_of_copies(std::string_view name, c10::ArrayRef<const c10::IValue> inputs)
{
    if (name == "aten::sum") {
        const at::Tensor& x = inputs[0].toTensor();
        const at::ScalarType type = type_of_sum(x, inputs[inputs.size() - 1]);
        return x.scalar_type() == type ? 0 : x.numel() * int64_t(c10::elementSize(type));
    }
    if (std::ranges::find(kPromotes, name) == kPromotes.end() || !inputs[1].isTensor())
        return 0;
    const at::Tensor &a = inputs[0].toTensor(), &b = inputs[1].toTensor();
    const at::ScalarType common = at::result_type(a, b);
    int64_t elements = 0;
    for (const at::Tensor& operand : {a, b})
        elements += operand.scalar_type() == common ? 0 : operand.numel();
    if (name.ends_with('_') && a.scalar_type() != common) // and back
        elements += a.numel();
    return elements * int64_t(c10::elementSize(common));
}

at::Tensor embedding_dense_backward(const at::Tensor& gradient, const at::Tensor& indices, int64_t rows)
{
    const at::Tensor places = indices.contiguous(), slope = gradient.contiguous();
    return at::empty({rows, gradient.size(-1)}, gradient.options());
}

} // namespace fourfold::trainer::cpu
