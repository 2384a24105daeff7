// SPDX-License-Identifier: GPL-3.0-or-later
// Muon's step on one rank against plain loops and against PyTorch's, in fp64.
#include "runner/trainer/trainer.h"
#include "tests/parity/python.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace fourfold::testing {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows times(const Rows& a, const Rows& b)
{
    Rows out(a.size(), std::vector<double>(b[0].size(), 0));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t k = 0; k < b.size(); ++k)
            for (std::size_t j = 0; j < b[0].size(); ++j)
                out[i][j] += a[i][k] * b[k][j];
    return out;
}
Rows turned(const Rows& a)
{
    Rows out(a[0].size(), std::vector<double>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[0].size(); ++j)
            out[j][i] = a[i][j];
    return out;
}

// The post's listing, element by element.
Rows orthogonalised(Rows x)
{
    if (x.size() > x[0].size())
        return turned(orthogonalised(turned(x)));
    double squares = 0;
    for (const auto& row : x)
        for (const double value : row)
            squares += value * value;
    for (auto& row : x)
        for (double& value : row)
            value /= std::max(std::sqrt(squares), 1e-7);
    for (int i = 0; i < 5; ++i) {
        const Rows a = times(x, turned(x)), aa = times(a, a);
        Rows polynomial = a;
        for (std::size_t r = 0; r < a.size(); ++r)
            for (std::size_t c = 0; c < a.size(); ++c)
                polynomial[r][c] = -4.7750 * a[r][c] + 2.0315 * aa[r][c];
        const Rows step = times(polynomial, x);
        for (std::size_t r = 0; r < x.size(); ++r)
            for (std::size_t c = 0; c < x[0].size(); ++c)
                x[r][c] = 3.4445 * x[r][c] + step[r][c];
    }
    return x;
}

std::vector<double> values_of(const at::Tensor& tensor)
{
    return {tensor.data_ptr<double>(), tensor.data_ptr<double>() + tensor.numel()};
}

struct OneMuonRank {
    explicit OneMuonRank(const std::vector<std::string>& assignments)
        : plan(tiny_plan(write_tokens(folder.path()), joined({"training.optimizer=\"muon\""}, assignments)))
        , mesh(trainer::make_mesh(plan, 0, *trainer::listed_schedule(plan), nullptr))
        , job(*trainer::Trainer::create(plan, mesh, {false, true}))
    {
        at::set_num_threads(1);
    }
    static std::vector<std::string> joined(std::vector<std::string> list, const std::vector<std::string>& more)
    {
        list.insert(list.end(), more.begin(), more.end());
        return list;
    }
    [[nodiscard]] const std::vector<trainer::Shard>& shards() const { return job->weights().shards(); }
    [[nodiscard]] std::map<std::string, std::vector<double>> weights() const
    {
        std::map<std::string, std::vector<double>> all;
        for (std::size_t i = 0; i < shards().size(); ++i)
            all[shards()[i].parameter.name] = values_of(job->weights().leaves()[i]);
        return all;
    }

    TemporaryFolder folder;
    ResolvedPlan plan;
    trainer::Mesh mesh;
    std::unique_ptr<trainer::Trainer> job;
};

bool is_hidden_matrix(const std::string& name)
{
    return name.find("layers.") != std::string::npos && name.ends_with("weight") && name.find("norm") == name.npos
        && name.find("block_sparse_moe.gate.") == name.npos;
}

class MuonStep : public ::testing::TestWithParam<std::pair<const char*, std::vector<std::string>>> { };

TEST_P(MuonStep, IsThePostsListingOnHiddenMatricesAndAdamWElsewhere)
{
    OneMuonRank one(
        OneMuonRank::joined({"run.clip_norm=0.05", "run.weight_decay=0.3", "run.momentum=0.8"}, GetParam().second));
    const RunSettings& run = one.plan.run;
    std::map<std::string, std::vector<double>> first, second;
    auto expected = one.weights();
    int matrices = 0;
    for (int step = 0; step < 2; ++step) {
        auto outcome = *one.job->accumulate_gradients(step);
        ASSERT_GT(outcome.grad_norm, run.clip_norm) << "the test must clip";
        const double scale = run.clip_norm / (outcome.grad_norm + 1e-6), lr = run.learning_rate(step, 10);
        for (std::size_t t = 0; t < one.shards().size(); ++t) {
            const Parameter& parameter = one.shards()[t].parameter;
            const std::string& name = parameter.name;
            const auto gradient = values_of(one.job->weights().leaves()[t].grad());
            auto &m = first[name], &v = second[name], &w = expected[name];
            m.resize(w.size());
            v.resize(w.size());
            if (!is_hidden_matrix(name)) {
                const double decay = parameter.shape.size() > 1 ? run.weight_decay : 0;
                for (std::size_t i = 0; i < w.size(); ++i) {
                    const double g = gradient[i] * scale;
                    m[i] = run.beta1 * m[i] + (1 - run.beta1) * g;
                    v[i] = run.beta2 * v[i] + (1 - run.beta2) * g * g;
                    const double m_hat = m[i] / (1 - std::pow(run.beta1, step + 1));
                    const double v_hat = v[i] / (1 - std::pow(run.beta2, step + 1));
                    w[i] -= lr * (decay * w[i] + m_hat / (std::sqrt(v_hat) + run.eps));
                }
                continue;
            }
            ++matrices;
            const auto columns = std::size_t(parameter.shape[1]);
            std::vector<double> ascent(w.size());
            for (std::size_t i = 0; i < w.size(); ++i) {
                const double g = gradient[i] * scale;
                m[i] = 0.8 * m[i] + (1 - 0.8) * g;
                ascent[i] = 0.8 * m[i] + (1 - 0.8) * g;
            }
            // Fused: rows of a head's query, key and value in turns.
            const bool fused = name.find("query_key_value") != name.npos;
            const std::size_t parts = fused ? 3 : 1, rows = w.size() / columns,
                              in_head = fused ? rows / parts / std::size_t(one.plan.model.heads) : rows;
            for (std::size_t part = 0; part < parts; ++part) {
                Rows own;
                std::vector<std::size_t> places;
                for (std::size_t r = 0; r < rows; ++r)
                    if (r / in_head % parts == part) {
                        places.push_back(r);
                        own.emplace_back(ascent.begin() + std::ptrdiff_t(r * columns),
                            ascent.begin() + std::ptrdiff_t((r + 1) * columns));
                    }
                const Rows direction = orthogonalised(own);
                const double size = 0.2 * std::sqrt(double(std::max(own.size(), columns)));
                for (std::size_t k = 0; k < places.size(); ++k)
                    for (std::size_t c = 0; c < columns; ++c) {
                        double& value = w[places[k] * columns + c];
                        value = value * (1 - lr * run.weight_decay) - lr * size * direction[k][c];
                    }
            }
        }
        one.job->update(step, outcome);
        const auto now = one.weights();
        for (const auto& [name, values] : expected)
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_NEAR(now.at(name)[i], values[i], 1e-10) << name << " " << i << " step " << step;
    }
    EXPECT_GT(matrices, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, MuonStep,
    ::testing::Values(std::pair("llama", std::vector<std::string>{}), std::pair("neox", std::vector{kNeox}),
        std::pair("mixtral",
            std::vector<std::string>{"model.model_type=\"mixtral\"", "model.num_local_experts=4",
                "model.num_experts_per_tok=2", "model.router_aux_loss_coef=0.05"})),
    [](const auto& info) { return std::string(info.param.first); });

// How many matrices an owner iterates at once is of no account.
TEST(MuonRounds, OneMatrixAtATimeStepsAsAllTogether)
{
    OneMuonRank one({});
    ASSERT_TRUE(one.job->accumulate_gradients(0));
    const trainer::Weights& weights = one.job->weights();
    const auto stepped = [&](double at_once) {
        std::vector<at::Tensor> before, after, momenta;
        for (const at::Tensor& masters : weights.masters()) {
            before.push_back(masters.clone());
            momenta.push_back(at::zeros_like(masters));
        }
        trainer::Muon(weights, one.mesh, one.plan.run, one.plan.model.heads, momenta, at::kDouble, at_once)
            .step(one.job->gradients().reduced(), 0.1);
        for (std::size_t b = 0; b < before.size(); ++b) {
            after.push_back(weights.masters()[b].clone());
            weights.masters()[b].copy_(before[b]);
        }
        return after;
    };
    const auto together = stepped(kMuonElements), single = stepped(1);
    double moved = 0;
    for (std::size_t b = 0; b < together.size(); ++b) {
        EXPECT_LT(together[b].sub(single[b]).abs().max().item<double>(), 1e-14);
        moved = std::max(moved, together[b].sub(weights.masters()[b]).abs().max().item<double>());
    }
    EXPECT_GT(moved, 1e-3);
}

// Its own arithmetic, but for the rounding to bf16.
TEST(MuonUpdate, IsPyTorchs)
{
    const std::string python = python_with("torch");
    if (python.empty())
        GTEST_SKIP() << "there is no Python 3.11, the only one for which LibTorch's wheel has PyTorch";
    OneMuonRank one({"run.clip_norm=0"});
    Json told{{"momentum", one.plan.run.momentum}, {"weight_decay", one.plan.run.weight_decay},
        {"before", one.weights()}, {"shapes", Json::object()}, {"steps", Json::array()}};
    for (const trainer::Shard& shard : one.shards())
        if (shard.muon)
            told["shapes"][shard.parameter.name] = shard.parameter.shape;
    EXPECT_EQ(told["shapes"].size(), 2U * 7) << "queries, keys, values, output, gate, up, down";
    for (int step = 0; step < 3; ++step) {
        auto outcome = *one.job->accumulate_gradients(step);
        Json gradients = Json::object();
        for (std::size_t t = 0; t < one.shards().size(); ++t)
            gradients[one.shards()[t].parameter.name] = values_of(one.job->weights().leaves()[t].grad());
        one.job->update(step, outcome);
        told["steps"].push_back({{"lr", one.plan.run.learning_rate(step, 10)}, {"gradients", std::move(gradients)}});
    }
    told["after"] = one.weights();
    const auto file = one.folder.path() / "told.json", log = one.folder.path() / "log";
    std::ofstream(file) << told;
    const std::string call
        = python + "'" FOURFOLD_TEST_DATA "/muon.py' " + file.string() + " >" + log.string() + " 2>&1";
    EXPECT_EQ(std::system(call.c_str()), 0) << std::ifstream(log).rdbuf();
}

} // namespace
} // namespace fourfold::testing
