// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/cluster_figures.h"

#include "core/base/paths.h"
#include "core/plan/presets.h"
#include "core/plan/written_presets.h"
#include "runner/protocol/message.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {

constexpr const char* kMeasuredBy = "measured by `fourfold probe`";

Problem unusable(const std::string& message, const std::string& hint)
{
    return {ProblemCode::bad_input, message, hint, "cluster preset"};
}

double rounded(double value)
{
    if (value <= 0)
        return 0;
    const double digits = std::pow(10.0, 3 - std::ceil(std::log10(value)));
    return std::round(value * digits) / digits;
}

// One core with its share of the node as a "GPU".
Expected<Json> cpu_of(const ProbeReport& report)
{
    const auto& host = report.hosts.front();
    const double threads = std::max(1.0, number_field(host.speed, "threads"));
    if (number_field(host.speed, "gemm_tflops_fp32") <= 0)
        return unusable("the speed of the cores was not measured", "probe with speeds");
    return Json{{"id", "cpu"}, {"name", "One core of " + text_field(host.facts.document, "cpu")},
        {"memory_gib", rounded(host.facts.memory_gib / threads)},
        {"memory_bandwidth_gb_s", rounded(number_field(host.speed, "memory_bandwidth_gb_s") / threads)},
        {"peak_tflops", {{"fp32", rounded(number_field(host.speed, "gemm_tflops_fp32") / threads)}}},
        {"multiprocessors", 0}, {"power_w", 0},
        {"source", {{"memory_bandwidth_gb_s", kMeasuredBy}, {"peak_tflops", kMeasuredBy}}}};
}

} // namespace

Expected<void> check_cluster_id(const std::string& id, const std::string& like)
{
    const bool good_id
        = !id.empty() && id.size() <= 64 && id[0] != '.' && std::all_of(id.begin(), id.end(), [](char c) {
              return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-'
                  || c == '_';
          });
    if (!good_id)
        return unusable("the id \"" + id + "\" is not usable", "letters, digits, '.', '-' and '_' only");
    if (const Presets presets; !like.empty()) {
        FOURFOLD_TRY(const auto file, presets.file("clusters", like));
    }
    return {};
}

Expected<Json> cluster_preset(const ProbeReport& report, const std::string& id, const std::string& like)
{
    FOURFOLD_CHECK(check_cluster_id(id, like));
    if (report.hosts.empty())
        return unusable("no host answered the probe", {});
    // What the others have is not the whole: links between nodes may be missing, and the weakest node counts.
    for (const Finding& finding : report.findings) {
        const bool seen = finding.host.empty()
            || std::any_of(report.hosts.begin(), report.hosts.end(),
                [&](const ProbeReport::Host& host) { return host.name == finding.host; });
        if (finding.level == FindingLevel::error && !seen)
            return Problem{ProblemCode::failed, "not every host answered the probe: " + finding.line(),
                "nothing is saved: probe again when it answers", id};
    }
    Json out = {{"id", id},
        {"name",
            "Probed: " + report.hosts.front().name
                + (report.hosts.size() > 1 ? " and " + std::to_string(report.hosts.size() - 1) + " more" : "")}};
    Json source = Json::object(), intra, inter;
    const auto& facts = report.hosts.front().facts;
    if (!like.empty()) {
        const Presets presets;
        FOURFOLD_TRY(const auto file, presets.file("clusters", like));
        FOURFOLD_TRY(const Json base, read_json_file(file));
        for (const char* key : {"gpu", "gpus_per_node", "intra_node", "inter_node", "rack"}) {
            if (base.contains(key))
                out[key] = base[key];
        }
        intra = out["intra_node"];
        inter = out["inter_node"];
        source["gpu"] = source["intra_node"] = "preset " + like;
    } else if (facts.gpus.empty()) {
        FOURFOLD_TRY(out["gpu"], cpu_of(report));
        out["gpus_per_node"] = std::max<int64_t>(1, integer_field(report.hosts.front().speed, "threads", 1));
    } else {
        return unusable("the links between the GPUs of a node cannot be measured from outside",
            "name a preset of the same node type with --like (`fourfold presets clusters`)");
    }
    for (const Link& link : report.network.links) {
        if (link.from == link.to && link.bandwidth_gb_s > 0 && like.empty()) {
            intra = {{"bandwidth_gb_s", rounded(link.bandwidth_gb_s)}, {"latency_us", rounded(link.latency_us)},
                {"topology", "switch"}};
            source["intra_node"] = std::string(kMeasuredBy) + ": TCP within a node, one stream";
        }
    }
    if (report.network.bandwidth_gb_s && report.network.latency_us) {
        const double ranks = out["gpus_per_node"].get<double>();
        inter = inter.is_object() ? inter : Json::object();
        inter["bandwidth_gb_s"] = rounded(*report.network.bandwidth_gb_s / ranks);
        inter["latency_us"] = rounded(*report.network.latency_us);
        inter["p2p_gb_s"] = rounded(*report.network.bandwidth_gb_s);
        source["inter_node"] = std::string(kMeasuredBy) + ": TCP between nodes, one stream a pair, shared by "
            + std::to_string(out["gpus_per_node"].get<int64_t>()) + " ranks";
    } else if (inter.is_null()) {
        inter
            = {{"bandwidth_gb_s", intra.value("bandwidth_gb_s", 1.0)}, {"latency_us", intra.value("latency_us", 30.0)}};
        source["inter_node"] = "one node only: the links within it";
    }
    if (!intra.is_object())
        return unusable("the links within a node were not measured", "probe with speeds");
    if (!inter.contains("nics_per_node"))
        inter["nics_per_node"] = 1;
    out["intra_node"] = std::move(intra);
    out["inter_node"] = std::move(inter);
    out["date"] = utc_now().substr(0, 10);
    out["source"] = std::move(source);
    return out;
}

Expected<std::filesystem::path> save_cluster(const ProbeReport& report, const std::string& id, const std::string& like)
{
    FOURFOLD_TRY(const Json preset, cluster_preset(report, id, like));
    const auto file = config_folder() / "presets/clusters" / (id + ".json");
    std::error_code error;
    if (std::filesystem::exists(file, error)) {
        const auto before = read_json_file(file);
        if (!before || !came_from_fourfold(*before) || before->contains("calibration"))
            return Problem{
                ProblemCode::refused, "exists and does not come from a probe", "choose another id", file.string()};
    }
    FOURFOLD_CHECK(make_folders(file.parent_path()));
    FOURFOLD_CHECK(write_file_atomically(file, preset.dump(2) + "\n"));
    return file;
}

} // namespace fourfold
