// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/stage_terms.h"

#include <algorithm>

namespace fourfold {
namespace {

double bytes_of(const std::vector<Allocation>& allocations, Lifetime lifetime)
{
    double bytes = 0;
    for (const Allocation& allocation : allocations)
        bytes += allocation.lifetime == lifetime ? allocation.bytes : 0;
    return bytes;
}

double hop_of(const ChunkProgram& chunk, const CostContext& context)
{
    for (const Operation& operation : chunk.operations) {
        if (operation.part == Part::pp)
            return price(operation, context).seconds;
    }
    return 0;
}

StepTerms::Item item_of(const Operation& operation, const CostContext& context)
{
    StepTerms::Item item;
    item.seconds = price(operation, context).seconds * operation.repeat;
    if (!context.launch_blocking) {
        item.most_hidden = (1 - context.constants[operation.exposed_floor]) * item.seconds;
        item.window_share = context.constants[operation.window_share];
        if (operation.window == Window::forward_pass)
            item.window = StepTerms::Item::Window::forward;
        else if (operation.window == Window::backward_pass)
            item.window = StepTerms::Item::Window::backward;
    }
    using enum StepTerms::Item::Kind;
    if (operation.kind == OperationKind::optimizer)
        item.kind = optimizer;
    else if (operation.kind != OperationKind::collective)
        item.kind = other;
    else
        item.kind = operation.collective == Collective::all_gather ? gather : reduce;
    return item;
}

} // namespace

std::array<double, 4> exposed_by_kind(const StepTerms& terms, double forward, double backward, double overlap_slowdown)
{
    std::array<double, 4> exposed{};
    for (const StepTerms::Item& item : terms.items) {
        double hidden = 0;
        if (item.window != StepTerms::Item::Window::none) {
            double& window = item.window == StepTerms::Item::Window::forward ? forward : backward;
            hidden = std::clamp(std::min(item.most_hidden, item.window_share * window), 0.0, item.seconds);
            window -= hidden;
        }
        exposed[static_cast<std::size_t>(item.kind)] += item.seconds - hidden + hidden * overlap_slowdown;
    }
    return exposed;
}

StageTermTable::StageTermTable(const ResolvedPlan& base)
    : context_(base)
{
}

std::size_t StageTermTable::Hash::operator()(const Key& key) const
{
    std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
    for (const std::int32_t part : key) {
        hash ^= static_cast<std::uint32_t>(part);
        hash *= 0xFF51AFD7ED558CCDULL;
        hash ^= hash >> 32U;
    }
    return hash;
}

void StageTermTable::set_layout(const ResolvedPlan& plan)
{
    context_.set_groups(plan);
    const Layout& layout = plan.layout;
    const Constants& constants = context_.constants;
    const auto packed = [&](GroupKind group) { return std::int32_t(context_.span(group).key()); };
    const Sharding sharding = plan.training.sharding;
    const bool per_micro_batch = sharding == Sharding::gradients || (fully_sharded(plan.training) && layout.pp == 1);
    const bool experts = plan.model.experts.has_value();
    const bool several_nodes = plan.nodes() > 1;
    const bool counts_gpus
        = constants[Constant::replica_jitter_s] != 0 || (several_nodes && constants[Constant::replica_slowdown] != 0);
    const bool per_chunk
        = constants[Constant::micro_batch_overhead_s] != 0 || constants[Constant::replica_jitter_s] != 0;
    layout_key_ = {layout.tp, layout.cp, layout.ep, layout.etp, packed(GroupKind::tp), packed(GroupKind::cp),
        layout.pp > 1 ? packed(GroupKind::pp) : -1, experts ? packed(GroupKind::ep) : 0,
        per_micro_batch ? packed(GroupKind::dp_cp) : 0, per_micro_batch ? layout.dp * layout.cp : 0,
        per_micro_batch ? packed(GroupKind::dp_shard) ^ (layout.dp_shard << 4) : 0,
        per_micro_batch && experts ? packed(GroupKind::expert_dp) : 0, per_micro_batch ? int(sharding) + 1 : 0,
        several_nodes ? 1 : 0, counts_gpus ? plan.gpus : 0,
        layout.pp > 1 && layout.tp * layout.cp * layout.pp > plan.cluster.gpus_per_node ? 1 : 0,
        per_chunk ? layout.virtual_stages : 0};
}

StageTermTable::Key StageTermTable::key_of(const ResolvedPlan& plan, const ChunkShape& shape) const
{
    Key key = layout_key_;
    key[17] = plan.training.micro_batch;
    key[18] = shape.layers;
    key[19] = dense_layers(plan.model, shape.first_layer, shape.layers);
    key[20] = int(shape.recompute_layers * 4) + int(plan.training.recompute);
    key[21] = (shape.embedding ? 1 : 0) + (shape.head ? 2 : 0);
    return key;
}

const ChunkTerms& StageTermTable::chunk(const ResolvedPlan& plan, const ChunkShape& shape)
{
    const auto [place, fresh] = chunks_.try_emplace(key_of(plan, shape));
    ChunkTerms& terms = place->second;
    if (!fresh)
        return terms;
    StageParameters parameters;
    const ChunkProgram chunk = build_chunk(plan, rank_shape(plan, context_.constants), shape, parameters);
    const ChunkTime time = chunk_time(chunk, context_);
    terms.forward = {time.forward.seconds(), time.forward.unstretched_s};
    terms.backward = {time.backward.seconds(), time.backward.unstretched_s};
    terms.hop = hop_of(chunk, context_);
    terms.kept = bytes_of(chunk.allocations, Lifetime::micro_batch);
    terms.in_forward = bytes_of(chunk.allocations, Lifetime::forward);
    // The loss and the layers' backward follow each other within one pass.
    terms.in_backward
        = std::max(bytes_of(chunk.allocations, Lifetime::loss), bytes_of(chunk.allocations, Lifetime::backward));
    return terms;
}

StepTerms StageTermTable::step(const ResolvedPlan& plan, std::span<const ChunkShape> chunks) const
{
    const RankShape rank = rank_shape(plan, context_.constants);
    StageParameters parameters;
    StageProgram stage;
    for (const ChunkShape& shape : chunks)
        stage.chunks.push_back(build_chunk(plan, rank, shape, parameters));
    finish_stage(stage, plan, rank, parameters);
    StepTerms terms;
    for (const Operation& operation : stage.step_operations)
        terms.items.push_back(item_of(operation, context_));
    terms.held = bytes_of(stage.allocations, Lifetime::step);
    terms.in_update = bytes_of(stage.allocations, Lifetime::update);
    return terms;
}

} // namespace fourfold
