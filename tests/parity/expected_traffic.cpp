// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/expected_traffic.h"

#include "core/program/operation.h"

#include <algorithm>
#include <optional>

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

// What an operation of the program sends, as the trainer counts it.
struct Message {
    GroupKind group = GroupKind::none;
    std::string group_name, operation;
    double bytes = 0; // with its repetitions
};

std::string name_of(const ResolvedPlan& plan, GroupKind group)
{
    if (group == GroupKind::dp_shard && size_of(plan, "dp_replicate") == 1)
        return "dp"; // without further copies it is the group of all replicas
    return std::string(name(group));
}

std::string operation_name(CollectiveKind kind)
{
    switch (kind) {
    case Collective::all_reduce:
        return "all_reduce";
    case Collective::all_gather:
        return "all_gather";
    case Collective::reduce_scatter:
        return "reduce_scatter";
    case Collective::all_to_all:
        return "all_to_all";
    }
    return "";
}

std::optional<Message> message_of(const ResolvedPlan& plan, const Operation& op)
{
    if (const auto* sent = op.as<PointToPoint>()) {
        const bool hop = sent->group == GroupKind::pp;
        const std::string group = !hop ? name_of(plan, sent->group) : op.phase == Phase::backward ? "pp_back" : "pp";
        return Message{sent->group, group, "send_receive", sent->bytes * op.repeat};
    }
    if (const auto* collective = op.as<Collective>())
        return Message{collective->group, collective->ends_only ? "ends" : name_of(plan, collective->group),
            operation_name(collective->kind), collective->bytes * op.repeat};
    return {};
}
} // namespace

Traffic planned_traffic(const ResolvedPlan& plan)
{
    Traffic traffic;
    const Layout& layout = plan.layout;
    const double ranks_of_a_stage = double(layout.gpus()) / layout.pp;
    const int last_chunk = layout.pp * layout.virtual_stages - 1;
    const auto homes = chunk_placement(plan.training.schedule, layout.pp, layout.virtual_stages);
    const auto add = [&](const Message& message, double times) {
        if (size_of(plan, message.group_name) > 1)
            traffic[{message.group_name, message.operation}] += message.bytes * times * ranks_of_a_stage;
    };
    for (const StageProgram& stage : build_program(plan)) {
        for (const ChunkProgram& chunk : stage.chunks)
            for (const Operation& op : chunk.operations) {
                // A hop stands for the delay to a neighbour, also where the model ends or goes on here (foot of a V).
                const auto message = message_of(plan, op);
                const int next = chunk.chunk + (op.phase == Phase::backward ? -1 : 1);
                const bool no_neighbour = message && message->group == GroupKind::pp
                    && (next < 0 || next > last_chunk || homes[std::size_t(next)] == homes[std::size_t(chunk.chunk)]);
                if (message && !no_neighbour)
                    add(*message, plan.training.micro_batches);
            }
        for (const Operation& op : stage.step_operations)
            if (const auto message = message_of(plan, op))
                add(*message, 1);
    }
    std::erase_if(traffic, [](const auto& entry) { return entry.second == 0; });
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
