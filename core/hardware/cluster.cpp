// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/cluster.h"
#include "core/base/json_fields.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {
constexpr int kMostGpusPerNode = 1 << 16, kMostRackNodes = 1 << 20;

// "torus_axes": [16, 16]; left out: as many equal axes as a chip has pairs of links.
Expected<TorusShape> read_torus(const Fields& fields, const IntraNode& node, int chips)
{
    TorusShape shape;
    if (fields.has("torus_axes")) {
        const Json& list = fields.json()["torus_axes"];
        bool good = list.is_array() && !list.empty() && list.size() <= std::size_t(kTorusAxes);
        double product = 1;
        for (std::size_t i = 0; good && i < list.size(); ++i) {
            good = list[i].is_number_integer() && list[i] >= 1 && list[i] <= chips;
            if (good)
                product *= shape.axes[i] = list[i].get<int>();
        }
        if (!good || product != chips)
            return fields.wrong("torus_axes",
                "one to three whole numbers whose product is gpus_per_node (" + std::to_string(chips) + ")");
    } else {
        constexpr int kUnknown = 2; // dimensions where no link speed says it
        const double pairs = node.pair_gb_s > 0 ? node.bandwidth_gb_s / node.pair_gb_s / 2 : kUnknown;
        shape = balanced_torus(chips, std::clamp(int(std::lround(pairs)), 1, kTorusAxes));
    }
    FOURFOLD_TRY(shape.closes_at, fields.small_integer_or("torus_closes_at", 0, 0, kMostGpusPerNode));
    return shape;
}

Expected<IntraNode> read_intra_node(const Fields& fields, int gpus)
{
    IntraNode node;
    FOURFOLD_TRY(node.bandwidth_gb_s, fields.positive("bandwidth_gb_s"));
    FOURFOLD_TRY(node.latency_us, fields.non_negative_or("latency_us", node.latency_us));
    FOURFOLD_TRY(node.topology, fields.word_or("topology", node.topology));
    FOURFOLD_TRY(node.pair_gb_s, fields.non_negative_or("pair_gb_s", 0));
    if (node.pair_gb_s > node.bandwidth_gb_s)
        return fields.wrong("pair_gb_s", "at most bandwidth_gb_s (all links of one GPU)");
    FOURFOLD_TRY(node.hop_us, fields.non_negative_or("hop_us", 0));
    if (node.topology == IntraTopology::torus) {
        FOURFOLD_TRY(node.torus, read_torus(fields, node, gpus));
    }
    return node;
}

Expected<InterNode> read_inter_node(const Fields& fields)
{
    InterNode node;
    FOURFOLD_TRY(node.bandwidth_gb_s, fields.positive("bandwidth_gb_s"));
    FOURFOLD_TRY(node.latency_us, fields.non_negative_or("latency_us", node.latency_us));
    FOURFOLD_TRY(node.nics_per_node, fields.non_negative_or("nics_per_node", 0));
    FOURFOLD_TRY(node.p2p_gb_s, fields.non_negative_or("p2p_gb_s", 0));
    FOURFOLD_TRY(node.hop_us, fields.non_negative_or("hop_us", 0));
    FOURFOLD_TRY(node.nic_share, fields.positive_or("nic_share", 1));
    if (node.nic_share > 1)
        return fields.wrong("nic_share", "a number above 0 and at most 1");
    return node;
}

Expected<Rack> read_rack(const Fields& fields)
{
    Rack rack;
    FOURFOLD_TRY(rack.nodes, fields.small_integer("nodes", 0, kMostRackNodes));
    if (rack.nodes == 0)
        return rack;
    FOURFOLD_TRY(rack.bandwidth_gb_s, fields.positive("bandwidth_gb_s"));
    FOURFOLD_TRY(rack.latency_us, fields.non_negative_or("latency_us", 0));
    return rack;
}

Expected<ClusterCalibration> read_calibration(const Fields& fields)
{
    ClusterCalibration calibration;
    FOURFOLD_TRY(calibration.stack, fields.text("stack"));
    FOURFOLD_TRY(const Fields constants, fields.object("constants"));
    for (const auto& [name, value] : constants.json().items()) {
        if (!value.is_number() || !std::isfinite(value.get<double>()))
            return constants.wrong(name, "a number");
        calibration.constants[name] = value.get<double>();
    }
    return calibration;
}
} // namespace

double IntraNode::link_gb_s() const
{
    if (topology == IntraTopology::torus)
        return torus_link_gb_s();
    return topology == IntraTopology::pairs && pair_gb_s > 0 ? pair_gb_s : bandwidth_gb_s;
}

double IntraNode::torus_link_gb_s() const
{
    return pair_gb_s > 0 ? pair_gb_s : bandwidth_gb_s / (2 * std::max(1, torus.dimensions()));
}

Expected<Cluster> cluster_from_json(const Json& json, const Gpu& gpu, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    Cluster cluster;
    cluster.gpu = gpu;
    FOURFOLD_TRY(cluster.id, fields.text_or("id", ""));
    FOURFOLD_TRY(cluster.name, fields.name_or("name", cluster.id.empty() ? "custom cluster" : cluster.id));
    FOURFOLD_TRY(cluster.gpus_per_node, fields.small_integer("gpus_per_node", 1, kMostGpusPerNode));
    FOURFOLD_TRY(const Fields intra, fields.object("intra_node"));
    FOURFOLD_TRY(cluster.intra_node, read_intra_node(intra, cluster.gpus_per_node));
    FOURFOLD_TRY(const Fields inter, fields.object("inter_node"));
    FOURFOLD_TRY(cluster.inter_node, read_inter_node(inter));
    if (fields.has("rack")) {
        FOURFOLD_TRY(const Fields rack, fields.object("rack"));
        FOURFOLD_TRY(cluster.rack, read_rack(rack));
    }
    if (fields.has("calibration")) {
        FOURFOLD_TRY(const Fields calibration, fields.object("calibration"));
        FOURFOLD_TRY(cluster.calibration, read_calibration(calibration));
    }
    return cluster;
}

Json to_json(const Cluster& cluster)
{
    Json json = Json::object();
    if (!cluster.id.empty())
        json["id"] = cluster.id;
    json["name"] = cluster.name;
    json["gpu"] = to_json(cluster.gpu);
    json["gpus_per_node"] = cluster.gpus_per_node;
    json["intra_node"]
        = {{"bandwidth_gb_s", cluster.intra_node.bandwidth_gb_s}, {"latency_us", cluster.intra_node.latency_us},
            {"topology", to_text(cluster.intra_node.topology)}, {"pair_gb_s", cluster.intra_node.pair_gb_s}};
    json["inter_node"]
        = {{"bandwidth_gb_s", cluster.inter_node.bandwidth_gb_s}, {"latency_us", cluster.inter_node.latency_us},
            {"nics_per_node", cluster.inter_node.nics_per_node}, {"p2p_gb_s", cluster.inter_node.p2p_gb_s}};
    if (cluster.intra_node.hop_us > 0)
        json["intra_node"]["hop_us"] = cluster.intra_node.hop_us;
    if (cluster.inter_node.hop_us > 0)
        json["inter_node"]["hop_us"] = cluster.inter_node.hop_us;
    if (cluster.inter_node.nic_share != 1)
        json["inter_node"]["nic_share"] = cluster.inter_node.nic_share;
    if (cluster.intra_node.topology == IntraTopology::torus) {
        json["intra_node"]["torus_axes"] = cluster.intra_node.torus.axes;
        json["intra_node"]["torus_closes_at"] = cluster.intra_node.torus.closes_at;
    }
    if (cluster.rack.nodes > 0) {
        json["rack"] = {{"nodes", cluster.rack.nodes}, {"bandwidth_gb_s", cluster.rack.bandwidth_gb_s},
            {"latency_us", cluster.rack.latency_us}};
    }
    return json;
}

} // namespace fourfold
