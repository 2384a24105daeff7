// SPDX-License-Identifier: GPL-3.0-or-later
// Shapes of the operators that LibTorch knows on device `meta` from Python only, and what their kernels allocate for
// themselves where it is much: here a GPU's, in cpu_kernels.h a CPU's.
#include "runner/trainer/rehearsal/meta_kernels.h"

#include "runner/trainer/rehearsal/cpu_kernels.h"
#include "runner/trainer/rehearsal/rehearsed_device.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include <algorithm>

namespace fourfold::trainer {

namespace {

at::Tensor index_select(const at::Tensor& self, int64_t dimension, const at::Tensor& index)
{
    auto shape = self.sizes().vec();
    shape.at(std::size_t(dimension < 0 ? dimension + self.dim() : dimension)) = index.numel();
    return at::empty(shape, self.options());
}

// Many tokens are sorted on a GPU, and each one's rows are added up in fp32 by tens: what that takes is freed when it
// returns. aten/src/ATen/native/cuda/Embedding.cu and EmbeddingBackwardKernel.cu of LibTorch 2.11, in their order; what
// CUB takes to sort is known of 4096 tokens (H200), there 17,919 bytes beyond a copy of keys and values.
at::Tensor embedding_dense_backward(
    const at::Tensor& gradient, const at::Tensor& indices, c10::SymInt rows, c10::SymInt, bool)
{
    constexpr int64_t kUnsorted = 3072, kAtOnce = 10, kSort = 17919, kScan = 1279;
    const int64_t count = indices.numel(), vocab = rows.expect_int(), width = gradient.size(-1);
    if (rehearsed_device().cpu)
        return cpu::embedding_dense_backward(gradient, indices, vocab);
    if (count <= kUnsorted)
        return at::empty({vocab, width}, gradient.options());
    const auto numbers = [&](int64_t n) { return at::empty({n}, indices.options()); };
    const auto scratch = [&](int64_t bytes) { return at::empty({bytes}, indices.options().dtype(at::kByte)); };
    const at::Tensor sorted = numbers(count), places = numbers(count);
    {
        const at::Tensor range = numbers(count), sort = scratch(2 * count * indices.element_size() + kSort);
    }
    at::Tensor slope = at::empty({vocab, width}, gradient.options());
    const int64_t segments = std::min(count, vocab), parts = count / kAtOnce + segments;
    const at::Tensor begins = numbers(segments), found = numbers(1);
    {
        const at::Tensor copies = numbers(count), scan = scratch(kScan);
    }
    const at::Tensor parts_of = numbers(segments), first_part = numbers(segments);
    (void)scratch(kScan);
    const at::Tensor found_parts = numbers(1), part_begins = numbers(parts);
    const auto wide = gradient.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor sums = at::empty({parts, width}, gradient.options().dtype(wide));
    return slope;
}

// Mean and reciprocal deviation of each row are kept in fp32, as on a GPU.
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(const at::Tensor& input, c10::SymIntArrayRef shape,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>&, double)
{
    if (rehearsed_device().cpu)
        return cpu::native_layer_norm(input, input.size(-1), weight);
    auto rows = input.sizes().vec();
    std::fill(rows.end() - std::ptrdiff_t(shape.size()), rows.end(), 1);
    const auto kept = input.options().dtype(input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
    return {at::empty_like(input), at::empty(rows, kept), at::empty(rows, kept)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm_backward(const at::Tensor& gradient,
    const at::Tensor& input, c10::SymIntArrayRef, const at::Tensor&, const at::Tensor&,
    const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias, std::array<bool, 3> wanted)
{
    if (rehearsed_device().cpu)
        return cpu::native_layer_norm_backward(gradient, input, input.size(-1), weight, bias, wanted);
    const auto like = [](bool asked, const at::Tensor& x) { return asked ? at::empty_like(x) : at::Tensor(); };
    return {like(wanted[0], input), like(wanted[1] && weight, weight.value_or(input)),
        like(wanted[2] && bias, bias.value_or(input))};
}

// On device `meta` a tensor that grows gets no memory.
at::Tensor& grown(at::Tensor& out, at::IntArrayRef sizes)
{
    if (const at::Tensor whole = at::empty(sizes, out.options()); whole.storage().nbytes() > out.storage().nbytes())
        out.unsafeGetTensorImpl()->set_storage_keep_dtype(whole.storage());
    out.resize_(sizes);
    return out;
}

// Of what has the shape of its operand.
at::Tensor& like_operand(const at::Tensor& self, at::Tensor& out)
{
    return grown(out, self.sizes());
}

std::tuple<at::Tensor&, at::Tensor&> mantissa_and_exponent(
    const at::Tensor& self, at::Tensor& mantissa, at::Tensor& exponent)
{
    return {grown(mantissa, self.sizes()), grown(exponent, self.sizes())};
}

// Of what has the shape of both operands broadcast.
at::Tensor& of_both(const at::Tensor& self, const at::Tensor& other, at::Tensor& out)
{
    return grown(out, at::infer_size(self.sizes(), other.sizes()));
}

at::Tensor where(const at::Tensor& condition, const at::Tensor& self, const at::Tensor& other)
{
    const auto shape = at::infer_size(condition.sizes(), at::infer_size(self.sizes(), other.sizes()));
    return at::empty(shape, (self.dim() > 0 ? self : other).options().dtype(at::result_type(self, other)));
}

at::Tensor& where_out(const at::Tensor& condition, const at::Tensor& self, const at::Tensor& other, at::Tensor& out)
{
    return grown(out, at::infer_size(condition.sizes(), at::infer_size(self.sizes(), other.sizes())));
}

// Of numbers of 8 bits, without a copy in a wider type.
at::Tensor scaled_product(const at::Tensor& a, const at::Tensor& b, const at::Tensor&, const at::Tensor&,
    const std::optional<at::Tensor>&, const std::optional<at::Tensor>&, std::optional<at::ScalarType> type, bool)
{
    return at::empty({a.size(0), b.size(1)}, a.options().dtype(type.value_or(a.scalar_type())));
}

at::Tensor& scaled_product_out(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
    const std::optional<at::Tensor>&, const std::optional<at::Tensor>&, std::optional<at::ScalarType>, bool,
    at::Tensor& out)
{
    return out;
}

// [b, heads, s, head_dim]; the kernel keeps the log-sums in fp32.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor>
flash_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor&, double, bool, bool, std::optional<double>)
{
    const auto state = query.options().dtype(at::kUInt64);
    // As the kernel lays it out: positions before heads, in the order of the query's memory.
    const at::Tensor output = at::empty_like(query.transpose(1, 2)).transpose(1, 2);
    return {output, at::empty({query.size(0), query.size(1), query.size(2)}, query.options().dtype(at::kFloat)),
        at::Tensor(), at::Tensor(), query.size(2), key.size(2), at::empty({2}, state), at::empty({}, state),
        at::empty({0}, query.options())};
}

// What the kernel takes besides its results is freed when it returns: mha_bwd() of LibTorch's
// aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, in its order.
std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const at::Tensor& gradient,
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& output,
    const at::Tensor&, const at::Tensor&, const at::Tensor&, c10::SymInt, c10::SymInt, double, bool, const at::Tensor&,
    const at::Tensor&, std::optional<double>)
{
    const DeviceTraits& gpu = rehearsed_device();
    const auto rounded = [](int64_t n, int64_t step) { return (n + step - 1) / step * step; };
    const int64_t batch = query.size(0), heads = query.size(1), length = query.size(2), width = query.size(3);
    const int64_t rows = rounded(length, 128), columns = rounded(width, width <= 128 ? 32 : 64);
    const at::Tensor slope_rows = gradient.transpose(1, 2).contiguous(),
                     output_rows = output.transpose(1, 2).contiguous();
    const auto like = [](const at::Tensor& x) { return at::empty_like(x.transpose(1, 2)).transpose(1, 2); };
    at::Tensor query_slope = like(query), key_slope = like(key), value_slope = like(value);
    const auto wide = query.options().dtype(at::kFloat);
    const at::Tensor row_sums = at::empty({batch, heads, rows}, wide);
    const int64_t parts = gpu.deterministic ? (gpu.multiprocessors + batch * heads - 1) / (batch * heads) : 1;
    const at::Tensor query_sums = at::empty({std::max<int64_t>(parts, 1), batch, rows, heads, columns}, wide);
    at::Tensor each_key, each_value; // of every head of the queries
    if (key.size(1) != heads) {
        each_key = at::empty({batch, key.size(2), heads, width}, query.options());
        each_value = at::empty_like(each_key);
    }
    return {std::move(query_slope), std::move(key_slope), std::move(value_slope)};
}

} // namespace

void need_meta_kernels() { }

TORCH_LIBRARY_IMPL(aten, Meta, library)
{
    library.impl("index_select", index_select);
    library.impl("embedding_dense_backward", embedding_dense_backward);
    library.impl("native_layer_norm", native_layer_norm);
    library.impl("native_layer_norm_backward", native_layer_norm_backward);
    library.impl("frexp.Tensor_out", mantissa_and_exponent);
    library.impl("abs.out", like_operand);
    library.impl("logical_not.out", like_operand);
    library.impl("logical_and.out", of_both);
    library.impl("logical_or.out", of_both);
    library.impl("where.self", where);
    library.impl("where.self_out", where_out);
    library.impl("_scaled_mm", scaled_product);
    library.impl("_scaled_mm.out", scaled_product_out);
    library.impl("_scaled_dot_product_flash_attention", flash_attention);
    library.impl("_scaled_dot_product_flash_attention_backward", flash_attention_backward);
}

} // namespace fourfold::trainer
