// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/kernels/updates.h"

#include "runner/trainer/kernels/cpu_loops.h"
#include "runner/trainer/kernels/gpu_kernels.h"

#include <ATen/Parallel.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <vector>

namespace fourfold::trainer {

namespace {
constexpr int64_t kPiece = int64_t(1) << 16; // elements that a thread takes at once
constexpr int64_t kConvertedAtOnce = 1 << 24; // elements

// Rows are summed in their own type, but 16-bit ones in fp32: a norm of the whole in fp64 would first hold a copy of it
// in fp64.
at::Tensor plain_squared_norm(const at::Tensor& values)
{
    constexpr int64_t kRow = 1024;
    const int64_t in_rows = values.numel() / kRow * kRow;
    const at::ScalarType type = values.element_size() == 2 ? at::kFloat : values.scalar_type();
    const auto of_rows = [&](const at::Tensor& rows) {
        return at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, false, type).to(at::kDouble).square().sum();
    };
    const at::Tensor rest = of_rows(values.narrow(0, in_rows, values.numel() - in_rows).view({1, -1}));
    return in_rows == 0 ? rest : rest.add_(of_rows(values.narrow(0, 0, in_rows).view({-1, kRow})));
}

// An operation for each term. All in the master's type.
void plain_update(const AdamFactors<double>& of, const at::Tensor& gradient, const at::Tensor& master,
    const at::Tensor& first, const at::Tensor& second)
{
    at::Tensor slope = gradient.mul(of.gradient_scale);
    if (of.l2 != 0)
        slope.add_(master, of.l2);
    first.mul_(of.beta1).add_(slope, of.rest1);
    second.mul_(of.beta2).addcmul_(slope, slope, of.rest2);
    slope = second.sqrt().mul_(of.root).add_(of.eps);
    master.mul_(of.kept).addcdiv_(first, slope, -of.rate);
}

template <typename T>
AdamFactors<T> factors_in(const AdamFactors<double>& of)
{
    return {T(of.gradient_scale), T(of.l2), T(of.beta1), T(of.rest1), T(of.beta2), T(of.rest2), T(of.kept), T(of.rate),
        T(of.root), T(of.eps)};
}

// Calls `use` with a null pointer of the element type, where there are loops for it.
template <typename Use>
bool by_loops(const at::Tensor& x, Use&& use)
{
    switch (x.scalar_type()) {
    case at::kDouble:
        use(static_cast<double*>(nullptr));
        return true;
    case at::kFloat:
        use(static_cast<float*>(nullptr));
        return true;
    case at::kBFloat16:
        use(static_cast<Brain16*>(nullptr));
        return true;
    default:
        return false;
    }
}
template <typename T>
T* elements(const at::Tensor& x, T*)
{
    return static_cast<T*>(x.mutable_data_ptr());
}

bool update_by_loops(const AdamFactors<double>& of, const at::Tensor& gradient, const at::Tensor& master,
    const at::Tensor& first, const at::Tensor& second)
{
    bool done = false;
    const auto update = [&](auto* m, auto* g, auto* s) {
        using T = std::remove_pointer_t<decltype(m)>;
        if constexpr (requires { adam(AdamFactors<T>(), g, 0, m, s, s); }) {
            const AdamFactors<T> factors = factors_in<T>(of);
            at::parallel_for(0, master.numel(), kPiece, [&](int64_t begin, int64_t end) {
                adam(factors, elements(gradient, g) + begin, end - begin, elements(master, m) + begin,
                    elements(first, s) + begin, elements(second, s) + begin);
            });
            done = true;
        }
    };
    by_loops(gradient, [&](auto* g) {
        by_loops(first, [&](auto* s) {
            if (master.scalar_type() == at::kDouble)
                update(static_cast<double*>(nullptr), g, s);
            else
                update(static_cast<float*>(nullptr), g, s);
        });
    });
    for (const at::Tensor& written : {master, first, second})
        written.unsafeGetTensorImpl()->bump_version(); // as operators in place do
    return done;
}

// In an order that goes by the number of elements alone.
double squares_by_loops(const at::Tensor& x)
{
    std::vector<double> sums(std::size_t((x.numel() + kPiece - 1) / kPiece), 0.0);
    by_loops(x, [&](auto* t) {
        const auto* const all = elements(x, t);
        at::parallel_for(0, int64_t(sums.size()), 1, [&](int64_t first, int64_t last) {
            for (int64_t piece = first; piece < last; ++piece)
                sums[std::size_t(piece)]
                    = sum_of_squares(all + piece * kPiece, std::min(kPiece, x.numel() - piece * kPiece));
        });
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}
} // namespace

at::Tensor squared_norm(Kernels kernels, const at::Tensor& values)
{
    if (kernels == Kernels::fused && has_gpu_kernels(values))
        return squares_by_kernel(values);
    if (kernels == Kernels::fused && values.is_cpu() && values.scalar_type() != at::kHalf)
        return at::scalar_tensor(squares_by_loops(values), values.options().dtype(at::kDouble));
    return plain_squared_norm(values);
}

void adam_update(Kernels kernels, const AdamFactors<double>& factors, const at::Tensor& gradient,
    const at::Tensor& master, const at::Tensor& first, const at::Tensor& second)
{
    if (kernels == Kernels::fused) {
        if (has_gpu_kernels(gradient) && master.scalar_type() == at::kFloat)
            return update_by_kernel(factors_in<float>(factors), gradient, master, first, second);
        if (master.is_cpu() && update_by_loops(factors, gradient, master, first, second))
            return;
    }
    // Piece by piece: a bucket may hold gigabytes, and what is made on the way is of its size.
    const at::ScalarType exact = master.scalar_type();
    for (int64_t begin = 0; begin < master.numel(); begin += kConvertedAtOnce) {
        const auto own = [&](const at::Tensor& whole) {
            return whole.narrow(0, begin, std::min(kConvertedAtOnce, master.numel() - begin));
        };
        const at::Tensor kept_mean = own(first), kept_square = own(second);
        const at::Tensor mean = kept_mean.to(exact), square = kept_square.to(exact);
        plain_update(factors, own(gradient).to(exact), own(master), mean, square);
        if (!mean.is_same(kept_mean)) {
            kept_mean.copy_(mean);
            kept_square.copy_(square);
        }
    }
}

} // namespace fourfold::trainer
