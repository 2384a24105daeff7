// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/model/decoder.h"

#include "core/plan/graphed_layers.h"
#include "core/plan/plan_schedule.h"
#include "core/program/modules_ahead.h"
#include "runner/trainer/model/attention.h"
#include "runner/trainer/model/recompute.h"
#include "runner/trainer/tensor_parallel/vocabulary.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourfold::trainer {

namespace {
// [s / cp, b]: where each token of this rank stands in its document.
at::Tensor positions_in_documents(const at::Tensor& positions, const DocumentMask& documents)
{
    return positions.unsqueeze(1).sub(documents.starts.index_select(1, positions).t());
}

RotaryTable rows_of(const RotaryTable& table, const at::Tensor& positions)
{
    const auto rows = [&](const at::Tensor& all) {
        return all.index_select(0, positions.flatten()).view({positions.size(0), positions.size(1), all.size(1)});
    };
    return table.cosine.defined() ? RotaryTable{rows(table.cosine), rows(table.sine)} : table;
}

RotaryTable rows_from(const RotaryTable& table, int64_t first, int64_t count)
{
    return table.cosine.defined()
        ? RotaryTable{table.cosine.narrow(0, first, count), table.sine.narrow(0, first, count)}
        : table;
}

// What all layers share for a micro-batch, and none gives up.
ActivationOffload::Stays tables_of(const LayerAttentions& attentions)
{
    ActivationOffload::Stays stays;
    for (const LayerAttentions::One* one : {&attentions.full, &attentions.windowed})
        for (const at::Tensor& table :
            {one->rotary.cosine, one->rotary.sine, one->rule.slopes, one->rule.documents.starts})
            ActivationOffload::add(stays, table);
    return stays;
}
} // namespace

BlockSettings block_settings(const ResolvedPlan& plan, const Mesh& mesh, const std::vector<int64_t>& positions,
    const at::TensorOptions& options, WeightGradients& later, const Fp8Products* fp8, PassTurns* turns)
{
    const ModelShape& model = plan.model;
    const bool by_sequence = plan.training.sequence_parallel;
    const auto products = [&](const Fp8Products* numbers, bool kept) {
        return RegionProducts(mesh[GroupKind::tp], by_sequence,
            {plan.training.async_tp, kept, tensor_parallel_beside(plan) ? turns : nullptr}, later, numbers);
    };
    // The head's backward pass comes at once.
    BlockSettings settings{
        mesh, model, products(fp8, false), products(nullptr, true), by_sequence, plan.training.cp_method, {}, {}, {}};
    std::vector<int64_t> in_table = positions;
    if (plan.run.documents.mask && plan.run.documents.restart_positions) {
        settings.restarting = at::tensor(at::ArrayRef<int64_t>(positions), options.dtype(at::kLong));
        in_table.resize(std::size_t(plan.training.seq_len));
        std::iota(in_table.begin(), in_table.end(), 0);
    }
    settings.kernels = kernels_of(plan.training);
    if (model.experts) {
        settings.experts = expert_rules(plan, mesh, options.device());
        settings.experts->turns = exchanges_beside(plan) ? turns : nullptr;
    }
    LayerAttentions::One &full = settings.attention.full, &windowed = settings.attention.windowed;
    full.rule.kernel = plan.training.attention;
    full.rule.scale = 1 / std::sqrt(model.score_dimension > 0 ? model.score_dimension : double(model.head_dim));
    if (model.latent)
        full.rule.scale *= latent_score_factor(model.rope_scaling);
    if (model.positions == Positions::rope)
        full.rotary = rotary_table(rotary_frequencies(model.rope_scaling, model.rope_theta, model.rotary_dim(),
                                       model.max_positions, plan.training.seq_len),
            in_table, options);
    if (model.positions == Positions::alibi) {
        const auto slopes = alibi_slopes(model.heads);
        const int64_t heads = model.heads / plan.layout.tp;
        full.rule.slopes
            = at::tensor(at::ArrayRef<double>(slopes), at::kDouble).narrow(0, mesh.at.tp * heads, heads).to(options);
    }
    windowed = full;
    windowed.rule.window = model.window.tokens;
    windowed.rule.chunked = model.window.chunked;
    if (model.positions == Positions::rope && model.window_rope_theta > 0)
        windowed.rotary = rotary_table(rotary_frequencies({}, model.window_rope_theta, model.rotary_dim(),
                                           model.max_positions, plan.training.seq_len),
            in_table, options);
    return settings;
}

Decoder::Decoder(const ResolvedPlan& plan, const ModelChunk& chunk, const Weights& weights, const ParameterUnits& units,
    const BlockSettings& settings, const std::vector<int64_t>& positions, int layers_before)
    : settings_(settings)
    , units_(units)
    , chunk_(chunk)
    , ahead_weight_(plan.run.ahead_loss_weight / std::max(1, plan.model.predicted_ahead))
    , by_operation_(plan.training.recompute_parts.contains(RecomputePart::operations))
{
    if (chunk.embeds) {
        embedding_ = weights.find(-1, Role::embedding).weight;
        embedding_norm_ = weights.find(-1, Role::embedding_norm);
        if (plan.model.positions == Positions::learned) {
            position_embedding_ = weights.find(-1, Role::position_embedding).weight;
            // With sequence parallelism each TP rank adds the rows that it keeps.
            const auto rows = int64_t(positions.size()) / (settings.sequence_parallel ? plan.layout.tp : 1);
            const int64_t first = settings.sequence_parallel ? rows * settings.mesh.at.tp : 0;
            positions_ = at::tensor(at::ArrayRef<int64_t>(positions).slice(std::size_t(first), std::size_t(rows)),
                embedding_.options().dtype(at::kLong).requires_grad(false));
        }
    }
    for (int layer = chunk.first_layer; layer < chunk.last_layer; ++layer) {
        const bool repeats = recomputed_layers(plan.training, layers_before + layer - chunk.first_layer, 1) > 0;
        const Recompute what = repeats ? plan.training.recompute : Recompute::none;
        const bool by_parts = what == Recompute::selective && !by_operation_;
        layers_.push_back(
            {Block(settings, weights, layer, by_parts ? plan.training.recompute_parts : WordSet<RecomputePart>()),
                what});
    }
    if (chunk.predicts) {
        final_norm_ = weights.find(-1, Role::final_norm);
        head_ = weights.find(-1, Role::head).weight;
        if (!head_.defined()) // tied, and this rank's
            head_ = weights.find(-1, Role::embedding).weight;
        const bool repeats = repeats_modules(plan.training);
        const bool by_parts = repeats && plan.training.recompute == Recompute::selective && !by_operation_;
        for (int module = 0; module < plan.model.predicted_ahead; ++module)
            modules_.emplace_back(settings, weights, plan.model.layers + module,
                by_parts ? plan.training.recompute_parts : WordSet<RecomputePart>(),
                repeats && plan.training.recompute == Recompute::full);
        if (!modules_.empty() && !embedding_.defined()) {
            embedding_ = weights.find(-1, Role::embedding).weight;
            if (!embedding_.defined()) // tied, and a second copy
                embedding_ = head_;
        }
    }
}

at::Tensor Decoder::embed(const at::Tensor& tokens, const at::Tensor& positions, int64_t first_token) const
{
    at::Tensor x = settings_.products.summed(partial_embedding(tokens, embedding_, settings_.mesh[GroupKind::tp]));
    if (settings_.shape.scaled_embedding)
        x = x.mul(std::sqrt(double(settings_.shape.hidden)));
    if (positions_.defined() && positions.defined()) {
        const int64_t rows = positions_.size(0), first = settings_.sequence_parallel ? rows * settings_.mesh.at.tp : 0;
        x = x.add(at::embedding(position_embedding_, positions.narrow(0, first, rows)));
    } else if (positions_.defined()) {
        x = x.add(at::embedding(position_embedding_, positions_.narrow(0, first_token, x.size(0))).unsqueeze(1));
    }
    return embedding_norm_.weight.defined() ? norm(x, embedding_norm_, settings_) : x;
}

std::pair<std::shared_ptr<LayerAttentions>, at::Tensor> Decoder::attentions_of(const DocumentMask& documents) const
{
    at::Tensor positions;
    auto attentions = std::make_shared<LayerAttentions>(settings_.attention);
    if (documents.starts.defined() && settings_.restarting.defined())
        positions = positions_in_documents(settings_.restarting, documents);
    for (LayerAttentions::One* one : {&attentions->full, &attentions->windowed}) {
        one->rule.documents = documents;
        if (positions.defined())
            one->rotary = rows_of(one->rotary, positions);
    }
    return {std::move(attentions), std::move(positions)};
}

at::Tensor Decoder::forward(const at::Tensor& tokens_or_x, const DocumentMask& documents, KeyValueCache* seen) const
{
    at::Tensor x = tokens_or_x;
    const auto [attentions, positions] = attentions_of(documents);
    const int64_t first = seen != nullptr ? seen->length() : 0;
    if (seen != nullptr) {
        attentions->seen = seen;
        for (LayerAttentions::One* one : {&attentions->full, &attentions->windowed})
            one->rotary = rows_from(one->rotary, first, x.size(0));
    }
    if (chunk_.embeds) {
        units_.enter(ParameterUnits::kFront);
        x = units_.leave(ParameterUnits::kFront, embed(x, positions, first));
    }
    const auto offloaded
        = settings_.offload != nullptr ? ActivationOffload::begin_pass(tables_of(*attentions)) : nullptr;
    for (int layer = chunk_.first_layer; layer < chunk_.last_layer; ++layer) {
        if (auto known = replayed(layer, x)) {
            x = std::move(known->first);
            layer += known->second - 1;
            continue;
        }
        const auto& [block, repeated] = layers_[std::size_t(layer - chunk_.first_layer)];
        const auto whole = [&block = block, attentions = attentions](
                               at::TensorList in) { return std::vector{block.forward(in[0], attentions)}; };
        const auto pass = [&, &block = block, repeated = repeated] {
            if (repeated == Recompute::full)
                return recomputed(whole, {x})[0];
            if (repeated == Recompute::selective && by_operation_)
                return recomputed(whole, {x}, KeptResults::Choice::operations)[0];
            return block.forward(x, attentions);
        };
        units_.enter(layer);
        x = units_.leave(layer, offloaded ? settings_.offload->layer(offloaded, x, pass) : pass());
    }
    if (seen != nullptr)
        seen->advance(x.size(0));
    return x;
}

std::optional<std::pair<at::Tensor, int>> Decoder::replayed(int layer, const at::Tensor& x) const
{
    if (graphs_.empty() || !at::GradMode::is_enabled() || !x.requires_grad())
        return std::nullopt;
    const auto found = std::ranges::find(graphs_, layer, [](const auto& graphs) { return graphs->first(); });
    if (found == graphs_.end())
        return std::nullopt;
    auto y = (*found)->forward(x);
    return y ? std::optional(std::pair(std::move(*y), (*found)->count())) : std::nullopt;
}

void Decoder::record_graphs(const ResolvedPlan& plan, GraphRecorder& recorder, const Weights& weights,
    const GradientBuckets& gradients, const std::vector<int64_t>& stream, const at::TensorOptions& options, int sets)
{
    std::vector<LayerGraphs::Layer> run;
    for (int layer = chunk_.first_layer; layer <= chunk_.last_layer; ++layer) {
        const Layer* const own
            = layer < chunk_.last_layer ? &layers_[std::size_t(layer - chunk_.first_layer)] : nullptr;
        if (own != nullptr && is_graphed(plan, layer, own->repeated != Recompute::none)) {
            run.push_back({layer, &own->block});
        } else if (!run.empty()) {
            graphs_.push_back(std::make_shared<const LayerGraphs>(
                recorder, LayerGraphs::Rank{settings_, weights, units_, gradients}, run, stream, options, sets));
            run.clear();
        }
    }
}

int64_t Decoder::replays() const
{
    int64_t sum = 0;
    for (const auto& graphs : graphs_)
        sum += graphs->replays();
    return sum;
}

at::Tensor Decoder::logits(const at::Tensor& x) const
{
    units_.enter(ParameterUnits::kRear);
    return settings_.head_products.enter(norm(x, final_norm_, settings_), {{head_, {}}})[0];
}

at::Tensor Decoder::cross_entropy(const at::Tensor& normed, const at::Tensor& labels, bool all_count) const
{
    const at::Tensor logits = settings_.head_products.enter(normed, {{head_, {}}})[0];
    return vocabulary_cross_entropy(
        settings_.kernels, logits, labels, all_count, settings_.mesh[GroupKind::tp], settings_.shape.vocab);
}

at::Tensor Decoder::embed_ahead(const at::Tensor& tokens) const
{
    const auto& homes = settings_.mesh.schedule.stage_of_chunk;
    if (homes.front() != homes.back()) // the table is behind the layers, beside the head
        return embed(tokens, {});
    units_.enter(ParameterUnits::kFront, /*in_passing=*/true);
    return units_.leave(ParameterUnits::kFront, embed(tokens, {}));
}

Decoder::Loss Decoder::loss_sum(const at::Tensor& x, const Targets& targets, const DocumentMask& documents) const
{
    units_.enter(ParameterUnits::kRear);
    at::Tensor stream = norm(x, final_norm_, settings_);
    Loss loss;
    loss.of_labels = loss.whole = cross_entropy(stream, targets.labels, targets.all_count);
    const std::size_t modules = at::GradMode::is_enabled() ? modules_.size() : 0; // they serve the training alone
    const auto attentions = modules == 0 ? nullptr : attentions_of(documents).first;
    for (std::size_t i = 0; i < modules; ++i) {
        const Targets::Ahead& ahead = targets.ahead.at(i);
        const at::Tensor next = embed_ahead(ahead.tokens);
        units_.enter(modules_[i].layer());
        auto [further, normed] = modules_[i].forward(stream, next, attentions);
        normed = units_.leave(modules_[i].layer(), normed);
        loss.whole = loss.whole.add(cross_entropy(normed, ahead.labels, false), ahead_weight_);
        stream = further;
    }
    loss.whole = units_.leave(ParameterUnits::kRear, loss.whole);
    return loss;
}

std::vector<Decoder> make_decoders(const ResolvedPlan& plan, const Mesh& mesh, const Weights& weights,
    const ParameterUnits& units, const BlockSettings& settings, const std::vector<int64_t>& positions)
{
    int before = 0;
    std::vector<Decoder> decoders;
    for (const ModelChunk& chunk : chunks_of(plan, mesh.schedule.stage_of_chunk, mesh.at.pp)) {
        decoders.emplace_back(plan, chunk, weights, units, settings, positions, before);
        before += chunk.last_layer - chunk.first_layer;
    }
    return decoders;
}

} // namespace fourfold::trainer
