// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/program/build.h"
#include "core/schedule/schedules.h"

#include "core/program/allocations.h"
#include "core/program/graph_forms.h"
#include "core/program/layer_operations.h"
#include "core/program/modules_ahead.h"
#include "core/program/muon.h"
#include "core/program/operation.h"
#include "core/program/own_launches.h"
#include "core/program/sharding_operations.h"

#include <algorithm>

namespace fourfold {
namespace {

struct LayerCounts {
    int dense = 0, moe = 0;
};

LayerCounts count_layers(const ModelShape& model, int first, int layers)
{
    LayerCounts counts;
    counts.moe = model.moe_layers(first, layers);
    counts.dense = layers - counts.moe;
    return counts;
}

} // namespace

std::vector<StageProgram> build_program(const ResolvedPlan& plan)
{
    return build_program(plan, chunk_placement(plan.training.schedule, plan.layout.pp, plan.layout.virtual_stages));
}

void add_chunk_parameters(
    StageParameters& sum, const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape)
{
    const ModelShape& model = plan.model;
    const bool tied_here = model.tied_embeddings && plan.layout.pp == 1;
    const LayerCounts counts = count_layers(model, shape.first_layer, shape.layers);
    const auto of_layer = [&](bool moe) { return rank.layer(moe).matrices(0) + rank.layer(moe).vectors; };
    const double dense_layer = of_layer(false), moe_layer = of_layer(true);
    const double layers = counts.dense * dense_layer + counts.moe * moe_layer;
    sum.layers += layers;
    for (const bool moe : {false, true}) {
        sum.replicated += (moe ? counts.moe : counts.dense) * rank.layer(moe).replicated;
        sum.keys += (moe ? counts.moe : counts.dense) * rank.layer(moe).keys;
    }
    sum.dense += layers;
    sum.experts += counts.moe * rank.experts();
    sum.layer_count += shape.layers;
    sum.dense_layers += counts.dense;
    sum.moe_layers += counts.moe;
    for (const bool moe : {false, true})
        sum.muon += (moe ? counts.moe : counts.dense) * muon_elements(plan, rank.layer(moe));
    sum.expert_muon += counts.moe * muon_elements_of_experts(plan, rank);
    const double embedding = embedding_parameters(model, rank), head = head_parameters(model, rank);
    const double norm = head - rank.vocab * rank.hidden / rank.tp;
    if (shape.embedding) {
        sum.dense += embedding;
        sum.replicated += embedding - rank.vocab * rank.hidden / rank.tp;
    }
    if (shape.head) {
        sum.dense += tied_here ? norm : head;
        sum.replicated += norm;
    }
    sum.largest_unit = std::max({sum.largest_unit, shape.layers > 0 && counts.dense > 0 ? dense_layer : 0,
        counts.moe > 0 ? moe_layer + rank.experts() : 0, shape.embedding ? embedding : 0,
        shape.head && !tied_here ? head : 0});
    sum.largest_layer = std::max(
        {sum.largest_layer, counts.dense > 0 ? dense_layer : 0, counts.moe > 0 ? moe_layer + rank.experts() : 0});
    if (shape.head) {
        sum.lasting_unit = tied_here ? embedding + norm : 0;
        sum.rear_unit = tied_here ? sum.lasting_unit : head;
    }
    const double mlp_tensor = rank.mlp_inputs * rank.hidden * rank.ffn / rank.tp;
    sum.largest_tensor = std::max({sum.largest_tensor, shape.layers > 0 ? mlp_tensor : 0.0,
        counts.moe > 0 ? rank.local_experts * rank.mlp_inputs * rank.hidden * rank.expert_ffn / rank.cut.etp : 0.0,
        shape.embedding || (shape.head && !tied_here) ? rank.vocab * rank.hidden / rank.tp : 0.0});
    const bool both_look_up = model.predicted_ahead > 0;
    if ((model.tied_embeddings || both_look_up) && (shape.embedding || shape.head))
        sum.tied = rank.vocab * rank.hidden / rank.tp;
    if (shape.head && model.predicted_ahead > 0)
        add_module_parameters(sum, plan, rank);
}

ChunkProgram build_chunk_work(const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape)
{
    ChunkProgram chunk;
    chunk.chunk = shape.chunk;
    chunk.first_layer = shape.first_layer;
    chunk.layers = shape.layers;
    chunk.embedding = shape.embedding;
    chunk.head = shape.head;
    const LayerCounts counts = count_layers(plan.model, chunk.first_layer, chunk.layers);
    const double per_layer = chunk.layers > 0 ? shape.recompute_layers / chunk.layers : 0;

    auto& list = chunk.operations;
    list.reserve(64);
    if (chunk.embedding)
        add_embedding_operations(list, plan, rank);
    for (const LayerGroup group : {LayerGroup{counts.dense, false}, LayerGroup{counts.moe, true}}) {
        add_layer_operations(list, plan, rank, group, per_layer * group.layers);
        add_own_launches(list, plan, rank, group.layers, per_layer * group.layers, group.moe);
        const int before = group.moe ? counts.dense : 0; // dense layers come first
        const int away = std::clamp(shape.offload_layers - before, 0, group.layers);
        if (away > 0)
            add_activation_offload(list, plan, rank, {away, group.moe}, per_layer * away);
    }
    if (chunk.head)
        add_head_operations(list, plan, rank);
    const int modules = chunk.head ? plan.model.predicted_ahead : 0;
    if (modules > 0)
        add_module_operations(list, plan, rank);
    if (plan.layout.pp > 1)
        add_pipeline_hop(list, rank, plan.layout);
    add_launch_floors(list, plan, rank, chunk.layers + modules,
        shape.recompute_layers + (repeats_modules(plan.training) ? modules : 0), graphed_layers(plan, shape));
    chunk.allocations = chunk_allocations(plan, rank, shape);
    return chunk;
}

ChunkProgram build_chunk(const ResolvedPlan& plan, const RankShape& rank, const ChunkShape& shape)
{
    ChunkProgram chunk = build_chunk_work(plan, rank, shape);
    StageParameters own;
    add_chunk_parameters(own, plan, rank, shape);
    add_job_overheads(chunk.operations, plan);
    add_micro_batch_sharding(chunk.operations, plan, rank, own);
    return chunk;
}

void finish_stage(
    StageProgram& stage, const ResolvedPlan& plan, const RankShape& rank, const StageParameters& parameters)
{
    add_step_operations(stage.step_operations, plan, rank, parameters);
    stage.allocations = state_allocations(plan, rank, parameters);
    stage.parameters = parameters.total();
}

int dense_layers(const ModelShape& model, int first, int layers)
{
    return count_layers(model, first, layers).dense;
}

std::vector<ChunkShape> chunk_shapes(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk)
{
    // Recomputed and offloaded layers are counted over the chunks of a stage, in order.
    std::vector<int> seen(static_cast<std::size_t>(plan.layout.pp), 0);
    std::vector<ChunkShape> shapes;
    ChunkShape shape;
    for (std::size_t index = 0; index < stage_of_chunk.size(); ++index) {
        int& before = seen[static_cast<std::size_t>(stage_of_chunk[index])];
        shape.chunk = int(index);
        shape.first_layer += shape.layers;
        shape.layers = plan.layout.stage_layers[index];
        shape.embedding = index == 0;
        shape.head = index + 1 == stage_of_chunk.size();
        shape.recompute_layers = recomputed_layers(plan.training, before, shape.layers);
        shape.offload_layers = offloaded_layers(plan.training, before, shape.layers);
        before += shape.layers;
        shapes.push_back(shape);
    }
    return shapes;
}

std::vector<StageProgram> build_program(const ResolvedPlan& plan, const std::vector<int>& stage_of_chunk)
{
    const RankShape rank = rank_shape(plan);
    std::vector<StageProgram> stages(static_cast<std::size_t>(plan.layout.pp));
    std::vector<StageParameters> parameters(stages.size());
    for (const ChunkShape& shape : chunk_shapes(plan, stage_of_chunk)) {
        const auto stage = static_cast<std::size_t>(stage_of_chunk[static_cast<std::size_t>(shape.chunk)]);
        add_chunk_parameters(parameters[stage], plan, rank, shape);
        stages[stage].chunks.push_back(build_chunk(plan, rank, shape));
    }
    for (std::size_t i = 0; i < stages.size(); ++i) {
        stages[i].stage = int(i);
        finish_stage(stages[i], plan, rank, parameters[i]);
    }
    return stages;
}

} // namespace fourfold
