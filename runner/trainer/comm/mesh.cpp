// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/mesh.h"

#include <algorithm>

namespace fourfold::trainer {

std::string Mesh::words() const
{
    std::string text;
    for (const Dimension dimension : kDimensions)
        text += (text.empty() ? "" : ", ") + std::string(name(dimension)) + " " + std::to_string(at.get(dimension));
    return text;
}

Mesh make_mesh(const Layout& layout, int rank, int kv_heads, const TransportFactory& make_transport)
{
    Mesh mesh;
    mesh.layout = layout;
    mesh.at = layout.coordinates(rank);
    mesh.recorder = std::make_shared<FlightRecorder>();

    const auto group = [&](const std::string& kind, std::vector<int> ranks, const std::string& wire = "") {
        const auto own = std::ranges::find(ranks, rank);
        const int place = static_cast<int>(own - ranks.begin());
        const int size = static_cast<int>(ranks.size());
        if (size == 1)
            return Communicator(kind, std::move(ranks), place, nullptr, mesh.recorder);
        // The lowest member makes the name unique among the groups of this kind.
        auto transport
            = make_transport((wire.empty() ? kind : wire) + "/" + std::to_string(std::ranges::min(ranks)), place, size);
        return Communicator(kind, std::move(ranks), place, std::move(transport), mesh.recorder);
    };

    mesh.world = group("world", layout.group(rank, {Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp}));
    mesh.tp = group("tp", layout.group(rank, {Dimension::tp}));
    mesh.cp = group("cp", layout.group(rank, {Dimension::cp}));
    mesh.replicas = group("dp", layout.group(rank, {Dimension::dp, Dimension::cp}));
    const auto& replicas = mesh.replicas.ranks();
    const int sharing = std::clamp(layout.dp_shard, 1, mesh.replicas.size());
    if (sharing == mesh.replicas.size()) {
        mesh.shard = mesh.replicas;
        mesh.copies = group("dp_replicate", {rank});
    } else {
        const auto first = replicas.begin() + mesh.replicas.rank() / sharing * sharing;
        mesh.shard = group("dp_shard", {first, first + sharing});
        std::vector<int> copies;
        for (int i = mesh.replicas.rank() % sharing; i < mesh.replicas.size(); i += sharing)
            copies.push_back(replicas[std::size_t(i)]);
        mesh.copies = group("dp_replicate", std::move(copies));
    }
    const auto stages = layout.group(rank, {Dimension::pp});
    mesh.activations = group("pp", stages);
    mesh.activation_gradients = group("pp_back", stages);
    const bool both_ways = layout.pp == 2 && layout.virtual_stages > 1;
    mesh.wrapped_activations = both_ways ? group("pp", stages, "pp_wrap") : mesh.activations;
    mesh.wrapped_gradients = both_ways ? group("pp_back", stages, "pp_back_wrap") : mesh.activation_gradients;
    const bool at_an_end = rank == stages.front() || rank == stages.back();
    mesh.ends = group("ends",
        stages.size() > 1 && at_an_end ? std::vector<int>{stages.front(), stages.back()} : std::vector<int>{rank});
    const int copies = std::max(1, layout.tp / std::max(1, kv_heads));
    const auto& tp_ranks = mesh.tp.ranks();
    const int first = mesh.at.tp / copies * copies;
    mesh.kv = group("kv", {tp_ranks.begin() + first, tp_ranks.begin() + first + copies});
    return mesh;
}

} // namespace fourfold::trainer
