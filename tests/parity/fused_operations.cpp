// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/fused_operations.h"

#include "runner/trainer/kernels/fp8.h"
#include "runner/trainer/kernels/updates.h"
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>

namespace fourfold::testing {

namespace {
using namespace trainer;

constexpr double kEps = 1e-5, kLimit = 0.75;
constexpr int64_t kHeads = 4;

// The same numbers in each type, where there are any.
at::Tensor made(at::ScalarType type, at::Device device, at::IntArrayRef shape, uint64_t seed)
{
    if (device.is_meta())
        return at::empty(shape, at::TensorOptions(type).device(device));
    return at::randn(shape, at::detail::createCPUGenerator(seed), at::kFloat).to(at::kBFloat16).to(type).to(device);
}

Tensors of_angles(at::ScalarType type, at::Device device, int64_t rows, int64_t width)
{
    const at::ScalarType wide = type == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor angles = made(wide, device, {rows, width / kHeads / 2}, 9);
    return {made(type, device, {rows, 1, kHeads, width / kHeads}, 1), angles.cos(), angles.sin()};
}

Tensors of_loss(at::ScalarType type, at::Device device, int64_t rows, int64_t width)
{
    const at::Tensor labels = device.is_meta()
        ? at::empty({rows, 1}, at::TensorOptions(at::kLong).device(device))
        : at::arange(rows, at::kLong).mul(7919).remainder(width - 2).view({rows, 1}).to(device);
    return {made(type, device, {rows, 1, width}, 1), labels};
}

// Of two names, the last columns of the vocabulary are padding.
Tensors loss(Kernels kernels, const Tensors& in)
{
    static const Communicator alone;
    // What an operation made, as the head: the gradient is written over it.
    return {vocabulary_cross_entropy(kernels, in[0].mul(1), in[1], true, alone, in[0].size(-1) - 2)};
}

const AdamFactors<double> kFactors{.gradient_scale = 0.7,
    .l2 = 0,
    .beta1 = 0.9,
    .rest1 = 0.1,
    .beta2 = 0.95,
    .rest2 = 0.05,
    .kept = 0.99,
    .rate = 0.003,
    .root = 2.5,
    .eps = 1e-8};

Tensors of_update(at::ScalarType type, at::Device device, int64_t rows, int64_t width)
{
    const at::ScalarType exact = type == at::kDouble ? at::kDouble : at::kFloat;
    const auto flat = [&](at::ScalarType of, uint64_t seed) { return made(of, device, {rows * width}, seed); };
    return {flat(type, 1), flat(exact, 2), flat(type, 3), flat(type, 4).abs()};
}

Tensors update(AdamFactors<double> factors, Kernels kernels, const Tensors& in)
{
    const bool counts = in[1].is_meta();
    const auto own = [&](std::size_t i) { return counts ? in[i] : in[i].clone(); };
    const Tensors states{own(1), own(2), own(3)};
    adam_update(kernels, factors, in[0], states[0], states[1], states[2]);
    return states;
}

Tensors of_two(at::ScalarType type, at::Device device, int64_t rows, int64_t width)
{
    return {made(type, device, {rows, 1, width}, 1), made(type, device, {rows, 1, width}, 2)};
}
} // namespace

const std::vector<FusedOperation>& fused_operations()
{
    static const std::vector<FusedOperation> all{
        {"norm", true,
            [](auto type, auto device, int64_t rows, int64_t width) {
                return Tensors{made(type, device, {rows, 1, width}, 1), made(type, device, {width}, 3)};
            },
            2, [](Kernels kernels, const Tensors& in) { return Tensors{rms_norm(kernels, in[0], in[1], kEps)}; }, 2, 3,
            &plain_forms::kNorm},
        {"norm_and_residual", true,
            [](auto type, auto device, int64_t rows, int64_t width) {
                Tensors in = of_two(type, device, rows, width);
                in.push_back(made(type, device, {width}, 3));
                return in;
            },
            3,
            [](Kernels kernels, const Tensors& in) {
                const NormedSum both = normed_sum(kernels, in[0], in[1], in[2], kEps);
                return Tensors{both.sum, both.normed};
            },
            4, 4, nullptr},
        {"swiglu", true, of_two, 2,
            [](Kernels kernels, const Tensors& in) { return Tensors{swiglu(kernels, in[0], in[1])}; }, 3, 5,
            &plain_forms::kGate},
        {"clamped_swiglu", true, of_two, 2,
            [](Kernels kernels, const Tensors& in) { return Tensors{clamped_swiglu(kernels, in[0], in[1], kLimit)}; },
            3, 5, &plain_forms::kClampedGate},
        {"rotation", true, of_angles, 1,
            [](Kernels kernels, const Tensors& in) { return Tensors{rotation(kernels, in[0], in[1], in[2])}; }, 2, 2,
            &plain_forms::kRotation},
        {"cross_entropy", true, of_loss, 1, loss, 1, 2, &plain_forms::kLoss},
        {"adamw", false, of_update, 0, [](Kernels kernels, const Tensors& in) { return update(kFactors, kernels, in); },
            7, 0, &plain_forms::kUpdate},
        {"adam", false, of_update, 0,
            [](Kernels kernels, const Tensors& in) {
                AdamFactors<double> decayed = kFactors;
                decayed.l2 = 0.1;
                decayed.kept = 1;
                return update(decayed, kernels, in);
            },
            7, 0, nullptr},
        {"gradient_norm", false,
            [](auto type, auto device, int64_t rows, int64_t width) {
                return Tensors{made(type, device, {rows * width}, 1)};
            },
            0, [](Kernels kernels, const Tensors& in) { return Tensors{squared_norm(kernels, in[0])}; }, 1, 0, nullptr},
        {"cast_and_scale", false,
            [](auto type, auto device, int64_t rows, int64_t width) {
                return Tensors{made(type, device, {rows, width}, 1)};
            },
            0,
            [](Kernels kernels, const Tensors& in) {
                const at::Tensor largest = largest_of_blocks(in[0], {}, kernels);
                const Quantized out = quantize(in[0], at::kFloat8_e4m3fn, {}, ScaleKind::exact, largest, kernels);
                return Tensors{out.values, out.inverse_scales};
            },
            2.25, 0, nullptr}, // read twice, written in 8 bits
    };
    return all;
}

} // namespace fourfold::testing
