// SPDX-License-Identifier: GPL-3.0-or-later
// What a rehearsal takes for LibTorch's kernels on a CPU, each beside what it takes there as the counting allocator
// sees it: at its peak, and what is left when it returned.
#include "runner/trainer/rehearsal/rehearsed_device.h"
#include "tests/parity/counted_work.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/zeros.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace fourfold::trainer {
namespace {

using Tensors = std::vector<at::Tensor>;

// Operands are made before, and results live until both are counted.
struct Kernel {
    std::string name;
    std::function<Tensors(const at::TensorOptions&)> operands;
    std::function<Tensors(const Tensors&)> run;
    int threads = 2;
};
void PrintTo(const Kernel& kernel, std::ostream* out)
{
    *out << kernel.name;
}

struct Taken {
    int64_t peak = 0, left = 0; // bytes
    bool operator==(const Taken&) const = default;
};
void PrintTo(const Taken& taken, std::ostream* out)
{
    *out << taken.peak << " bytes at the peak, " << taken.left << " left";
}

fourfold::testing::CountedWork& counted()
{
    static fourfold::testing::CountedWork work;
    return work;
}

int64_t bytes_of(const Tensors& results)
{
    int64_t bytes = 0;
    for (const at::Tensor& result : results)
        bytes += int64_t(result.storage().nbytes());
    return bytes;
}

Taken on_a_cpu(const Kernel& kernel)
{
    const int before = at::get_num_threads();
    at::set_num_threads(kernel.threads);
    const Tensors operands = kernel.operands(at::TensorOptions(at::kCPU));
    const int64_t held = counted().restart_peak();
    const Tensors results = kernel.run(operands);
    const Taken taken{counted().peak_bytes() - held, bytes_of(results)};
    at::set_num_threads(before);
    return taken;
}

Taken rehearsed(const Kernel& kernel)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    const auto plan = fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()));
    const RehearsalPrices prices(plan);
    Ledger ledger;
    const RehearsedDevice device(ledger, prices, {.cpu = true, .threads = kernel.threads});
    const Tensors operands = kernel.operands(at::TensorOptions(at::kMeta));
    const auto held = int64_t(ledger.memory().peak_requested()); // the operands
    const Tensors results = kernel.run(operands);
    return {int64_t(ledger.memory().peak_requested()) - held, bytes_of(results)};
}

class CpuKernels : public ::testing::TestWithParam<Kernel> { };

TEST_P(CpuKernels, TakeWhatARehearsalTakes)
{
    EXPECT_EQ(rehearsed(GetParam()), on_a_cpu(GetParam()));
}

// Heads and positions as the trainer has them: [b, heads, s, head_dim] of memory [s, b, heads, head_dim].
at::Tensor heads(const at::TensorOptions& options, int64_t length, int64_t count)
{
    return at::zeros({length, 2, count, 8}, options).permute({1, 2, 0, 3});
}

std::vector<Kernel> kernels()
{
    std::vector<Kernel> all;
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16})
        for (const int64_t length : {16, 200, 800}) {
            if (type == at::kBFloat16 && length > 16)
                continue; // oneDNN takes something there, by processor
            const std::string name = std::string(toString(type)) + "_of_" + std::to_string(length);
            const auto operands = [type, length](const at::TensorOptions& on) {
                const auto options = on.dtype(type);
                const auto exact = on.dtype(type == at::kBFloat16 ? at::kFloat : type);
                return Tensors{heads(options, length, 4), heads(options, length, 2), heads(options, length, 2),
                    heads(options, length, 4), at::zeros({2, length, 4}, exact).transpose(1, 2),
                    heads(options, length, 4)};
            };
            all.push_back({"attention_" + name, operands, [](const Tensors& x) {
                               auto [output, log_sum] = at::_scaled_dot_product_flash_attention_for_cpu(
                                   x[0], x[1], x[2], 0.0, true, std::nullopt, 0.1);
                               return Tensors{output, log_sum};
                           }});
            all.push_back({"attention_backward_" + name, operands,
                [](const Tensors& x) {
                    auto [query, key, value] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
                        x[5], x[0], x[1], x[2], x[3], x[4], 0.0, true, std::nullopt, 0.1);
                    return Tensors{query, key, value};
                },
                /*threads=*/1}); // more of them add up when they come to it
        }
    const auto rows = [](const at::TensorOptions& on) {
        return Tensors{at::zeros({6, 3, 40}, on), at::zeros({40}, on), at::zeros({40}, on), at::zeros({6, 3, 40}, on),
            at::zeros({6, 3, 1}, on), at::zeros({6, 3, 1}, on)};
    };
    all.push_back({"layer_norm", rows, [](const Tensors& x) {
                       auto [y, mean, factor] = at::native_layer_norm(x[0], {40}, x[1], x[2], 1e-5);
                       return Tensors{y, mean, factor};
                   }});
    all.push_back({"layer_norm_backward", rows, [](const Tensors& x) {
                       auto [slope, weight, bias] = at::native_layer_norm_backward(
                           x[3], x[0], {40}, x[4], x[5], x[1], x[2], {true, true, true});
                       return Tensors{slope, weight, bias};
                   }});
    all.push_back({"embedding_backward",
        [](const at::TensorOptions& on) {
            return Tensors{at::zeros({3, 5, 12}, on).transpose(0, 1), at::zeros({5, 3}, on.dtype(at::kLong))};
        },
        [](const Tensors& x) { return Tensors{at::embedding_dense_backward(x[0], x[1], 30, -1, false)}; }});
    all.push_back({"count_of_labels",
        [](const at::TensorOptions& on) {
            return Tensors{at::zeros({7, 9}, on)};
        },
        [](const Tensors& x) { return Tensors{x[0].ne(1).sum()}; }});
    return all;
}
INSTANTIATE_TEST_SUITE_P(
    LibTorch, CpuKernels, ::testing::ValuesIn(kernels()), [](const auto& info) { return info.param.name; });

} // namespace
} // namespace fourfold::trainer
