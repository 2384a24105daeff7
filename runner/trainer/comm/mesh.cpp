// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/mesh.h"

#include "core/plan/shared_numbers.h"
#include "runner/trainer/pipeline_parallel/message_plan.h"

#include <algorithm>
#include <array>

namespace fourfold::trainer {

namespace {
// The groups of collectives, in the order in which they are made.
struct MadeGroup {
    GroupKind group;
    GroupKind twin = GroupKind::none; // whose wire it takes where that has the same members
};
constexpr std::array kMadeGroups{MadeGroup{GroupKind::world}, MadeGroup{GroupKind::tp}, MadeGroup{GroupKind::tp_keys},
    MadeGroup{GroupKind::cp}, MadeGroup{GroupKind::dp_cp}, MadeGroup{GroupKind::dp_shard, GroupKind::dp_cp},
    MadeGroup{GroupKind::dp_replicate}};
// Of a mixture of experts, behind those.
constexpr std::array kExpertGroups{MadeGroup{GroupKind::etp, GroupKind::tp}, MadeGroup{GroupKind::ep},
    MadeGroup{GroupKind::expert_shard, GroupKind::dp_shard},
    MadeGroup{GroupKind::expert_replicate, GroupKind::dp_replicate}};
// Whose ranks also tell each other numbers within passes.
constexpr std::array kNumberGroups{GroupKind::dp_cp, GroupKind::expert_shard, GroupKind::expert_replicate};
} // namespace

std::string Mesh::words() const
{
    std::string text;
    for (const Dimension dimension : kDimensions)
        text += (text.empty() ? "" : ", ") + std::string(name(dimension)) + " " + std::to_string(at.get(dimension));
    return text;
}

Mesh make_mesh(const ResolvedPlan& plan, int rank, PlanSchedule schedule, const TransportFactory& make_transport)
{
    const Layout& layout = plan.layout;
    Mesh mesh;
    mesh.layout = layout;
    mesh.at = layout.coordinates(rank);
    mesh.schedule = std::move(schedule);
    mesh.recorder = std::make_shared<FlightRecorder>();

    // `wire`: unique among the groups of this kind. `one_way`: for messages of the first of two ranks to the second.
    const auto make_named
        = [&](const std::string& kind, std::vector<int> ranks, const std::string& wire, bool one_way = false) {
              const auto own = std::ranges::find(ranks, rank);
              const int place = static_cast<int>(own - ranks.begin());
              if (ranks.size() == 1)
                  return Communicator(kind, std::move(ranks), place, nullptr, mesh.recorder);
              auto transport = make_transport(kind + "/" + wire, ranks, place);
              if (one_way)
                  transport->connect(place == 0 ? Transfer::Way::send : Transfer::Way::receive, 1 - place);
              return Communicator(kind, std::move(ranks), place, std::move(transport), mesh.recorder);
          };
    const auto make = [&](const std::string& kind, std::vector<int> ranks) {
        const std::string lowest = std::to_string(ranks.front());
        return make_named(kind, std::move(ranks), lowest);
    };

    const DeviceMesh ranks(layout, plan.model.kv_heads);
    std::vector<MadeGroup> made(kMadeGroups.begin(), kMadeGroups.end());
    if (plan.model.experts)
        made.insert(made.end(), kExpertGroups.begin(), kExpertGroups.end());
    for (const auto [group, twin] : made) {
        auto members = ranks.group(rank, group);
        const auto found = mesh.groups.find(twin);
        const bool same = found != mesh.groups.end() && found->second.ranks() == members;
        const std::string kind(name(group));
        mesh.groups.emplace(group, same ? Communicator(found->second) : make(kind, std::move(members)));
    }
    for (const GroupKind group : kNumberGroups) {
        const auto known = mesh.groups.find(group);
        if (!replicas_share_numbers(plan) || known == mesh.groups.end() || known->second.size() == 1)
            continue;
        const std::vector<int>& members = known->second.ranks();
        const auto same
            = std::ranges::find_if(mesh.numbers, [&](const auto& other) { return other.second.ranks() == members; });
        mesh.numbers.emplace(group,
            same != mesh.numbers.end()
                ? Communicator(same->second)
                : make_named(std::string(name(group)), members, "numbers" + std::to_string(members.front())));
    }

    mesh.stages = ranks.group(rank, GroupKind::pp);
    for (const PipelineLink& link : pipeline_links(mesh.schedule.actions)) {
        const int from = mesh.stages.at(std::size_t(link.from)), to = mesh.stages.at(std::size_t(link.to));
        if (rank != from && rank != to)
            continue;
        mesh.links.emplace(link,
            make_named(link.activations ? "pp" : "pp_back", {from, to},
                std::to_string(from) + "to" + std::to_string(to), /*one_way=*/true));
    }
    const auto& homes = mesh.schedule.stage_of_chunk;
    const int first = mesh.stages.at(std::size_t(homes.front())), last = mesh.stages.at(std::size_t(homes.back()));
    const bool apart = first != last && (rank == first || rank == last);
    mesh.ends
        = make("ends", apart ? std::vector<int>{std::min(first, last), std::max(first, last)} : std::vector<int>{rank});
    return mesh;
}

} // namespace fourfold::trainer
