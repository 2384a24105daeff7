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

    const auto group = [&](const std::string& kind, std::vector<int> ranks) {
        const auto own = std::ranges::find(ranks, rank);
        const int place = static_cast<int>(own - ranks.begin());
        const int size = static_cast<int>(ranks.size());
        if (size == 1)
            return Communicator(kind, std::move(ranks), place, nullptr, mesh.recorder);
        // The lowest member makes the name unique among the groups of this kind.
        auto transport = make_transport(kind + "/" + std::to_string(std::ranges::min(ranks)), place, size);
        return Communicator(kind, std::move(ranks), place, std::move(transport), mesh.recorder);
    };

    mesh.world = group("world", layout.group(rank, {Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp}));
    mesh.tp = group("tp", layout.group(rank, {Dimension::tp}));
    mesh.replicas = group("dp", layout.group(rank, {Dimension::dp, Dimension::cp}));
    const int copies = std::max(1, layout.tp / std::max(1, kv_heads));
    const auto& tp_ranks = mesh.tp.ranks();
    const int first = mesh.at.tp / copies * copies;
    mesh.kv = group("kv", {tp_ranks.begin() + first, tp_ranks.begin() + first + copies});
    return mesh;
}

} // namespace fourfold::trainer
