// SPDX-License-Identifier: GPL-3.0-or-later
// One rank of the trainer against the model in plain loops: the loss, the gradients by finite differences, AdamW.
#include "core/plan/trainable.h"
#include "runner/trainer/model/rotary.h"
#include "runner/trainer/trainer.h"
#include "tests/parity/naive_model.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fourfold::testing {
namespace {

using trainer::Mesh;
using trainer::Sampler;
using trainer::Trainer;

struct OneRank {
    explicit OneRank(const std::vector<std::string>& assignments)
        : plan(tiny_plan(write_tokens(folder.path()), assignments))
        , mesh(trainer::make_mesh(plan.layout, 0, plan.model.kv_heads, *trainer::listed_schedule(plan), nullptr))
        , padding(plan.run.environment.contains("FOURFOLD_PADDING") ? 5 : -1)
        , trainer(*Trainer::create(plan, mesh, {false, true, padding}))
    {
        at::set_num_threads(1);
    }

    NamedWeights weights() const
    {
        NamedWeights all;
        const auto& shards = trainer->weights().shards();
        for (std::size_t i = 0; i < shards.size(); ++i) {
            const at::Tensor& leaf = trainer->weights().leaves()[i];
            all[shards[i].parameter.name].assign(leaf.data_ptr<double>(), leaf.data_ptr<double>() + leaf.numel());
        }
        return all;
    }

    // Mean loss of the global batch of a step, by the plain loops.
    double naive(int step) const
    {
        const auto sampler
            = *Sampler::open(plan.run.data, "", plan.run.seed, plan.training.seq_len, plan.model.vocab, padding);
        std::vector<int64_t> tokens(std::size_t(plan.training.seq_len)), labels = tokens;
        double sum = 0;
        int64_t valid = 0;
        for (int index = 0; index < plan.training.global_batch; ++index) {
            EXPECT_TRUE(sampler.sample(step, index, {tokens.data(), labels.data()}));
            sum += naive_loss(plan.model, weights(), tokens, labels);
            valid += std::ranges::count_if(labels, [](int64_t label) { return label >= 0; });
        }
        if (padding < 0) {
            EXPECT_EQ(double(valid), plan.tokens_per_step());
        } else {
            EXPECT_LT(double(valid), plan.tokens_per_step());
        }
        return sum / double(valid);
    }

    TemporaryFolder folder;
    ResolvedPlan plan;
    Mesh mesh;
    int64_t padding;
    std::unique_ptr<Trainer> trainer;
};

class Reference : public ::testing::TestWithParam<std::vector<std::string>> { };

TEST_P(Reference, LossAndGradientsMatchPlainLoops)
{
    OneRank one(GetParam());
    // Away from the start, where all norm weights are one and all biases zero.
    for (int step = 0; step < 3; ++step) {
        auto outcome = *one.trainer->accumulate_gradients(step);
        one.trainer->update(step, outcome);
        ASSERT_TRUE(outcome.applied);
    }
    const auto outcome = *one.trainer->accumulate_gradients(3);
    EXPECT_NEAR(outcome.loss, one.naive(3), 1e-12 * outcome.loss);

    // d loss / d weight by central differences of the plain loops, for a few elements of every tensor.
    constexpr double kStep = 1e-5;
    const at::NoGradGuard no_graph;
    const auto& shards = one.trainer->weights().shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
        if (shards[i].parameter.layer == 1)
            continue; // layer 0 is alike
        const at::Tensor& leaf = one.trainer->weights().leaves()[i];
        double* weight = leaf.data_ptr<double>();
        const double* gradient = leaf.grad().data_ptr<double>();
        for (const int64_t at : {leaf.numel() / 3, leaf.numel() - 1}) {
            const double kept = weight[at];
            weight[at] = kept + kStep;
            const double above = one.naive(3);
            weight[at] = kept - kStep;
            const double below = one.naive(3);
            weight[at] = kept;
            EXPECT_NEAR(gradient[at], (above - below) / (2 * kStep), 1e-8) << shards[i].parameter.name << " " << at;
        }
    }
}

const std::vector<std::string> kModels[] = {
    {"training.global_batch=4"},
    {"training.global_batch=4", "model.tie_word_embeddings=true", "model.rope_scaling=null"},
    {"training.global_batch=4", "model.model_type=\"qwen2\""},
    {"training.global_batch=4",
        "model={\"model_type\":\"gpt2\",\"vocab_size\":61,\"n_embd\":32,\"n_layer\":2,\"n_head\":4,\"n_positions\":"
        "32}"},
    {"training.global_batch=4",
        "model={\"model_type\":\"gpt2\",\"vocab_size\":61,\"n_embd\":32,\"n_layer\":2,\"n_head\":2,\"n_positions\":16,"
        "\"activation_function\":\"gelu\",\"tie_word_embeddings\":false}"},
    {"training.global_batch=4",
        "model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":2,\"n_head\":4}"},
    {"training.global_batch=4", "run.environment={\"FOURFOLD_PADDING\":\"5\"}"},
};
const char* const kModelNames[] = {"llama3_rope", "tied", "qwen2", "gpt2", "gpt2_exact_gelu_untied", "bloom", "padded"};

INSTANTIATE_TEST_SUITE_P(Models, Reference, ::testing::ValuesIn(kModels),
    [](const auto& info) { return std::string(kModelNames[info.index]); });

// Algorithm 2 of the paper, element by element, with decay on matrices alone and clipping of the global norm.
TEST(Optimizer, IsAdamWWithClippingAndDecayOffNorms)
{
    OneRank one({"run.clip_norm=0.05", "run.weight_decay=0.3"});
    const RunSettings& run = one.plan.run;
    std::map<std::string, std::vector<double>> first, second;
    NamedWeights expected = one.weights();
    for (int step = 0; step < 3; ++step) {
        auto outcome = *one.trainer->accumulate_gradients(step);
        double squares = 0;
        for (const at::Tensor& leaf : one.trainer->weights().leaves())
            for (int64_t i = 0; i < leaf.numel(); ++i)
                squares += std::pow(leaf.grad().data_ptr<double>()[i], 2);
        EXPECT_NEAR(outcome.grad_norm, std::sqrt(squares), 1e-12 * outcome.grad_norm);
        ASSERT_GT(outcome.grad_norm, run.clip_norm) << "the test must clip";
        const double scale = run.clip_norm / (outcome.grad_norm + 1e-6), lr = run.learning_rate(step, 10);
        const auto& shards = one.trainer->weights().shards();
        for (std::size_t t = 0; t < shards.size(); ++t) {
            const std::string& name = shards[t].parameter.name;
            const double* gradient = one.trainer->weights().leaves()[t].grad().data_ptr<double>();
            auto &m = first[name], &v = second[name], &w = expected[name];
            m.resize(w.size());
            v.resize(w.size());
            const bool matrix = shards[t].parameter.shape.size() > 1;
            for (std::size_t i = 0; i < w.size(); ++i) {
                const double g = gradient[i] * scale;
                m[i] = run.beta1 * m[i] + (1 - run.beta1) * g;
                v[i] = run.beta2 * v[i] + (1 - run.beta2) * g * g;
                const double m_hat = m[i] / (1 - std::pow(run.beta1, step + 1));
                const double v_hat = v[i] / (1 - std::pow(run.beta2, step + 1));
                w[i] -= lr * ((matrix ? run.weight_decay * w[i] : 0) + m_hat / (std::sqrt(v_hat) + run.eps));
            }
        }
        one.trainer->update(step, outcome);
        const NamedWeights now = one.weights();
        for (const auto& [name, values] : expected)
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_NEAR(now.at(name)[i], values[i], 1e-10) << name << " " << i << " step " << step;
    }
}

// In the words of the planner, also for a caller that asked nobody before.
TEST(Families, WhatHasNoRowIsNotTrained)
{
    OneRank one({});
    one.plan.model.model_type = "made_up";
    const auto made = Trainer::create(one.plan, one.mesh, {false, true, -1});
    ASSERT_FALSE(made);
    const auto reasons = trainer_limits(one.plan);
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_TRUE(reasons[0].message.starts_with(made.error().message)) << made.error().line();
}

TEST(Rotary, LinearScalingStretchesPositions)
{
    ModelShape model;
    model.head_dim = 8;
    const auto plain = trainer::rotary_frequencies(model);
    model.rope_scaling.type = "linear";
    model.rope_scaling.factor = 2;
    const auto scaled = trainer::rotary_frequencies(model);
    ASSERT_EQ(plain.size(), 4u);
    EXPECT_EQ(plain[0], 1);
    EXPECT_NEAR(plain[3], std::pow(10000, -0.75), 1e-15);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_DOUBLE_EQ(scaled[i], plain[i] / 2);
}

} // namespace
} // namespace fourfold::testing
