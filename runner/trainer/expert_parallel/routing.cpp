// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/expert_parallel/routing.h"

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/expert_parallel/capacity.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

namespace fourfold::trainer {

namespace {
constexpr double kNoDivisionByZero = 1e-20; // of sigmoids, as DeepSeek-V3's code has it

// Each token's experts, by falling score; without gradients.
at::Tensor choose(const at::Tensor& scores, const at::Tensor& bias, const Experts& rules)
{
    const at::NoGradGuard no_graph;
    at::Tensor wanted = bias.defined() ? scores.add(bias.to(scores.scalar_type())) : scores;
    if (rules.active_groups > 0 && rules.active_groups < rules.groups) {
        // A group counts by its two best (DeepSeek-V3, section 2.1.2, node-limited routing).
        const int64_t each = rules.count / rules.groups;
        const at::Tensor grouped = wanted.view({-1, rules.groups, each});
        const at::Tensor worth = std::get<0>(grouped.topk(std::min<int64_t>(2, each), -1)).sum(-1);
        const at::Tensor best = std::get<1>(worth.topk(rules.active_groups, -1));
        const at::Tensor closed = at::ones_like(worth, at::kBool).scatter(-1, best, false);
        wanted = grouped.masked_fill(closed.unsqueeze(-1), -std::numeric_limits<double>::infinity()).flatten(1);
    }
    return std::get<1>(wanted.topk(rules.active, -1));
}

// Choices of full experts become `count`. experts: [rows, sequences, active].
at::Tensor limit_choices(
    const at::Tensor& experts, int count, const ExpertSettings& settings, const RoutingGroups& groups)
{
    if (settings.capacity_of == CapacityOf::rank) {
        const at::Tensor all = experts.view({-1, 1, experts.size(2)});
        return experts.masked_fill(have_places(all, count, settings.capacity).logical_not().view_as(experts), count);
    }
    at::Tensor all = experts;
    for (const Communicator* group : groups.of_sequence)
        all = group->all_gather(all.contiguous());
    const at::Tensor fit
        = have_places(all.index_select(0, groups.order), count, settings.capacity).index_select(0, groups.positions);
    return experts.masked_fill(fit.logical_not(), count);
}

// How often each expert was chosen in each of `parts` sets of sequences: [sets, experts].
at::Tensor count_choices(const at::Tensor& experts, const at::Tensor& set_of_token, int64_t sets, int count)
{
    const at::Tensor ids = experts.add(set_of_token.unsqueeze(1).mul(count)).flatten();
    return at::zeros({sets * count}, ids.options()).scatter_add_(0, ids, at::ones_like(ids)).view({sets, count});
}

// The identity of `weights`; in the backward pass the balance loss and the bias get their gradients.
class Guided final : public GradientFunction {
public:
    // dropped: undefined where every choice has a place.
    Guided(double loss_gradient, at::Tensor excess, at::Tensor chosen, at::Tensor dropped, at::Tensor load)
        : loss_gradient_(loss_gradient)
        , excess_(std::move(excess))
        , chosen_(std::move(chosen))
        , dropped_(std::move(dropped))
        , load_(std::move(load))
    {
    }
    Tensors forward(const Tensors& inputs, Tensors& kept) override
    {
        kept = {inputs.begin() + 1, inputs.end()};
        return {inputs[0].view_as(inputs[0])};
    }
    Tensors backward(const Tensors& gradients, const Tensors& kept) override
    {
        if (load_.defined())
            load_.narrow(0, 0, chosen_.numel()).add_(chosen_);
        if (load_.defined() && dropped_.defined())
            load_[chosen_.numel()].add_(dropped_);
        Tensors result{gradients[0]};
        for (const at::Tensor& input : kept)
            result.push_back(input.dim() == 0 ? at::full_like(input, loss_gradient_) : excess_.to(input.scalar_type()));
        return result;
    }

private:
    double loss_gradient_;
    at::Tensor excess_, chosen_, dropped_, load_;
};
} // namespace

Routing route(const at::Tensor& x, const Affine& router, const at::Tensor& bias, const Experts& rules,
    const ExpertSettings& settings, const RoutingGroups& groups, const at::Tensor& load)
{
    const auto exact = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const int64_t rows = x.size(0), sequences = x.size(1), tokens = rows * sequences;
    const at::Tensor router_bias = router.bias.defined() ? router.bias.to(exact) : router.bias;
    const at::Tensor logits = at::linear(x.reshape({tokens, -1}).to(exact), router.weight.to(exact), router_bias);
    const at::Tensor scores = rules.sigmoid ? at::sigmoid(logits) : at::softmax(logits, -1);
    Routing routing{choose(scores.detach(), bias, rules), {}};
    at::Tensor weights = scores.gather(-1, routing.experts);
    if (rules.normalised) {
        const at::Tensor sum = weights.sum(-1, /*keepdim=*/true);
        weights = weights.div(rules.sigmoid ? sum.add(kNoDivisionByZero) : sum);
    }
    if (rules.scale != 1)
        weights = weights.mul(rules.scale);
    routing.weights = weights;
    const at::Tensor choices = routing.experts;
    if (settings.capacity > 0)
        routing.experts
            = limit_choices(choices.view({rows, sequences, -1}), rules.count, settings, groups).view_as(choices);
    if (!at::GradMode::is_enabled())
        return routing;

    const at::Tensor sequence_of
        = at::arange(sequences, choices.options()).unsqueeze(0).expand({rows, sequences}).reshape({tokens});
    const at::Tensor counts = count_choices(choices, sequence_of, sequences, rules.count);
    const at::Tensor chosen = counts.sum(0);
    std::vector<at::Tensor> inputs{weights};
    if (rules.balance > 0) {
        const bool by_sequence = settings.balance == Balance::sequence;
        const at::Tensor all = by_sequence ? counts.clone() : chosen.unsqueeze(0);
        for (const Communicator* group : by_sequence ? groups.of_sequence : groups.of_micro_batch)
            group->all_reduce(all);
        const double of_tokens = groups.tokens * (by_sequence ? 1 : double(sequences) * groups.replicas);
        const at::Tensor shares = all.to(exact).mul(rules.count / (rules.active * of_tokens));
        const at::Tensor part = rules.sigmoid ? scores.div(scores.sum(-1, /*keepdim=*/true)) : scores;
        inputs.push_back(part.view({rows, sequences, -1}).mul(shares).sum().mul(rules.balance));
    }
    if (bias.defined())
        inputs.push_back(bias);
    const at::Tensor excess = chosen.mul(rules.count).sub(rules.active * tokens);
    const at::Tensor dropped = settings.capacity > 0 ? routing.experts.eq(rules.count).sum() : at::Tensor();
    routing.weights
        = trainer::apply(std::make_shared<Guided>(groups.loss_gradient, excess, chosen, dropped, load), inputs)[0];
    return routing;
}

} // namespace fourfold::trainer
