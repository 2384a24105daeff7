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
        , mesh(trainer::make_mesh(plan, 0, *trainer::listed_schedule(plan), nullptr))
        , documents_end(plan.run.documents.end)
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

    // Of the global batch of a step, by the plain loops: the mean loss, and what the gradients are of.
    struct Naive {
        double loss = 0, objective = 0, margin = INFINITY;
        int documents = 0;
    };
    // Each document of a sample as a sequence of its own, whose last token predicts nothing.
    using Sequence = std::pair<std::vector<int64_t>, std::vector<int64_t>>; // tokens, labels
    std::vector<Sequence> documents(const std::vector<int64_t>& tokens, const std::vector<int64_t>& labels) const
    {
        std::vector<Sequence> found(1);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const bool ends = documents_end && tokens[i] == *documents_end;
            found.back().first.push_back(tokens[i]);
            found.back().second.push_back(ends ? Sampler::kNoLabel : labels[i]);
            if (ends && i + 1 < tokens.size())
                found.emplace_back();
        }
        return found;
    }
    Naive naive(int step) const
    {
        const auto sampler = *Sampler::open(plan.run.data, {""}, plan.run.seed, plan.training.seq_len, plan.model.vocab,
            trainer::SampleRules{.padding = padding});
        std::vector<int64_t> tokens(std::size_t(plan.training.seq_len)), labels = tokens;
        Naive result;
        int64_t valid = 0;
        for (int index = 0; index < plan.training.global_batch; ++index) {
            EXPECT_TRUE(sampler.sample(int64_t(step) * plan.training.global_batch + index, plan.training.global_batch,
                {tokens.data(), labels.data()}));
            for (const auto& [own_tokens, own_labels] : documents(tokens, labels)) {
                const NaiveLoss one
                    = naive_loss(plan.model, weights(), own_tokens, own_labels, plan.training.experts.capacity);
                result.loss += one.cross_entropy;
                result.objective += one.cross_entropy + one.balance + plan.run.ahead_loss_weight * one.ahead;
                result.margin = std::min(result.margin, one.margin);
                result.documents += 1;
                valid += std::ranges::count_if(own_labels, [](int64_t label) { return label >= 0; });
            }
        }
        if (padding < 0 && result.documents == plan.training.global_batch) {
            EXPECT_EQ(double(valid), plan.tokens_per_step());
        } else {
            EXPECT_LT(double(valid), plan.tokens_per_step());
        }
        result.loss /= double(valid);
        result.objective /= double(valid);
        return result;
    }

    TemporaryFolder folder;
    ResolvedPlan plan;
    Mesh mesh;
    std::optional<int64_t> documents_end; // of the plain loops
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
    const auto naive = one.naive(3);
    EXPECT_NEAR(outcome.loss, naive.loss, 1e-12 * outcome.loss);
    EXPECT_GT(naive.margin, 1e-6) << "a step aside must not change the routing";

    // d loss / d weight by central differences of the plain loops, for a few elements of every tensor.
    constexpr double kStep = 1e-5;
    const at::NoGradGuard no_graph;
    const auto& shards = one.trainer->weights().shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
        if (shards[i].parameter.layer == 1 && !one.plan.model.experts)
            continue; // layer 0 is alike
        if (shards[i].parameter.role == Role::routing_bias)
            continue; // moved by a rule
        const at::Tensor& leaf = one.trainer->weights().leaves()[i];
        double* weight = leaf.data_ptr<double>();
        const double* gradient = leaf.grad().data_ptr<double>();
        for (const int64_t at : {leaf.numel() / 3, leaf.numel() - 1}) {
            const double kept = weight[at];
            weight[at] = kept + kStep;
            const double above = one.naive(3).objective;
            weight[at] = kept - kStep;
            const double below = one.naive(3).objective;
            weight[at] = kept;
            EXPECT_NEAR(gradient[at], (above - below) / (2 * kStep), 1e-8) << shards[i].parameter.name << " " << at;
        }
    }
}

// Eight experts in four groups, one dense layer, everything that the family has.
const std::string kDeepseek
    = R"(model={"model_type":"deepseek_v3","vocab_size":61,"hidden_size":32,"num_hidden_layers":2,
    "num_attention_heads":4,"intermediate_size":48,"moe_intermediate_size":16,"n_routed_experts":8,"num_experts_per_tok":3,
    "n_shared_experts":1,"n_group":4,"topk_group":2,"first_k_dense_replace":1,"q_lora_rank":12,"kv_lora_rank":8,
    "qk_nope_head_dim":6,"qk_rope_head_dim":4,"v_head_dim":8,"max_position_embeddings":64,"rms_norm_eps":1e-6,
    "rope_theta":100.0,"aux_loss_alpha":0.1,"tie_word_embeddings":false})";

// Documents of about 43 tokens, and positions that count from 0 in each of them.
const std::string kMasked = R"(run.documents={"mask":true,"end":8})",
                  kRestarting = "run.documents.restart_positions=true";
const std::string kSmallGpt2
    = R"(model={"model_type":"gpt2","vocab_size":61,"n_embd":32,"n_layer":2,"n_head":4,"n_positions":32})";

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
    {"training.global_batch=4", "model.model_type=\"qwen3\"", "model.head_dim=12"},
    {"training.global_batch=4", kGemma},
    {"training.global_batch=4", "model.model_type=\"mistral\"", "model.sliding_window=5"},
    {"training.global_batch=4", kNeox},
    {"training.global_batch=4", "training.attention=\"unfused\""},
    {"training.global_batch=4", kGemma, "training.attention=\"fused-softmax\""},
    {"training.global_batch=4",
        "model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":2,\"n_head\":4}",
        "training.attention=\"unfused\""},
    {"training.global_batch=4", "model.model_type=\"mixtral\"", "model.num_local_experts=4",
        "model.num_experts_per_tok=2", "model.router_aux_loss_coef=0.1"},
    {"training.global_batch=4", "model.model_type=\"mixtral\"", "model.num_local_experts=4",
        "model.num_experts_per_tok=2", "training.experts.capacity=0.8"},
    {"training.global_batch=4", "model.model_type=\"qwen3_moe\"", "model.num_experts=6", "model.num_experts_per_tok=3",
        "model.moe_intermediate_size=16"},
    {"training.global_batch=4", kDeepseek},
    {"training.global_batch=4", kDeepseek,
        R"(model.rope_scaling={"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":32,"beta_fast":4,)"
        R"("beta_slow":0.5,"mscale":1.0,"mscale_all_dim":1.0})"},
    {"training.global_batch=4", kDeepseek, "model.q_lora_rank=null", "model.v_head_dim=16",
        "model.first_k_dense_replace=0", "model.n_shared_experts=0"},
    {"training.global_batch=2", kDeepseek, "model.num_nextn_predict_layers=2", "run.ahead_loss_weight=0.5"},
    {"training.global_batch=2", kDeepseek, "model.num_nextn_predict_layers=1", "model.tie_word_embeddings=true",
        "training.recompute=\"full\""},
    {"training.global_batch=4", kGptOss},
    {"training.global_batch=4", kMasked},
    {"training.global_batch=4", kMasked, kRestarting, "training.recompute=\"full\""},
    {"training.global_batch=4", kMasked, kRestarting, kSmallGpt2},
    {"training.global_batch=4", kMasked, kGemma},
    {"training.global_batch=4", kMasked, kGemma, kRestarting, "training.attention=\"fused-softmax\""},
    {"training.global_batch=4", kMasked,
        "model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":2,\"n_head\":4}",
        "training.attention=\"unfused\""},
};
const char* const kModelNames[] = {"llama3_rope", "tied", "qwen2", "gpt2", "gpt2_exact_gelu_untied", "bloom", "padded",
    "qwen3", "gemma3", "mistral_window", "gpt_neox", "unfused", "gemma3_fused_softmax", "bloom_unfused", "mixtral",
    "mixtral_dropping", "qwen3_moe", "deepseek_v3", "deepseek_v3_yarn", "deepseek_v3_full_queries", "deepseek_v3_ahead",
    "deepseek_v3_ahead_tied_recompute", "gpt_oss", "documents", "documents_restarting_recompute", "documents_gpt2",
    "documents_gemma3", "documents_gemma3_fused_softmax", "documents_bloom_unfused"};

INSTANTIATE_TEST_SUITE_P(Models, Reference, ::testing::ValuesIn(kModels),
    [](const auto& info) { return std::string(kModelNames[info.index]); });

// Two documents in one sample are not the two of them apart where nothing masks, and with learned positions not even
// then, unless these begin anew.
TEST(Documents, DifferFromThoseApartWithoutMaskAndPositions)
{
    const auto far = [](const std::vector<std::string>& assignments) {
        OneRank one(assignments);
        one.documents_end = 8;
        const auto naive = one.naive(0);
        EXPECT_GT(naive.documents, one.plan.training.global_batch) << "no document ends inside a sample";
        return std::abs(one.trainer->accumulate_gradients(0)->loss - naive.loss) / naive.loss;
    };
    EXPECT_LT(far({kSmallGpt2, kMasked, kRestarting}), 1e-12);
    EXPECT_GT(far({kSmallGpt2, kMasked}), 1e-6);
    EXPECT_GT(far({kSmallGpt2}), 1e-6);
    EXPECT_LT(far({kMasked}), 1e-12);
    EXPECT_GT(far({}), 1e-6);
}

struct Update {
    const char* optimizer;
    bool decoupled, small_states;
};
class OptimizerOf : public ::testing::TestWithParam<Update> { };

// To the nearest number with 8 significant bits, of two the even one, as LibTorch does by way of fp32; not for
// subnormals.
double as_bf16(double value)
{
    int exponent = 0;
    const double mantissa = std::frexp(double(float(value)), &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
}

// Algorithm 2 of the paper, element by element, with decay on matrices alone and clipping of the global norm.
TEST_P(OptimizerOf, IsTheAlgorithmWithClippingAndDecayOffNorms)
{
    const Update& update = GetParam();
    OneRank one({"run.clip_norm=0.05", "run.weight_decay=0.3",
        "training.optimizer=\"" + std::string(update.optimizer) + "\"",
        update.small_states ? "training.optimizer_state_dtype=\"bf16\"" : "training.optimizer_state_dtype=\"fp32\""});
    const auto kept = [&](double state) { return update.small_states ? as_bf16(state) : state; };
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
            const double decay = shards[t].parameter.shape.size() > 1 ? run.weight_decay : 0;
            for (std::size_t i = 0; i < w.size(); ++i) {
                const double g = gradient[i] * scale + (update.decoupled ? 0 : decay * w[i]);
                m[i] = run.beta1 * m[i] + (1 - run.beta1) * g;
                v[i] = run.beta2 * v[i] + (1 - run.beta2) * g * g;
                const double m_hat = m[i] / (1 - std::pow(run.beta1, step + 1));
                const double v_hat = v[i] / (1 - std::pow(run.beta2, step + 1));
                w[i] -= lr * ((update.decoupled ? decay * w[i] : 0) + m_hat / (std::sqrt(v_hat) + run.eps));
                m[i] = kept(m[i]);
                v[i] = kept(v[i]);
            }
        }
        one.trainer->update(step, outcome);
        const NamedWeights now = one.weights();
        for (const auto& [name, values] : expected)
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_NEAR(now.at(name)[i], values[i], 1e-10) << name << " " << i << " step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OptimizerOf,
    ::testing::Values(Update{"adamw", true, false}, Update{"fused-adamw", true, true}, Update{"adam", false, true},
        Update{"fused-adam", false, false}),
    [](const auto& info) {
        return std::string(info.param.decoupled ? "AdamW" : "Adam") + (info.param.small_states ? "InBf16" : "");
    });
// DeepSeek-V3, section 2.1.2: an expert that had more than its share of the step's tokens is chosen less, the others
// more; the balance loss sees no bias, the gradient norm neither.
TEST(Optimizer, MovesRoutingBiasesByTheLoadOfTheStep)
{
    OneRank one({kDeepseek, "run.routing_bias_rate=0.25"});
    const std::string name = "model.layers.1.mlp.gate.e_score_correction_bias";
    ASSERT_EQ(one.weights().at(name), std::vector<double>(8, 0.0));
    auto outcome = *one.trainer->accumulate_gradients(0);
    std::vector<double> excess; // experts x tokens - all choices, of each expert
    double squares = 0;
    const auto& shards = one.trainer->weights().shards();
    for (std::size_t t = 0; t < shards.size(); ++t) {
        const at::Tensor gradient = one.trainer->weights().leaves()[t].grad();
        const double* values = gradient.data_ptr<double>();
        if (shards[t].parameter.name == name)
            excess.assign(values, values + gradient.numel());
        else
            squares += gradient.square().sum().item<double>();
    }
    ASSERT_EQ(excess.size(), 8u);
    double total = 0;
    for (const double value : excess) {
        total += value;
        EXPECT_EQ(value, std::round(value)) << "whole numbers: a sign must not hang on rounding";
    }
    EXPECT_EQ(total, 0);
    EXPECT_NEAR(outcome.grad_norm, std::sqrt(squares), 1e-12 * outcome.grad_norm);
    one.trainer->update(0, outcome);
    const auto moved = one.weights().at(name);
    for (std::size_t e = 0; e < 8; ++e)
        EXPECT_EQ(moved[e], excess[e] > 0 ? -0.25 : excess[e] < 0 ? 0.25 : 0) << e;
    const auto load = one.trainer->take_expert_load();
    ASSERT_TRUE(load);
    const double tokens = one.plan.tokens_per_step(), mean = tokens * 3 / 8;
    EXPECT_NEAR(load->busiest, 1 + *std::ranges::max_element(excess) / 8 / mean, 1e-12);
    EXPECT_EQ(load->layer, 1);
    EXPECT_EQ(one.trainer->take_expert_load()->busiest, 0) << "counts since the last call";
}

// Experts with half the places that tokens choose drop half of the choices at least, with very many none.
TEST(ExpertLoad, TellsWhatFoundNoPlace)
{
    const auto dropped = [](const char* capacity) {
        OneRank one({kDeepseek, std::string("training.experts.capacity=") + capacity});
        EXPECT_TRUE(one.trainer->accumulate_gradients(0));
        return one.trainer->take_expert_load()->dropped;
    };
    EXPECT_EQ(dropped("0"), std::nullopt);
    EXPECT_EQ(dropped("8"), 0);
    const auto half = dropped("0.5"), most = dropped("0.001");
    ASSERT_TRUE(half && most);
    EXPECT_GE(*half, 0.5);
    EXPECT_LT(*half, 0.8);
    // One place of each of 8 experts, of 16 tokens that choose 3.
    EXPECT_GE(*most, 1 - 8 / 48.0);
    EXPECT_LT(*most, 1);
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

// Of transformers 4.57.1 (modeling_rope_utils, in fp32) for heads of 16 elements and a theta of 100.
struct Scaled {
    const char* name;
    const char* scaling;
    int64_t max_positions, seq_len;
    double magnitude;
    std::vector<double> frequencies;
};
void PrintTo(const Scaled& scaled, std::ostream* out)
{
    *out << scaled.name;
}
const std::string kFactors
    = R"("short_factor":[1,1.1,1.2,1.3,1.4,1.5,1.6,1.7],"long_factor":[2,2.5,3,3.5,4,4.5,5,5.5])";
const std::string kLongRope = R"({"rope_type":"longrope","original_max_position_embeddings":64,)" + kFactors + "}";

class RotaryScaling : public ::testing::TestWithParam<Scaled> { };

TEST_P(RotaryScaling, IsThatOfTransformers)
{
    const Scaled& scaled = GetParam();
    const TemporaryFolder folder;
    const ModelShape model = tiny_plan(folder.path() / "none",
        {"model.head_dim=16", "model.max_position_embeddings=" + std::to_string(scaled.max_positions),
            std::string("model.rope_scaling=") + scaled.scaling})
                                 .model;
    const auto found = trainer::rotary_frequencies(
        model.rope_scaling, model.rope_theta, model.head_dim, model.max_positions, scaled.seq_len);
    EXPECT_NEAR(found.magnitude, scaled.magnitude, 1e-8);
    ASSERT_EQ(found.each.size(), scaled.frequencies.size());
    for (std::size_t i = 0; i < found.each.size(); ++i)
        EXPECT_NEAR(found.each[i], scaled.frequencies[i], 3e-7 * scaled.frequencies[i]) << i;
    EXPECT_EQ(model_from_config(config_from_model(model), "again")->rope_scaling, model.rope_scaling);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RotaryScaling,
    ::testing::Values(
        Scaled{"linear", R"({"rope_type":"linear","factor":4.0})", 64, 64, 1,
            {0.25, 0.140585333, 0.079056941, 0.0444569848, 0.0250000004, 0.0140585322, 0.00790569466, 0.00444569858}},
        Scaled{"dynamic_as_long_as_before", R"({"rope_type":"dynamic","factor":4.0})", 64, 64, 1,
            {1, 0.562341332, 0.316227764, 0.177827939, 0.100000001, 0.0562341288, 0.0316227786, 0.0177827943}},
        Scaled{"dynamic_longer", R"({"rope_type":"dynamic","factor":4.0})", 64, 200, 1,
            {1, 0.407685429, 0.166207418, 0.0677603409, 0.0276249051, 0.0112622725, 0.00459146453, 0.00187187316}},
        Scaled{"llama3",
            R"({"rope_type":"llama3","factor":4.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
            R"("original_max_position_embeddings":32})",
            64, 64, 1,
            {1, 0.402633697, 0.127323955, 0.0444569848, 0.0250000004, 0.0140585322, 0.00790569466, 0.00444569858}},
        Scaled{"yarn",
            R"({"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":64,"beta_fast":4,"beta_slow":0.5})",
            256, 64, 1.13862944,
            {1, 0.562341332, 0.268793613, 0.124479562, 0.0549999997, 0.0224936493, 0.00790569466, 0.00444569858}},
        Scaled{"yarn_not_truncated",
            R"({"rope_type":"yarn","factor":32.0,"original_max_position_embeddings":64,"beta_fast":4,"beta_slow":0.5,)"
            R"("truncate":false})",
            2048, 64, 1.34657359,
            {1, 0.562341332, 0.284320831, 0.11219608, 0.0362748429, 0.00531817134, 0.000988211832, 0.000555712322}},
        Scaled{"yarn_of_deepseek",
            R"({"rope_type":"yarn","factor":40.0,"original_max_position_embeddings":64,"mscale":1,"mscale_all_dim":0.5})",
            2560, 64, 1.15572199,
            {1, 0.45268476, 0.192898944, 0.0737985894, 0.0219999999, 0.00140585331, 0.000790569466, 0.000444569858}},
        Scaled{"longrope_short", kLongRope.c_str(), 256, 64, 1.15470054,
            {1, 0.511219382, 0.263523132, 0.136790738, 0.0714285746, 0.0374894217, 0.0197642352, 0.0104604671}},
        Scaled{"longrope_long", kLongRope.c_str(), 256, 65, 1.15470054,
            {0.5, 0.224936515, 0.10540925, 0.0508079864, 0.0250000004, 0.0124964733, 0.00632455572, 0.00323323533}}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace fourfold::testing
