// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/naive_experts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fourfold::testing {

namespace {
using Doubles = std::vector<double>;

Doubles product(const Doubles& matrix, const Doubles& x)
{
    Doubles y(matrix.size() / x.size(), 0.0);
    for (std::size_t r = 0; r < y.size(); ++r)
        for (std::size_t c = 0; c < x.size(); ++c)
            y[r] += matrix[r * x.size() + c] * x[c];
    return y;
}

// An expert of GPT-OSS: `limit` holds gate and up, and every product has a bias.
struct Biased {
    const Doubles &matrix, &bias;
    [[nodiscard]] Doubles of(const Doubles& x) const
    {
        Doubles y = product(matrix, x);
        for (std::size_t i = 0; i < y.size(); ++i)
            y[i] += bias[i];
        return y;
    }
};
Doubles clamped_mlp(double limit, const Biased& gate, const Biased& up, const Biased& down, const Doubles& x)
{
    Doubles inner = gate.of(x);
    const Doubles second = up.of(x);
    for (std::size_t i = 0; i < inner.size(); ++i) {
        const double held = std::min(inner[i], limit);
        inner[i] = held / (1 + std::exp(-1.702 * held)) * (std::clamp(second[i], -limit, limit) + 1);
    }
    return down.of(inner);
}

Doubles swiglu_mlp(const Doubles& gate, const Doubles& up, const Doubles& down, const Doubles& x)
{
    Doubles inner = product(gate, x);
    const Doubles second = product(up, x);
    for (std::size_t i = 0; i < inner.size(); ++i)
        inner[i] *= second[i] / (1 + std::exp(-inner[i]));
    return product(down, inner);
}

Doubles scores_of(const Experts& experts, const Doubles& logits)
{
    Doubles scores;
    double sum = 0;
    for (const double logit : logits) {
        scores.push_back(experts.sigmoid ? 1 / (1 + std::exp(-logit)) : std::exp(logit));
        sum += scores.back();
    }
    if (!experts.sigmoid)
        for (double& score : scores)
            score /= sum;
    return scores;
}

// Experts outside of the groups that count most get no chance: a group counts by its two best.
void close_groups(const Experts& experts, Doubles& wanted)
{
    if (experts.active_groups == 0 || experts.active_groups == experts.groups)
        return;
    const std::size_t each = wanted.size() / std::size_t(experts.groups);
    std::vector<std::pair<double, std::size_t>> worth;
    for (std::size_t group = 0; group < std::size_t(experts.groups); ++group) {
        Doubles own(wanted.begin() + std::ptrdiff_t(group * each), wanted.begin() + std::ptrdiff_t((group + 1) * each));
        std::ranges::sort(own, std::greater<>());
        worth.emplace_back(own[0] + (each > 1 ? own[1] : 0), group);
    }
    std::ranges::sort(worth, std::greater<>());
    for (std::size_t i = std::size_t(experts.active_groups); i < worth.size(); ++i)
        for (std::size_t e = 0; e < each; ++e)
            wanted[worth[i].second * each + e] = -std::numeric_limits<double>::infinity();
}
} // namespace

NaiveExperts naive_experts(const ModelShape& model, const NamedWeights& weights, const std::string& layer,
    const std::vector<Doubles>& in, double capacity)
{
    const Experts& experts = *model.experts;
    const bool mixtral = model.model_type == "mixtral", gpt_oss = model.model_type == "gpt_oss";
    const std::string block = layer + (mixtral ? "block_sparse_moe." : "mlp.");
    const auto matrix = [&](const std::string& name) -> const Doubles& { return weights.at(block + name + ".weight"); };
    const auto bias = weights.find(block + "gate.e_score_correction_bias");

    NaiveExperts result;
    result.margin = std::numeric_limits<double>::infinity();
    Doubles chosen(std::size_t(experts.count), 0.0), mean(std::size_t(experts.count), 0.0);
    for (const Doubles& x : in) {
        const Doubles scores = scores_of(experts,
            gpt_oss ? Biased{matrix("router"), weights.at(block + "router.bias")}.of(x) : product(matrix("gate"), x));
        const double all = std::accumulate(scores.begin(), scores.end(), 0.0);
        Doubles wanted = scores;
        for (std::size_t e = 0; e < wanted.size(); ++e) {
            mean[e] += scores[e] / all / double(in.size());
            if (bias != weights.end())
                wanted[e] += bias->second[e];
        }
        close_groups(experts, wanted);
        std::vector<std::size_t> order(wanted.size());
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return wanted[a] > wanted[b]; });
        const auto active = std::size_t(experts.active);
        if (active < order.size())
            result.margin = std::min(result.margin, wanted[order[active - 1]] - wanted[order[active]]);
        double sum = 0;
        for (std::size_t i = 0; i < active; ++i)
            sum += scores[order[i]];
        Doubles y(x.size(), 0.0);
        for (std::size_t i = 0; i < active; ++i) {
            chosen[order[i]] += 1;
            if (capacity > 0 && chosen[order[i]] > std::ceil(capacity * double(in.size() * active) / experts.count))
                continue; // no place is left
            const std::string own = "experts." + std::to_string(order[i]) + ".";
            const auto biased = [&](const char* name) {
                return Biased{matrix(own + name), weights.at(block + own + name + ".bias")};
            };
            const Doubles answer = gpt_oss
                ? clamped_mlp(model.activation_limit, biased("gate_proj"), biased("up_proj"), biased("down_proj"), x)
                : mixtral
                ? swiglu_mlp(matrix(own + "w1"), matrix(own + "w3"), matrix(own + "w2"), x)
                : swiglu_mlp(matrix(own + "gate_proj"), matrix(own + "up_proj"), matrix(own + "down_proj"), x);
            const double weight = scores[order[i]] / (experts.normalised ? sum : 1) * experts.scale;
            for (std::size_t c = 0; c < y.size(); ++c)
                y[c] += weight * answer[c];
        }
        if (experts.shared > 0) {
            const std::string own = "shared_experts.";
            const Doubles answer
                = swiglu_mlp(matrix(own + "gate_proj"), matrix(own + "up_proj"), matrix(own + "down_proj"), x);
            for (std::size_t c = 0; c < y.size(); ++c)
                y[c] += answer[c];
        }
        result.out.push_back(std::move(y));
    }
    for (std::size_t e = 0; e < mean.size(); ++e)
        result.balance += chosen[e] * experts.count / (experts.active * double(in.size())) * mean[e];
    return result;
}

} // namespace fourfold::testing
