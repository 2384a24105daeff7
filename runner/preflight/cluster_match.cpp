// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/cluster_match.h"

#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/plan/written_presets.h"
#include "runner/preflight/cluster_figures.h"
#include "runner/protocol/message.h"
#include "runner/target/target_hosts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace fourfold {

namespace {

constexpr const char* kFoundBy = "found by `fourfold find`";
constexpr const char* kFoundName = "Found behind ";
constexpr double kAlike = 1.2; // links of one kind differ less: 26.6 for 25 GB/s of an NVLink

// "NVIDIA H100 80GB HBM3", "nvidia_a100-sxm4-80gb" and "h100-80gb-sxm" in words of small letters.
std::vector<std::string> words_of(const std::string& name)
{
    std::vector<std::string> words(1);
    for (const char c : lower_case(name)) {
        if (consists_of(std::string(1, c), ""))
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    }
    return words;
}

double gigabytes_in(const std::vector<std::string>& words)
{
    for (const std::string& word : words) {
        char* end = nullptr;
        const double number = std::strtod(word.c_str(), &end);
        if (number > 0 && std::string_view(end) == "gb")
            return number;
    }
    return 0;
}

bool has(const std::vector<std::string>& words, std::string_view word)
{
    return std::any_of(words.begin(), words.end(), [&](const std::string& one) { return one.starts_with(word); });
}

double apart(double a, double b)
{
    return a > 0 && b > 0 ? std::abs(std::log(a / b)) : 0;
}

std::string per_cent(double logarithm)
{
    return text_of("%.0f %%", 100 * (std::exp(logarithm) - 1));
}

// A preset for nodes whose GPU is known and whose links were seen.
Expected<Json> written_preset(
    const FoundNodes& nodes, const std::string& gpu, const std::string& id, const std::string& title)
{
    const double alone = nodes.gpus_per_node == 1 ? std::max(nodes.share_gb_s(), 1.0) : 0; // no link within the node
    const double within = nodes.gpu_gb_s > 0 ? nodes.gpu_gb_s : alone;
    if (within <= 0)
        return Problem{ProblemCode::not_found, "how the GPUs of a node are joined is not known",
            "choose the cluster preset that is most like it", title};
    const double between = nodes.share_gb_s() > 0 ? nodes.share_gb_s() : nodes.nodes > 1 ? 0 : within;
    if (between <= 0)
        return Problem{ProblemCode::not_found, "the system does not say how fast the network between the nodes is",
            "choose the cluster preset that is most like it", title};
    Json intra = {{"bandwidth_gb_s", within}, {"latency_us", IntraNode{}.latency_us}, {"topology", "switch"}};
    if (nodes.gpu_links > 0 && nodes.pair_links > 0 && nodes.pair_links < nodes.gpu_links) {
        intra["topology"] = "pairs";
        intra["pair_gb_s"] = within * nodes.pair_links / nodes.gpu_links;
    }
    const std::string estimate
        = "estimate: start-up time of a small NCCL collective; `fourfold find --measure` fits it";
    return Json{{"id", id}, {"name", kFoundName + title}, {"gpu", gpu}, {"gpus_per_node", nodes.gpus_per_node},
        {"intra_node", std::move(intra)},
        {"inter_node",
            {{"bandwidth_gb_s", between}, {"latency_us", InterNode{}.latency_us},
                {"nics_per_node", std::max(1, nodes.adapters)}}},
        {"date", utc_now().substr(0, std::string_view("2026-01-31").size())},
        {"source",
            {{"gpus_per_node", std::string(kFoundBy) + ": nvidia-smi names " + nodes.gpu},
                {"intra_node",
                    std::string(kFoundBy)
                        + (nodes.gpu_links > 0 ? text_of(": nvidia-smi, %d NVLinks a GPU", nodes.gpu_links)
                                               : ": the PCIe slot, as nvidia-smi has it")},
                {"inter_node",
                    std::string(kFoundBy)
                        + (nodes.adapters > 0 ? text_of(": %d adapters of ", nodes.adapters) + nodes.network
                                    + text_of(", %.4g GB/s each by the kernel", nodes.adapter_gb_s)
                                              : ": one node only, the links within it")},
                {"latency_us", estimate}}}};
}

std::filesystem::path own_file(const char* kind, const std::string& id)
{
    return config_folder() / "presets" / kind / (id + ".json");
}

// Whether the user's presets have a cluster under the id that ranks were measured for.
bool is_measured(const std::string& id)
{
    const auto before = read_json_file(own_file("clusters", id));
    return before && came_from_fourfold(*before) && before->contains("calibration");
}

Expected<void> write_own(const std::filesystem::path& file, const Json& json, bool may_replace)
{
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, error)) && !may_replace)
        return Problem{
            ProblemCode::refused, "exists and was not written by a look at hosts", "choose another id", file.string()};
    FOURFOLD_CHECK(make_folders(file.parent_path()));
    return write_file_atomically(file, json.dump(2) + "\n");
}

} // namespace

std::vector<std::string> gpus_meant(const std::string& name, double memory_gib, const Presets& presets)
{
    constexpr double kGbOfGib = 1.0737; // names round up what a program may use
    constexpr double kSameMemory = 0.09;
    const std::vector<std::string> words = words_of(name);
    const double gigabytes = memory_gib > 0 ? memory_gib : gigabytes_in(words) / kGbOfGib;
    std::vector<std::pair<double, std::string>> out;
    for (const std::string& id : presets.ids("gpus")) {
        const std::vector<std::string> its = words_of(id);
        const auto gpu = presets.gpu(id);
        if (!gpu || gpu->is_cpu() || std::find(words.begin(), words.end(), its.front()) == words.end()
            || has(words, "pcie") != has(its, "pcie") || has(words, "nvl") != has(its, "nvl"))
            continue;
        const double off = gigabytes > 0 ? std::abs(gpu->memory_gib / gigabytes - 1) : 0;
        if (off < kSameMemory)
            out.emplace_back(off, id);
    }
    std::sort(out.begin(), out.end());
    std::vector<std::string> ids;
    for (auto& [off, id] : out)
        ids.push_back(std::move(id));
    return ids;
}

std::vector<ClusterMatch> clusters_like(const FoundNodes& nodes, const Presets& presets)
{
    struct Ranked {
        double apart;
        ClusterMatch match;
    };
    std::vector<Ranked> found;
    const std::vector<std::string> gpus = gpus_meant(nodes.gpu, nodes.gpu_memory_gib, presets);
    for (const std::string& id : nodes.gpus_per_node > 0 ? presets.ids("clusters") : std::vector<std::string>()) {
        const auto cluster = presets.cluster(id);
        if (!cluster)
            continue;
        const auto gpu = std::find(gpus.begin(), gpus.end(), cluster->gpu.id);
        if (gpu == gpus.end())
            continue;
        const double within = nodes.gpus_per_node > 1 ? apart(nodes.gpu_gb_s, cluster->intra_node.bandwidth_gb_s) : 0;
        const double between = apart(nodes.share_gb_s(), cluster->inter_node.bandwidth_gb_s);
        const bool as_many = cluster->gpus_per_node == nodes.gpus_per_node;
        ClusterMatch match{id, false, !nodes.seen, {}};
        // Of several GPUs that the name may mean the nearest in memory; where that was not seen, none for sure.
        match.same = as_many && gpu == gpus.begin() && (nodes.seen || gpus.size() == 1)
            && std::max(within, between) < std::log(kAlike);
        match.why = cluster->gpu.name + text_of(", %d a node", cluster->gpus_per_node)
            + (nodes.seen ? ", links within " + per_cent(std::max(within, between)) : ", links not seen");
        const double penalty = (as_many ? 0 : 10) + double(gpu - gpus.begin());
        found.push_back({within + between + penalty, std::move(match)});
    }
    std::stable_sort(found.begin(), found.end(), [](const Ranked& a, const Ranked& b) { return a.apart < b.apart; });
    std::vector<ClusterMatch> out;
    for (Ranked& one : found)
        out.push_back(std::move(one.match));
    return out;
}

Expected<PlannedCluster> planned_cluster(const FoundCluster& found, const ClusterChoice& choice, const Presets& presets)
{
    FOURFOLD_CHECK(check_cluster_id(choice.id, choice.like));
    const FoundNodes nodes = chosen_nodes(found, choice);
    if (is_measured(choice.id) && choice.like.empty())
        return PlannedCluster{choice.id, {}, "cluster " + choice.id + ", measured before"};
    if (!choice.like.empty())
        return PlannedCluster{choice.like, {}, "cluster " + choice.like + ", as chosen"};
    if (nodes.gpus_per_node == 0 && !choice.slurm) {
        for (const ProbeReport::Host& host : found.report.hosts)
            if (const std::string why = text_field(host.facts.document, "gpu_silence"); !why.empty())
                return Problem{ProblemCode::failed, printable(why),
                    "mend it, or choose the cluster preset that is like it", host.name};
    }
    if (nodes.gpus_per_node == 0) {
        if (choice.slurm)
            return PlannedCluster{{}, {}, "nodes without GPUs: what their cores do is known once they are measured"};
        FOURFOLD_TRY(Json preset, cluster_preset(found.report, choice.id));
        return PlannedCluster{choice.id, std::move(preset), "no GPU: a cluster of cores with their measured speeds"};
    }
    const std::vector<ClusterMatch> matches = clusters_like(nodes, presets);
    if (!matches.empty() && matches.front().same)
        return PlannedCluster{matches.front().id, {}, "cluster " + matches.front().id + ": " + matches.front().why};
    const std::vector<std::string> gpus = gpus_meant(nodes.gpu, nodes.gpu_memory_gib, presets);
    if (!nodes.seen && !matches.empty())
        return PlannedCluster{matches.front().id, {},
            "the nearest cluster, " + matches.front().id + ": " + matches.front().why
                + (gpus.size() > 1 ? "; Slurm's " + nodes.gpu + " may be " + joined(gpus, " or ") : "")
                + "; choose another, or look at one of the nodes itself"};
    const std::string title = found.report.hosts.empty() ? choice.id : found.report.hosts.front().name;
    if (gpus.empty() || !nodes.seen)
        return Problem{ProblemCode::not_found,
            nodes.gpu.empty() ? "Slurm does not say which GPUs its nodes have"
                              : "no preset is like the GPU " + in_quotes(nodes.gpu),
            "choose the cluster preset that is most like it", title};
    FOURFOLD_TRY(Json preset, written_preset(nodes, gpus.front(), choice.id, title));
    return PlannedCluster{choice.id, std::move(preset),
        "a cluster of its own with what was seen, GPUs as " + gpus.front()
            + (matches.empty() ? "" : "; nearest preset: " + matches.front().id + " (" + matches.front().why + ")")};
}

namespace {
bool is_of_a_look(const Json& target)
{
    return target.is_object() && text_field(target, "name").starts_with(kFoundName);
}

// Settings that a look does not find are the user's.
void keep_settings(const Json& before, Json& target)
{
    static const std::set<std::string> kFound{"fourfold_target", "id", "name", "kind", "hosts", "slurm"};
    const Json usual = to_json(Target());
    for (const auto& [key, value] : before.items()) {
        if (!kFound.contains(key) && target.contains(key) && usual.contains(key) && target[key] == usual[key])
            target[key] = value;
    }
}
} // namespace

Expected<void> check_saved_id(const std::string& id, const std::string& like)
{
    FOURFOLD_CHECK(check_target_id(id));
    FOURFOLD_CHECK(check_cluster_id(id, like));
    const std::filesystem::path file = own_file("targets", id);
    const auto before = read_json_file(file);
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, error)) && !(before && is_of_a_look(*before)))
        return Problem{
            ProblemCode::refused, "exists and was not written by a look at hosts", "choose another id", file.string()};
    return {};
}

Expected<SavedCluster> save_found(const FoundCluster& found, const ClusterChoice& choice, const Presets& presets)
{
    FOURFOLD_CHECK(check_saved_id(choice.id, choice.like));
    FOURFOLD_TRY(const Target target, chosen_target(found, choice));
    FOURFOLD_TRY(const PlannedCluster planned, planned_cluster(found, choice, presets));
    SavedCluster out{choice.id, planned.id, own_file("targets", choice.id), {}, chosen_gpus(found, choice)};
    const auto before = read_json_file(out.target_file);
    if (planned.preset) {
        out.cluster_file = own_file("clusters", planned.id);
        const auto cluster_before = read_json_file(out.cluster_file);
        FOURFOLD_CHECK(
            write_own(out.cluster_file, *planned.preset, cluster_before && came_from_fourfold(*cluster_before)));
    }
    Json json = to_json(target);
    json["name"] = kFoundName + (found.report.hosts.empty() ? choice.id : found.report.hosts.front().name);
    if (before && is_of_a_look(*before))
        keep_settings(*before, json);
    FOURFOLD_CHECK(write_own(out.target_file, json, before && is_of_a_look(*before)));
    return out;
}

} // namespace fourfold
