// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/expected_traffic.h"

#include "core/program/operation.h"

#include <algorithm>

namespace fourfold::testing {

namespace {
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
    if (op.group == GroupKind::pp)
        return op.collective == Collective::all_reduce ? "ends" : op.phase == Phase::backward ? "pp_back" : "pp";
    const std::string group(name(op.group));
    if (op.group == GroupKind::dp_shard && size_of(plan, "dp_replicate") == 1)
        return "dp"; // without further copies it is the group of all replicas
    return group;
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

bool communicates(const Operation& op)
{
    return op.kind == OperationKind::collective || op.kind == OperationKind::send_receive;
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
