// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/expected_traffic.h"

#include "core/model/parameters.h"
#include "core/program/operation.h"
#include "core/program/rank_shape.h"
#include "core/program/sharding_operations.h"

#include <algorithm>
#include <stdexcept>

namespace fourfold::testing {

namespace {
constexpr double kFp32 = 4, kFp64 = 8; // bytes

int size_of(const ResolvedPlan& plan, const std::string& group)
{
    const Layout& layout = plan.layout;
    if (group == "tp")
        return layout.tp;
    if (group == "cp")
        return layout.cp;
    if (group == "pp" || group == "pp_back")
        return layout.pp;
    if (group == "ends")
        return std::min(layout.pp, 2);
    if (group == "kv")
        return std::max(1, layout.tp / plan.model.kv_heads);
    if (group == "dp_shard")
        return layout.dp_shard;
    if (group == "dp_replicate")
        return layout.dp * layout.cp / layout.dp_shard;
    return group == "dp" ? layout.dp * layout.cp : layout.gpus();
}

std::string group_name(const ResolvedPlan& plan, const Operation& op)
{
    switch (op.group) {
    case GroupKind::tp:
        return "tp";
    case GroupKind::cp:
        return "cp";
    case GroupKind::pp:
        return op.collective == Collective::all_reduce ? "ends" : op.phase == Phase::backward ? "pp_back" : "pp";
    case GroupKind::dp_cp:
        return "dp";
    case GroupKind::dp_shard: // without further copies it is the group of all replicas
        return size_of(plan, "dp_replicate") > 1 ? "dp_shard" : "dp";
    case GroupKind::dp_replicate:
        return "dp_replicate";
    default:
        throw std::runtime_error("an operation of a group that the trainer does not have: " + op.name);
    }
}

std::string operation_name(const Operation& op)
{
    switch (op.collective) {
    case Collective::all_reduce:
        return "all_reduce";
    case Collective::all_gather:
        return "all_gather";
    case Collective::reduce_scatter:
        return "reduce_scatter";
    default:
        return "send_receive";
    }
}

// The trainer sends the gradient norm over all ranks at once, together with the loss: see unplanned_traffic().
bool communicates(const Operation& op)
{
    return (op.kind == OperationKind::collective || op.kind == OperationKind::send_receive)
        && op.name != "gradient norm";
}

// Parameters of one rank of each pipeline stage, added up over the stages: all, and those of layers.
std::pair<double, double> elements_of_a_rank_each_stage(const ResolvedPlan& plan)
{
    double all = 0, layers = 0;
    const auto& counts = plan.layout.stage_layers;
    for (std::size_t chunk = 0, first = 0; chunk < counts.size(); first += std::size_t(counts[chunk++]))
        for (const Parameter& parameter : parameter_table(plan.model, plan.padded_vocab, int(first),
                 int(first) + counts[chunk], chunk == 0, chunk + 1 == counts.size())) {
            const double own = double(parameter.elements()) / (parameter.tp_dim >= 0 ? plan.layout.tp : 1);
            all += own;
            layers += parameter.layer >= 0 ? own : 0;
        }
    return {all, layers};
}
} // namespace

Traffic planned_traffic(const ResolvedPlan& plan)
{
    Traffic traffic;
    const Layout& layout = plan.layout;
    const double ranks_of_a_stage = double(layout.gpus()) / layout.pp;
    const int last_chunk = layout.pp * layout.virtual_stages - 1;
    const auto add = [&](const Operation& op, double times) {
        const std::string group = group_name(plan, op);
        if (size_of(plan, group) > 1)
            traffic[{group, operation_name(op)}] += op.bytes * op.repeat * times * ranks_of_a_stage;
    };
    for (const StageProgram& stage : build_program(plan)) {
        for (const ChunkProgram& chunk : stage.chunks)
            for (const Operation& op : chunk.operations) {
                // A hop stands for the delay to a neighbour, also where the model ends.
                const bool hop = op.group == GroupKind::pp;
                const bool no_neighbour = hop && chunk.chunk == (op.phase == Phase::backward ? 0 : last_chunk);
                if (communicates(op) && !no_neighbour)
                    add(op, plan.training.micro_batches);
            }
        for (const Operation& op : stage.step_operations)
            if (communicates(op))
                add(op, 1);
    }
    return traffic;
}

Traffic unplanned_traffic(const ResolvedPlan& plan)
{
    Traffic traffic;
    const Layout& layout = plan.layout;
    const RankShape rank = rank_shape(plan);
    const double ranks_of_a_stage = double(layout.gpus()) / layout.pp;
    const double micro_batches = plan.training.micro_batches;
    const double activation = rank.tokens * rank.hidden * rank.element_bytes;
    const bool by_sequence = layout.tp > 1 && plan.training.sequence_parallel;

    // Loss, number of labels, gradient norm and "stop": four fp64 numbers.
    if (layout.gpus() > 1)
        traffic[{"world", "all_reduce"}] += 4 * kFp64 * layout.gpus();
    // Maxima, sums and targets of the vocabulary-parallel softmax.
    if (layout.tp > 1)
        traffic[{"tp", "all_reduce"}] += 3 * rank.tokens * kFp32 * micro_batches * ranks_of_a_stage;
    if (by_sequence) {
        // Backward of the embedding's reduce-scatter.
        traffic[{"tp", "all_gather"}] += activation * micro_batches * ranks_of_a_stage;
        // The planner has Megatron-LM's second gather of each region's input; the trainer keeps the first.
        traffic[{"tp", "all_gather"}] -= 2 * plan.model.layers * activation * micro_batches * ranks_of_a_stage;
    }
    // A pipeline gathers and reduces each unit of fully sharded weights once a step, embedding and head too; the
    // planner has torchtitan's two gathers, of the layers.
    if (fully_sharded(plan.training) && layout.pp > 1) {
        const std::string group = size_of(plan, "dp_replicate") > 1 ? "dp_shard" : "dp";
        const auto [all, layers] = elements_of_a_rank_each_stage(plan);
        if (size_of(plan, group) > 1) {
            traffic[{group, "all_gather"}] += (all - 2 * layers) * rank.element_bytes * ranks_of_a_stage;
            traffic[{group, "reduce_scatter"}] += (all - layers) * kFp32 * ranks_of_a_stage;
        }
    }
    // Gradients of what several TP ranks hold, summed by those that own them after the reduction.
    const double owners = plan.training.sharding == Sharding::none ? double(layout.dp) * layout.cp
                                                                   : double(layout.dp) * layout.cp / layout.dp_shard;
    const int copies = size_of(plan, "kv");
    for (const Parameter& parameter :
        parameter_table(plan.model, plan.padded_vocab, 0, plan.model.layers, true, true)) {
        const bool key_or_value
            = parameter.name.find("k_proj") != std::string::npos || parameter.name.find("v_proj") != std::string::npos;
        if (by_sequence && parameter.tp_dim < 0)
            traffic[{"tp", "all_reduce"}] += double(parameter.elements()) * kFp32 * owners * layout.tp;
        if (copies > 1 && key_or_value)
            traffic[{"kv", "all_reduce"}] += double(parameter.elements()) * copies * kFp32 * owners;
    }
    return traffic;
}

double wire_bytes(const ResolvedPlan& plan, const Traffic& traffic)
{
    double total = 0;
    for (const auto& [key, bytes] : traffic) {
        const double ranks = size_of(plan, key.first);
        const double factor
            = key.second == "send_receive" ? 1 : (key.second == "all_reduce" ? 2 : 1) * (ranks - 1) / ranks;
        total += bytes * factor;
    }
    return total;
}

} // namespace fourfold::testing
