// SPDX-License-Identifier: GPL-3.0-or-later
// The product of experts with 256 rows each beside one dense product of equal FLOPs, forward and backward, and beside
// LibTorch's own grouped product (torch._grouped_mm), forward alone: bench_grouped [THREADS [ROUNDS]].
#include "runner/trainer/expert_parallel/grouped_product.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {
using namespace fourfold::trainer;

constexpr int kExperts = 8;
constexpr int64_t kRows = 256, kIn = 512, kOut = 1024;

double seconds(const std::function<void()>& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

// Of both, in turn: how often the one is done in the time of the other, the median of the rounds.
void report(const char* type, const char* what, int rounds, const std::function<void()>& ours,
    const std::function<void()>& theirs)
{
    std::vector<double> times, others, ratios;
    for (int round = -1; round < rounds; ++round) { // the first warms up
        const double one = seconds(ours), other = seconds(theirs);
        if (round < 0)
            continue;
        times.push_back(one);
        others.push_back(other);
        ratios.push_back(other / one);
    }
    std::printf("%s, %s: %.2f ms beside %.2f ms, %.2f x\n", type, what, median(times) * 1e3, median(others) * 1e3,
        median(ratios));
}

void compare(at::ScalarType type, const char* name, int rounds)
{
    auto random = [&, seed = uint64_t(1)](const std::vector<int64_t>& shape) mutable {
        return at::randn(shape, at::detail::createCPUGenerator(seed++), at::TensorOptions(at::kFloat)).to(type);
    };
    const at::Tensor x = random({kExperts * kRows, kIn}).requires_grad_(true), slope = random({kExperts * kRows, kOut});
    const at::Tensor dense = random({kOut, kIn}).requires_grad_(true);
    std::vector<at::Tensor> experts;
    for (int expert = 0; expert < kExperts; ++expert)
        experts.push_back(random({kOut, kIn}).requires_grad_(true));
    const std::vector<int64_t> rows(kExperts, kRows);
    WeightGradients later;
    report(
        name, "grouped beside one dense product, forward and backward", rounds,
        [&] { grouped_linear(x, experts, {}, true, rows).backward(slope); },
        [&] {
            linear(x, {dense, {}}, later).backward(slope);
        });

    const at::NoGradGuard no_graph;
    const at::Tensor stacked = at::stack(experts).transpose(1, 2);
    std::vector<int32_t> ends;
    for (int expert = 1; expert <= kExperts; ++expert)
        ends.push_back(int32_t(expert * kRows));
    const at::Tensor offsets = at::tensor(ends, at::TensorOptions(at::kInt));
    report(
        name, "grouped beside at::_grouped_mm, forward", rounds, [&] { grouped_linear(x, experts, {}, true, rows); },
        [&] { at::_grouped_mm(x, stacked, offsets); });
}
} // namespace

int main(int argc, char** argv)
{
    at::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
    compare(at::kFloat, "fp32", rounds);
    compare(at::kBFloat16, "bf16", rounds);
    return 0;
}
