// SPDX-License-Identifier: GPL-3.0-or-later
// Each fused operation against its plain form and finite differences, and the bytes that both move: what the planner
// takes them to move, and how far from the least that there is.
#include "core/base/json.h"
#include "core/rehearsal/rehearsal_prices.h"
#include "runner/trainer/rehearsal/rehearse_rank.h"
#include "runner/trainer/rehearsal/rehearsed_device.h"
#include "tests/parity/compare.h"
#include "tests/parity/fused_operations.h"
#include "tests/parity/tiny_plans.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace fourfold::testing {
namespace {

using trainer::Kernels;

class Fused : public ::testing::TestWithParam<FusedOperation> { };

at::Tensor random_like(const at::Tensor& x, uint64_t seed)
{
    return at::randn(x.sizes(), at::detail::createCPUGenerator(seed), at::kDouble).to(x.scalar_type());
}

struct Done {
    Tensors outputs, gradients;
};

// Outputs, and the gradients of their sum, each element weighed by a number that goes by its place.
Done done_by(const FusedOperation& operation, Kernels kernels, const Tensors& operands)
{
    Tensors leaves = operands;
    for (int i = 0; i < operation.gradients; ++i)
        leaves[std::size_t(i)] = leaves[std::size_t(i)].detach().clone().requires_grad_(true);
    Done done;
    at::Tensor sum = at::zeros({}, at::kDouble);
    uint64_t seed = 20;
    for (const at::Tensor& output : operation.apply(kernels, leaves)) {
        done.outputs.push_back(output.detach());
        if (operation.differentiable)
            sum = sum.add(output.to(at::kDouble).mul(random_like(output.detach(), seed++).to(at::kDouble)).sum());
    }
    if (operation.differentiable)
        sum.backward();
    for (int i = 0; i < operation.gradients; ++i)
        done.gradients.push_back(leaves[std::size_t(i)].grad());
    return done;
}

double furthest_of(const at::Tensor& found, const at::Tensor& expected)
{
    const at::Tensor exact = expected.to(at::kDouble);
    return found.to(at::kDouble).sub(exact).abs().max().item<double>() / exact.abs().max().item<double>();
}

// Odd sizes: vectors have a rest.
constexpr int64_t kRows = 37, kWidth = 4 * 18;

TEST_P(Fused, IsItsPlainForm)
{
    const FusedOperation& operation = GetParam();
    const Tensors exact = operation.operands(at::kDouble, at::kCPU, kRows, kWidth);
    const Done expected = done_by(operation, Kernels::plain, exact);
    // A result of 16 bits is rounded, and so is what gradients are made of.
    for (const auto& [type, bound] :
        {std::pair(at::kDouble, 1e-13), std::pair(at::kFloat, 3e-6), std::pair(at::kBFloat16, 1.0 / 64)})
        for (const Kernels kernels : {Kernels::fused, Kernels::plain}) {
            const Done found = done_by(operation, kernels, operation.operands(type, at::kCPU, kRows, kWidth));
            const auto where = [&, type = type] {
                return std::string(at::toString(type)) + (kernels == Kernels::plain ? ", plain" : "");
            };
            ASSERT_EQ(found.outputs.size(), expected.outputs.size());
            for (std::size_t i = 0; i < found.outputs.size(); ++i)
                EXPECT_LT(furthest_of(found.outputs[i], expected.outputs[i]), bound) << "output " << i << where();
            for (std::size_t i = 0; i < found.gradients.size(); ++i)
                EXPECT_LT(furthest_of(found.gradients[i], expected.gradients[i]), bound) << "gradient " << i << where();
        }
}

// Along a random direction of all operands at once.
TEST_P(Fused, HasTheGradientOfFiniteDifferences)
{
    const FusedOperation& operation = GetParam();
    if (!operation.differentiable)
        return;
    const Tensors at = operation.operands(at::kDouble, at::kCPU, 5, 24);
    const auto moved = [&](double by) {
        Tensors there = at;
        for (int i = 0; i < operation.gradients; ++i)
            there[std::size_t(i)] = there[std::size_t(i)].add(random_like(there[std::size_t(i)], 50 + uint64_t(i)), by);
        const at::NoGradGuard no_graph;
        double sum = 0;
        uint64_t seed = 20;
        for (const at::Tensor& output : operation.apply(Kernels::fused, there))
            sum += output.mul(random_like(output, seed++)).sum().item<double>();
        return sum;
    };
    const Done done = done_by(operation, Kernels::fused, at);
    double along = 0;
    for (int i = 0; i < operation.gradients; ++i)
        along += done.gradients[std::size_t(i)]
                     .mul(random_like(done.gradients[std::size_t(i)], 50 + uint64_t(i)))
                     .sum()
                     .item<double>();
    constexpr double kStep = 1e-5;
    const double differences = (moved(kStep) - moved(-kStep)) / (2 * kStep);
    EXPECT_NEAR(along, differences, 1e-6 * std::max(1.0, std::abs(differences)));
    EXPECT_GT(std::abs(along), 1e-2) << "a direction in which nothing changes proves nothing";
}

// The device of a rehearsal whose seconds are bytes.
class ByteCounter {
public:
    ByteCounter()
        : prices_(priced())
        , device_(ledger_, prices_, {.product_workspace = 1, .multiprocessors = 132})
    {
    }
    [[nodiscard]] double bytes() const { return ledger_.total().seconds * 1e9; }
    [[nodiscard]] double launches() const { return double(ledger_.total().launches); }
    static ResolvedPlan priced(const std::vector<std::string>& settings = {})
    {
        ResolvedPlan plan = tiny_plan("tokens.bin", joined({"cluster=\"dgx-h100\""}, settings));
        make_seconds_bytes(plan);
        return plan;
    }
    // At 1 GB/s; products are slower than their traffic, so that they go by their FLOPs alone.
    static void make_seconds_bytes(ResolvedPlan& plan, double rate_gb_s = 1)
    {
        plan.stack.gpu_constants.clear();
        plan.stack.constants["kernel_floor_s"] = 0;
        plan.stack.constants["stream_efficiency"] = 1;
        plan.stack.constants["gemm_half_k"] = 0; // goes by the rate of the memory
        plan.cluster.gpu.memory_bandwidth_gb_s = rate_gb_s;
        for (std::optional<double>* const peak : {&plan.cluster.gpu.bf16_tflops, &plan.cluster.gpu.fp32_tflops})
            *peak = 1e-4;
    }

private:
    RehearsalPrices prices_;
    Ledger ledger_;
    trainer::RehearsedDevice device_;
};

struct Moved {
    double forward = 0, backward = 0; // bytes per element of the first operand
    double launches = 0, backward_launches = 0;
};

Moved moved_by(const FusedOperation& operation, Kernels kernels, at::ScalarType type)
{
    constexpr int64_t kMany = 4096; // so that what is of rows or columns alone does not count
    const ByteCounter counter;
    Tensors operands = operation.operands(type, at::kMeta, kMany, kMany);
    for (int i = 0; i < operation.gradients; ++i)
        operands[std::size_t(i)].requires_grad_(true);
    const double elements = double(operands[0].numel());
    const double before = counter.bytes(), launches_before = counter.launches();
    const Tensors outputs = operation.apply(kernels, operands);
    const double between = counter.bytes(), launches_between = counter.launches();
    Moved moved{(between - before) / elements, 0, launches_between - launches_before, 0};
    if (!operation.differentiable)
        return moved;
    // Gradients of all outputs come at once; the graph adds none up, and the test's own work is taken off.
    const at::Tensor all = outputs.size() == 1 ? outputs[0] : outputs[0].add(outputs[1]);
    const at::Tensor slope = at::empty(all.sizes(), all.options().requires_grad(false));
    const double begun = counter.bytes(), launches_begun = counter.launches();
    all.backward(slope);
    moved.backward = (counter.bytes() - begun) / elements;
    moved.backward_launches = counter.launches() - launches_begun;
    return moved;
}

TEST_P(Fused, MovesWhatThePlannerSays)
{
    const FusedOperation& operation = GetParam();
    for (const at::ScalarType type : {at::kBFloat16, at::kFloat}) {
        const Moved plain = moved_by(operation, Kernels::plain, type),
                    fused = moved_by(operation, Kernels::fused, type);
        const double size = type == at::kFloat ? 4 : 2;
        EXPECT_GE(plain.forward, fused.forward) << at::toString(type);
        EXPECT_GT(fused.forward, 0.99 * size * operation.least_forward) << "fewer than it can";
        if (operation.planned == nullptr)
            continue;
        const PlainForm::Of& planned = operation.planned->of(size);
        EXPECT_NEAR(planned.forward, plain.forward - fused.forward, 0.02 * plain.forward) << at::toString(type);
        EXPECT_NEAR(planned.backward, plain.backward - fused.backward, 0.02 * plain.backward) << at::toString(type);
        EXPECT_EQ(planned.launches, plain.launches - fused.launches) << at::toString(type);
        EXPECT_EQ(planned.backward_launches, plain.backward_launches - fused.backward_launches) << at::toString(type);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Fused, ::testing::ValuesIn(fused_operations()), [](const auto& info) { return info.param.name; });

// Of a layer of Llama 3.1 8B's proportions: everything between its products and attention, forward and backward.
struct LayerTraffic {
    double bytes = 0, launches = 0; // of a layer and 1024 tokens of one sequence
};
LayerTraffic layer_traffic(bool compile, const char* precision)
{
    const auto step = [&](int layers, int thousands, double rate) {
        ResolvedPlan plan = ByteCounter::priced(
            {R"(model={"model_type":"llama","vocab_size":512,"tie_word_embeddings":false,"hidden_size":1024,)"
             R"("num_attention_heads":8,"num_key_value_heads":2,"intermediate_size":3584,)"
             R"("max_position_embeddings":2048})",
                "model.num_hidden_layers=" + std::to_string(layers), "gpus=1",
                "training.seq_len=" + std::to_string(1024 * thousands), "training.micro_batch=1",
                "training.global_batch=1", std::string("training.precision=\"") + precision + '"',
                std::string("training.compile=") + (compile ? "true" : "false")});
        ByteCounter::make_seconds_bytes(plan, rate);
        const auto rehearsed = trainer::rehearse_rank(plan, 0);
        EXPECT_TRUE(rehearsed) << rehearsed.error().line();
        return rehearsed->work;
    };
    // What weights move is the same for any number of tokens; products and attention do not go by the rate.
    const auto of_layer = [&](int thousands, double rate) {
        KernelWork work = step(3, thousands, rate);
        work -= step(2, thousands, rate);
        return work;
    };
    const auto of_tokens = [&](double rate) { return of_layer(2, rate).seconds - of_layer(1, rate).seconds; };
    return {2 * (of_tokens(1) - of_tokens(2)) * 1e9, double(of_layer(1, 1).launches)};
}

// What a layer must move at the least between its products and attention, by the operations that it has there.
struct LayerPart {
    const char *name, *operation;
    double elements; // of a token: of the first operand, over all times that a layer has it
};
const std::vector<LayerPart> kLayerParts{{"residual sum and norm, twice", "norm_and_residual", 2 * 1024},
    {"rotation of queries and keys", "rotation", 1024 + 256}, {"SwiGLU", "swiglu", 3584}};
constexpr double kTokens = 1024, kHidden = 1024, kElement = 2; // of layer_traffic() in bf16

const FusedOperation& operation_of(const LayerPart& part)
{
    return *std::ranges::find_if(
        fused_operations(), [&](const FusedOperation& one) { return std::string_view(one.name) == part.operation; });
}

double least_of(const LayerPart& part)
{
    const FusedOperation& operation = operation_of(part);
    return (operation.least_forward + operation.least_backward) * part.elements * kTokens * kElement;
}

double least_of_layer()
{
    double least = 0;
    for (const LayerPart& part : kLayerParts)
        least += least_of(part);
    return least;
}

// In fp32 a GPU has no fused attention.
LayerTraffic between_products(bool compile)
{
    // FlashAttention's backward pass copies two of its operands for itself; a copy is counted three times its size.
    constexpr double kOfAttention = 2 * 3 * kHidden * kTokens * kElement;
    LayerTraffic traffic = layer_traffic(compile, "bf16");
    traffic.bytes -= kOfAttention;
    return traffic;
}

TEST(LayerTraffic, IsNearTheLeast)
{
    const double least = least_of_layer();
    const LayerTraffic fused = between_products(true), plain = between_products(false);
    EXPECT_LT(fused.bytes, 1.3 * least);
    EXPECT_GT(fused.bytes, least) << "less than the least";
    EXPECT_GT(plain.bytes, 2 * fused.bytes);
}

std::string row_of(const std::vector<std::string>& cells)
{
    std::string row = "|";
    for (const std::string& cell : cells)
        row += ' ' + cell + " |";
    return row + '\n';
}

std::string number(double value, int digits)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

// MB, and times the least.
std::vector<std::string> layer_cells(const std::string& name, double least, double fused, double plain)
{
    const auto times = [least](double bytes) { return least > 0 ? number(bytes / least, 2) : ""; };
    return {name, number(least / 1e6, 1), number(fused / 1e6, 1), times(fused), number(plain / 1e6, 1), times(plain)};
}

std::string layer_table()
{
    std::string table = "| | least | fused | x | plain | x |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
    const LayerTraffic fused = between_products(true), plain = between_products(false);
    double other_fused = fused.bytes, other_plain = plain.bytes;
    for (const LayerPart& part : kLayerParts) {
        const auto bytes = [&part](Kernels kernels) {
            const Moved moved = moved_by(operation_of(part), kernels, at::kBFloat16);
            return (moved.forward + moved.backward) * part.elements * kTokens;
        };
        table += row_of(layer_cells(part.name, least_of(part), bytes(Kernels::fused), bytes(Kernels::plain)));
        other_fused -= bytes(Kernels::fused);
        other_plain -= bytes(Kernels::plain);
    }
    table += row_of(layer_cells("sums and copies between them", 0, other_fused, other_plain));
    table += row_of(layer_cells("**layer**", least_of_layer(), fused.bytes, plain.bytes));
    return table
        + row_of({"launches, products included", "", number(fused.launches, 0), "", number(plain.launches, 0), ""});
}

std::string operations_table()
{
    std::string table = "| operation | element | least | fused | plain | launches fused | plain |\n"
                        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const FusedOperation& operation : fused_operations())
        for (const auto& [name, type, size] : {std::tuple{"bf16", at::kBFloat16, 2.0}, {"fp32", at::kFloat, 4.0}}) {
            const Moved fused = moved_by(operation, Kernels::fused, type),
                        plain = moved_by(operation, Kernels::plain, type);
            const auto both = [&operation](double forward, double backward, int digits) {
                return number(forward, digits) + (operation.differentiable ? " + " + number(backward, digits) : "");
            };
            table += row_of({operation.name, name,
                both(size * operation.least_forward, size * operation.least_backward, 1),
                both(fused.forward, fused.backward, 1), both(plain.forward, plain.backward, 1),
                both(fused.launches, fused.backward_launches, 0), both(plain.launches, plain.backward_launches, 0)});
        }
    return table;
}

// resources/reports/elementwise-traffic.md; FOURFOLD_UPDATE_TRAFFIC=1 writes it anew.
TEST(LayerTraffic, IsReportedAsItIs)
{
    const std::string made
        = "# Elementwise traffic\n\nWhat everything between the products and attention reads and writes, forward and "
          "backward: bytes that the trainer's own\ncode asks for on tensors without values, with `training.compile` on "
          "(fused) and off (plain), beside the least that is\npossible: each operand read once, each result written "
          "once. `trainer_fused_test --gtest_filter='LayerTraffic*'` holds these\ntables to the code. No GPU's "
          "counters "
          "are among them.\n\n## A layer\n\nLlama 3.1 8B's proportions with a hidden size of 1,024 (8 heads, 2 of keys "
          "and values, MLP of 3,584), 1,024 tokens in bf16;\nMB, and times the least. What FlashAttention's backward "
          "pass copies for itself is left out.\n\n"
        + layer_table()
        + "\n## Each operation\n\nBytes per element of the first operand, forward + backward; launches in all.\n\n"
        + operations_table();
    const std::string file = FOURFOLD_SOURCE_DIR "/resources/reports/elementwise-traffic.md";
    if (std::getenv("FOURFOLD_UPDATE_TRAFFIC") != nullptr) {
        ASSERT_TRUE(write_file_atomically(file, made));
        return;
    }
    const auto text = read_text_file(file);
    ASSERT_TRUE(text) << text.error().line();
    EXPECT_EQ(*text, made) << "FOURFOLD_UPDATE_TRAFFIC=1 trainer_fused_test writes it anew";
}

} // namespace
} // namespace fourfold::testing
