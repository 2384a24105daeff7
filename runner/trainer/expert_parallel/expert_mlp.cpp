// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/expert_parallel/expert_mlp.h"

#include "runner/trainer/context_parallel/slice.h"
#include "runner/trainer/expert_parallel/dispatch.h"
#include "runner/trainer/expert_parallel/grouped_product.h"
#include "runner/trainer/rehearsal/lasting.h"
#include "runner/trainer/tensor_parallel/regions.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace fourfold::trainer {

ExpertRules expert_rules(const ResolvedPlan& plan, const Mesh& mesh, at::Device device)
{
    const Training& training = plan.training;
    const bool by_sequence = training.sequence_parallel || plan.layout.tp == 1;
    const at::Tensor load = at::zeros({plan.model.layers + plan.model.predicted_ahead, plan.model.experts->count + 1},
        at::TensorOptions(at::kLong).device(device));
    const double clamp = plan.model.activation == Activation::clamped_swiglu ? plan.model.activation_limit : 0;
    ExpertRules rules{*plan.model.experts, clamp, training.experts, {}, by_sequence, load, kernels_of(training)};
    RoutingGroups& groups = rules.groups;
    if (by_sequence)
        groups.of_sequence = groups.of_micro_batch = {&mesh[GroupKind::tp]};
    groups.of_sequence.push_back(&mesh[GroupKind::cp]);
    groups.of_micro_batch.push_back(&mesh.for_numbers(GroupKind::dp_cp));
    if (training.experts.capacity > 0) {
        std::vector<int64_t> all;
        for (int rank = 0; rank < plan.layout.cp; ++rank)
            std::ranges::copy(
                context_positions(training.seq_len, rank, plan.layout.cp, training.cp_method), std::back_inserter(all));
        const int64_t parts = plan.layout.cp * (by_sequence ? plan.layout.tp : 1), rows = int64_t(all.size()) / parts;
        const int64_t own = mesh.at.cp * (by_sequence ? plan.layout.tp : 1) + (by_sequence ? mesh.at.tp : 0);
        const at::Tensor positions = at::tensor(all, at::TensorOptions(at::kLong)).to(device);
        groups.order = positions.argsort();
        groups.positions = positions.narrow(0, own * rows, rows);
    }
    if (training.precision == Precision::fp8)
        rules.fp8 = std::make_shared<Fp8Products>(training, mesh[GroupKind::etp],
            std::vector{&mesh.for_numbers(GroupKind::expert_shard), &mesh.for_numbers(GroupKind::expert_replicate)});
    groups.tokens = training.seq_len;
    groups.replicas = plan.layout.dp;
    return rules;
}

ExpertLoad take_load(const ExpertRules& rules, const ModelShape& model, const Mesh& mesh)
{
    mesh[GroupKind::world].all_reduce(rules.load); // where ranks count the same tokens they count all of them as often
    host_reads();
    if (rules.load.is_meta())
        return {};
    const at::Tensor counts = rules.load.clone().cpu();
    rules.load.zero_();
    const auto* of_expert = counts.const_data_ptr<int64_t>();
    const int ranks = mesh[GroupKind::ep].size(), experts_of_rank = rules.experts.count / ranks;
    ExpertLoad load;
    if (ranks > 1)
        load.busiest_rank = 0;
    int64_t chosen = 0, dropped = 0;
    for (int layer = 0; layer < model.layers + model.predicted_ahead; ++layer, of_expert += rules.experts.count + 1) {
        if (!model.is_moe_layer(layer))
            continue;
        const auto end = of_expert + rules.experts.count;
        const int64_t of_layer = std::accumulate(of_expert, end, int64_t(0));
        chosen += of_layer;
        dropped += *end;
        const double mean = double(of_layer) / rules.experts.count;
        const double most = mean > 0 ? double(*std::max_element(of_expert, end)) / mean : 0;
        for (auto own = of_expert; load.busiest_rank && mean > 0 && own < end; own += experts_of_rank)
            load.busiest_rank = std::max(*load.busiest_rank,
                double(std::accumulate(own, own + experts_of_rank, int64_t(0))) / (mean * experts_of_rank));
        load.idle += std::count(of_expert, end, 0);
        if (most > load.busiest) {
            load.busiest = most;
            load.layer = layer;
        }
    }
    if (rules.settings.capacity > 0)
        load.dropped = chosen > 0 ? double(dropped) / double(chosen) : 0;
    return load;
}

namespace {
struct Blocks {
    at::Tensor of_token; // [tokens] int64
    int count = 1;
};

// Which tokens share scales in weight gradients, whoever computes them: those of so many positions of a sequence. Rows
// are whole blocks of positions (core/plan/trainable.cpp). tokens: [rows x sequences, hidden].
Blocks blocks_of(const Fp8Products* fp8, const at::Tensor& tokens, int64_t sequences)
{
    if (fp8 == nullptr || !fp8->blocks_of_positions())
        return {};
    const int64_t rows = tokens.size(0) / sequences, block = fp8->tokens_in_block();
    const at::Tensor token = at::arange(tokens.size(0), at::TensorOptions(at::kLong).device(tokens.device()));
    return {token.div(sequences * block, "trunc").mul(sequences).add(token.remainder(sequences)),
        int((rows + block - 1) / block * sequences)};
}
} // namespace

ExpertMlp::ExpertMlp(const ExpertRules& rules, const Mesh& mesh, const Weights& weights, int layer)
    : rules_(rules)
    , mesh_(mesh)
    , router_(weights.find(layer, Role::router))
    , bias_(weights.find(layer, Role::routing_bias).weight)
    , gate_(weights.find_experts(layer, Role::gate))
    , up_(weights.find_experts(layer, Role::up))
    , down_(weights.find_experts(layer, Role::down))
    , load_(rules.load[layer])
{
}

at::Tensor ExpertMlp::forward(const at::Tensor& x) const
{
    const Communicator &etp = mesh_[GroupKind::etp], &ep = mesh_[GroupKind::ep];
    const int64_t sequences = x.size(1), hidden = x.size(2);
    const Routing own = route(x, router_, bias_, rules_.experts, rules_.settings, rules_.groups, load_);
    // All etp ranks compute their slices for the tokens of all of them.
    const at::Tensor tokens = enter_region(x, etp, rules_.by_sequence).reshape({-1, hidden});
    const at::Tensor weights = enter_region(own.weights, etp, rules_.by_sequence);
    const at::Tensor experts = rules_.by_sequence ? etp.all_gather(own.experts) : own.experts;

    const Blocks blocks = blocks_of(rules_.fp8.get(), tokens, sequences);
    const Dispatch dispatch(
        experts, rules_.experts.count, ep, rules_.turns, blocks.of_token, blocks.count, rules_.known);
    const at::Tensor in = dispatch.to_experts(tokens);
    const auto product = [&](const at::Tensor& x_in, const Weights::OfExperts& of, CutOver cut, bool adds_bias = true) {
        return grouped_linear(
            x_in, of.weights, of.biases, adds_bias, dispatch.rows(), rules_.fp8.get(), cut, dispatch.runs());
    };
    const at::Tensor gate = product(in, gate_, CutOver::columns), up = product(in, up_, CutOver::columns);
    const at::Tensor inner
        = rules_.clamp > 0 ? clamped_swiglu(rules_.kernels, gate, up, rules_.clamp) : swiglu(rules_.kernels, gate, up);
    // The answers of the slices are added up: the bias is in one of them.
    const at::Tensor out = dispatch.to_tokens(product(inner, down_, CutOver::rows, etp.rank() == 0), weights);
    return leave_region(out.view({-1, sequences, hidden}), etp, rules_.by_sequence);
}

} // namespace fourfold::trainer
