// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/cluster.h"
#include "core/base/json_fields.h"

namespace fourfold {

namespace {
constexpr int kMostGpusPerNode = 1 << 16, kMostRackNodes = 1 << 20;

std::string to_text(IntraTopology topology)
{
    switch (topology) {
    case IntraTopology::nvswitch:
        break;
    case IntraTopology::pairs:
        return "pairs";
    case IntraTopology::torus:
        return "torus";
    }
    return "switch";
}

Expected<IntraTopology> read_topology(const Fields& fields)
{
    FOURFOLD_TRY(const std::string text, fields.text_or("topology", "switch"));
    for (const auto topology : {IntraTopology::nvswitch, IntraTopology::pairs, IntraTopology::torus}) {
        if (text == to_text(topology))
            return topology;
    }
    return fields.wrong("topology", "\"switch\", \"pairs\" or \"torus\"");
}

Expected<IntraNode> read_intra_node(const Fields& fields)
{
    IntraNode node;
    FOURFOLD_TRY(node.bandwidth_gb_s, fields.positive("bandwidth_gb_s"));
    FOURFOLD_TRY(node.latency_us, fields.non_negative_or("latency_us", node.latency_us));
    FOURFOLD_TRY(node.topology, read_topology(fields));
    FOURFOLD_TRY(node.pair_gb_s, fields.non_negative_or("pair_gb_s", 0));
    if (node.pair_gb_s > node.bandwidth_gb_s)
        return fields.wrong("pair_gb_s", "at most bandwidth_gb_s (all links of one GPU)");
    return node;
}

Expected<InterNode> read_inter_node(const Fields& fields)
{
    InterNode node;
    FOURFOLD_TRY(node.bandwidth_gb_s, fields.positive("bandwidth_gb_s"));
    FOURFOLD_TRY(node.latency_us, fields.non_negative_or("latency_us", node.latency_us));
    FOURFOLD_TRY(node.nics_per_node, fields.non_negative_or("nics_per_node", 0));
    FOURFOLD_TRY(node.p2p_gb_s, fields.non_negative_or("p2p_gb_s", 0));
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

Expected<Cluster> cluster_from_json(const Json& json, const Gpu& gpu, const std::string& where)
{
    FOURFOLD_TRY(const Fields fields, Fields::of(json, where));
    Cluster cluster;
    cluster.gpu = gpu;
    FOURFOLD_TRY(cluster.id, fields.text_or("id", ""));
    FOURFOLD_TRY(cluster.name, fields.text_or("name", cluster.id.empty() ? "custom cluster" : cluster.id));
    FOURFOLD_TRY(cluster.gpus_per_node, fields.small_integer("gpus_per_node", 1, kMostGpusPerNode));
    FOURFOLD_TRY(const Fields intra, fields.object("intra_node"));
    FOURFOLD_TRY(cluster.intra_node, read_intra_node(intra));
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
    if (cluster.rack.nodes > 0) {
        json["rack"] = {{"nodes", cluster.rack.nodes}, {"bandwidth_gb_s", cluster.rack.bandwidth_gb_s},
            {"latency_us", cluster.rack.latency_us}};
    }
    return json;
}

} // namespace fourfold
