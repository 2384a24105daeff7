// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/found_cluster.h"

#include "core/base/text.h"
#include "runner/nodes/connections.h"
#include "runner/protocol/message.h"
#include "runner/target/target_hosts.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <tuple>

namespace fourfold {

namespace {

constexpr int kMostCounted = 1 << 20; // of what a node or Slurm counts
constexpr const char* kThisComputer = "local"; // a target of this id in a file would never be read

std::vector<std::string> parts_of(const std::string& text, char separator)
{
    std::vector<std::string> out;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, separator);) {
        if (const std::string word(trimmed(part, " \t\r")); !word.empty())
            out.push_back(word);
    }
    return out;
}

std::string said(const Json& json, const char* key)
{
    return printable(text_field(json, key));
}

// "gpu:a100:8(S:0-1),shard:4": what and how many; "gpu:8" does not say what.
void read_gres(const std::string& gres, FoundPartition& out)
{
    for (const std::string& one : parts_of(gres, ',')) {
        const std::vector<std::string> words = parts_of(one.substr(0, one.find('(')), ':');
        if (words.size() < 2 || words.front() != "gpu")
            continue;
        const long count = std::clamp(std::strtol(words.back().c_str(), nullptr, 10), 0L, long(kMostCounted));
        out.gpus_per_node = std::min(out.gpus_per_node + int(count), kMostCounted);
        if (words.size() > 2 && out.gpu.empty())
            out.gpu = words[1];
    }
}

FoundPartition read_partition(const Json& json)
{
    FoundPartition out;
    out.name = said(json, "name");
    out.limit = said(json, "limit");
    out.is_default = flag_field(json, "default");
    out.up = flag_field(json, "up");
    const auto count = [&](const char* key) {
        return static_cast<int>(std::clamp<int64_t>(integer_field(json, key), 0, kMostCounted));
    };
    out.nodes = count("nodes");
    out.usable = count("usable");
    out.idle = count("idle");
    out.cores = count("cores");
    out.memory_gib = number_field(json, "memory_gib");
    out.features = said(json, "features");
    read_gres(said(json, "gres"), out);
    return out;
}

// The weakest of the hosts counts: a collective waits for it.
FoundNodes read_hosts(const ProbeReport& report)
{
    FoundNodes out;
    out.seen = true;
    for (const ProbeReport::Host& host : report.hosts) {
        const auto gpus = static_cast<int>(host.facts.gpus.size());
        const bool first = out.nodes++ == 0;
        const auto weakest = [first](auto& kept, auto value) { kept = first ? value : std::min(kept, value); };
        weakest(out.gpus_per_node, gpus);
        weakest(out.cores, host.facts.cores);
        if (gpus > 0 && out.gpu.empty()) {
            out.gpu = printable(host.facts.gpus.front().name);
            out.gpu_memory_gib = host.facts.gpus.front().memory_gib;
        }
        weakest(out.gpu_gb_s, std::max(0.0, number_field(host.links, "gpu_gb_s")));
        weakest(out.gpu_links, static_cast<int>(integer_field(host.links, "gpu_links")));
        weakest(out.pair_links, static_cast<int>(integer_field(host.links, "pair_links")));
        int adapters = 0;
        double speed = 0;
        for (const Json& adapter : array_field(host.links, "adapters")) { // fastest first
            const double its = number_field(adapter, "gb_s");
            if (adapters == 0) {
                speed = its;
                out.network = said(adapter, "kind");
            }
            adapters += its == speed ? 1 : 0;
        }
        weakest(out.adapters, std::min(adapters, std::max(gpus, 1)));
        weakest(out.adapter_gb_s, speed);
    }
    return out;
}

std::string network_words(const FoundNodes& nodes)
{
    if (nodes.adapters == 0)
        return "The system does not say how fast the network of the nodes is";
    return text_of("Network for the GPUs of a node: %d x %s, %.4g GB/s each", nodes.adapters, nodes.network.c_str(),
        nodes.adapter_gb_s);
}

std::string gpu_link_words(const FoundNodes& nodes)
{
    if (nodes.gpu_gb_s <= 0)
        return "How its GPUs are joined is not known";
    if (nodes.gpu_links == 0)
        return text_of("GPUs of a node: joined by PCIe, %.4g GB/s each", nodes.gpu_gb_s);
    return text_of("GPUs of a node: %d NVLinks each, %.4g GB/s together%s", nodes.gpu_links, nodes.gpu_gb_s,
        nodes.gpus_per_node < 2                   ? ""
            : nodes.pair_links == nodes.gpu_links ? ", through a switch"
            : nodes.pair_links > 0                ? text_of(", %d of them to each other GPU", nodes.pair_links).c_str()
                                                  : ", not between all GPUs");
}

// Which of two a plan has more of.
bool is_less(const FoundPartition& a, const FoundPartition& b)
{
    const auto worth = [](const FoundPartition& one) {
        return std::tuple(
            one.gpus_per_node > 0, one.up, one.is_default, int64_t{one.usable} * std::max(1, one.gpus_per_node));
    };
    return worth(a) < worth(b);
}

// A partition whose nodes differ is there once for each kind of them: the one with most for a plan counts.
const FoundPartition* partition_of(const FoundCluster& found, const ClusterChoice& choice)
{
    const FoundPartition* most = nullptr;
    for (const FoundPartition& one : found.partitions) {
        const bool named = choice.queue.partition.empty() ? one.is_default : one.name == choice.queue.partition;
        if (named && (!most || is_less(*most, one)))
            most = &one;
    }
    return most;
}

} // namespace

Expected<Target> target_to_ask(const FindQuestions& questions)
{
    const std::string name(trimmed(questions.name));
    if (name.empty())
        return Problem{ProblemCode::bad_input, "Name a host", "a host, an alias of ~/.ssh/config, or a login host", {}};
    Expected<Target> host = target_of_host(name);
    if (!host) {
        if (name.find('/') == std::string::npos)
            host.error().where.clear(); // an option of other commands, not the file
        return host.error();
    }
    Target target = *std::move(host);
    std::vector<SshPlace> jumps;
    for (const std::string& jump : split_hosts(questions.jumps)) {
        if (const std::string text(trimmed(jump)); !text.empty()) {
            FOURFOLD_TRY(SshPlace place, place_from_text(text, "jump hosts"));
            jumps.push_back(std::move(place));
        }
    }
    if (!jumps.empty() && is_here(target))
        return Problem{ProblemCode::bad_input, "no host is jumped over on the way to this computer", {}, "jump hosts"};
    if (!jumps.empty() && target.slurm)
        target.slurm->login->jumps = jumps;
    for (TargetHost& host : target.hosts) {
        if (!jumps.empty())
            host.jumps = jumps;
    }
    if (const std::string folder(trimmed(questions.base_folder)); !folder.empty())
        target.base_folder = folder;
    if (auto lines = parts_of(questions.prelude, '\n'); !lines.empty())
        target.prelude = std::move(lines);
    return target_from_json(to_json(target), name); // what a file may not hold
}

Expected<FoundCluster> find_cluster(
    const FindQuestions& questions, RunObserver& observer, std::stop_token stop, const std::filesystem::path& agent)
{
    FOURFOLD_TRY(Target target, target_to_ask(questions));
    FOURFOLD_TRY(ProbeReport report, probe_target(target, observer, std::move(stop), LookFor::cluster, agent));
    if (report.hosts.empty()) {
        const Finding first = report.findings.empty() ? Finding{} : report.findings.front();
        return Problem{ProblemCode::network, report.findings.empty() ? "no host answers" : first.line(), {}, {}};
    }
    return read_found(std::move(target), std::move(report));
}

FoundCluster read_found(Target asked, ProbeReport report)
{
    FoundCluster out;
    for (const ProbeReport::Host& host : report.hosts) {
        for (const Json& json : array_field(host.slurm, "partitions")) {
            FoundPartition partition = read_partition(json);
            if (!partition.name.empty()) // which no job could ask for
                out.partitions.push_back(std::move(partition));
        }
        out.slurm_silence = said(host.slurm, "silent");
        if (!out.partitions.empty())
            break; // every login host tells the same
    }
    out.hosts = read_hosts(report);
    out.target = std::move(asked);
    out.report = std::move(report);
    return out;
}

ClusterChoice first_choice(const FoundCluster& found, int gpus)
{
    ClusterChoice choice;
    for (const char c : found.target.id)
        choice.id += consists_of(std::string(1, c), ".-_") ? c : '-';
    choice.id.erase(0, choice.id.find_first_not_of(".-"));
    choice.id = choice.id.substr(choice.id.rfind('/') + 1).substr(0, 64);
    if (choice.id.empty() || choice.id == kThisComputer)
        choice.id = "this-machine";
    choice.slurm = !found.partitions.empty();
    if (found.target.slurm)
        choice.queue = *found.target.slurm;
    if (!choice.slurm)
        return choice;
    const FoundPartition* partition = partition_of(found, choice);
    if (!partition || partition->gpus_per_node == 0)
        partition = &*std::max_element(found.partitions.begin(), found.partitions.end(), is_less);
    choice.queue.partition = partition->name;
    const int each = std::max(1, partition->gpus_per_node > 0 ? partition->gpus_per_node : partition->cores);
    choice.nodes = std::clamp((gpus + each - 1) / each, 1, std::max(1, partition->usable));
    return choice;
}

FoundNodes chosen_nodes(const FoundCluster& found, const ClusterChoice& choice)
{
    if (!choice.slurm)
        return found.hosts;
    FoundNodes out;
    const FoundPartition* const partition = partition_of(found, choice);
    if (!partition)
        return out;
    out.nodes = std::max(1, choice.nodes);
    out.gpus_per_node = partition->gpus_per_node;
    out.cores = partition->cores;
    if (out.gpus_per_node > 0)
        out.gpu = partition->gpu.empty() ? partition->features : partition->gpu;
    return out;
}

Expected<void> check_target_id(const std::string& id)
{
    if (id != kThisComputer)
        return {};
    return Problem{ProblemCode::bad_input, in_quotes(id) + " is always this computer as it is", "choose another id",
        "id of the target"};
}

Expected<Target> chosen_target(const FoundCluster& found, const ClusterChoice& choice)
{
    FOURFOLD_CHECK(check_target_id(choice.id));
    Target target = found.target;
    target.id = choice.id;
    if (choice.slurm) {
        const FoundPartition* const partition = partition_of(found, choice);
        if (!partition) {
            std::vector<std::string> names;
            for (const FoundPartition& one : found.partitions)
                names.push_back(one.name);
            return Problem{ProblemCode::bad_input, "there is no partition " + in_quotes(choice.queue.partition),
                "it has " + joined(names, ", "), choice.id};
        }
        SlurmSettings queue = choice.queue;
        queue.partition = partition->name;
        if (found.target.slurm)
            queue.login = found.target.slurm->login;
        else if (found.target.kind == TargetKind::ssh)
            queue.login = found.target.hosts.front();
        if (partition->gpus_per_node > 0) { // the plan's number of GPUs says how many nodes
            queue.nodes = 0;
            queue.ranks_per_node = partition->gpus_per_node;
            queue.gres = "gpu:" + (partition->gpu.empty() ? "" : partition->gpu + ":")
                + std::to_string(partition->gpus_per_node);
        } else {
            queue.nodes = std::max(1, choice.nodes);
        }
        target.kind = TargetKind::slurm;
        target.hosts.clear();
        target.slurm = std::move(queue);
    } else if (found.target.slurm) {
        return Problem{ProblemCode::bad_input, "this is a Slurm", "its jobs go through the queue", choice.id};
    }
    return target_from_json(to_json(target), choice.id);
}

int chosen_gpus(const FoundCluster& found, const ClusterChoice& choice)
{
    const FoundNodes nodes = chosen_nodes(found, choice);
    return nodes.nodes * nodes.gpus_per_node;
}

std::string partition_line(const FoundPartition& partition)
{
    std::string text
        = partition.name + text_of(": %d of %d nodes up, %d idle", partition.usable, partition.nodes, partition.idle);
    if (partition.gpus_per_node > 0)
        text += text_of(", %d ", partition.gpus_per_node) + (partition.gpu.empty() ? "GPUs" : "x " + partition.gpu)
            + " each";
    else
        text += text_of(", %d cores each, no GPU", partition.cores);
    return text + ", time limit " + partition.limit + (partition.is_default ? ", the default" : "")
        + (partition.up ? "" : "; takes no jobs");
}

std::vector<std::string> found_lines(const FoundCluster& found)
{
    std::vector<std::string> out;
    for (const ProbeReport::Host& host : found.report.hosts)
        out.push_back(host_line(host));
    if (!found.partitions.empty()) {
        out.push_back("Slurm: nodes and GPUs as it tells them, links are not seen from its login host");
        for (const FoundPartition& partition : found.partitions)
            out.push_back("Partition " + partition_line(partition));
    } else {
        if (!found.slurm_silence.empty())
            out.push_back("Slurm is there and does not answer (" + found.slurm_silence + "): the host alone is taken");
        if (found.hosts.gpus_per_node > 0)
            out.push_back(gpu_link_words(found.hosts));
        if (found.hosts.nodes > 1 || found.hosts.gpus_per_node > 0)
            out.push_back(network_words(found.hosts));
        if (const auto& measured = found.report.network; measured.bandwidth_gb_s && measured.latency_us)
            out.push_back(text_of("Between the nodes: %.3g GB/s and %.3g us through TCP", *measured.bandwidth_gb_s,
                *measured.latency_us));
    }
    for (const Finding& finding : found.report.findings) {
        if (finding.level != FindingLevel::info)
            out.push_back(std::string(name(finding.level)) + ": " + finding.line());
    }
    return out;
}

Json to_json(const FoundCluster& found)
{
    Json partitions = Json::array();
    for (const FoundPartition& one : found.partitions)
        partitions.push_back({{"name", one.name}, {"default", one.is_default}, {"up", one.up}, {"nodes", one.nodes},
            {"usable", one.usable}, {"idle", one.idle}, {"cores", one.cores}, {"memory_gib", one.memory_gib},
            {"gpu", one.gpu}, {"gpus_per_node", one.gpus_per_node}, {"features", one.features}, {"limit", one.limit}});
    const FoundNodes& hosts = found.hosts;
    Json out = to_json(found.report);
    out["partitions"] = std::move(partitions);
    out["nodes"]
        = {{"nodes", hosts.nodes}, {"gpus_per_node", hosts.gpus_per_node}, {"cores", hosts.cores}, {"gpu", hosts.gpu},
            {"gpu_memory_gib", hosts.gpu_memory_gib}, {"gpu_links", hosts.gpu_links}, {"gpu_gb_s", hosts.gpu_gb_s},
            {"adapters", hosts.adapters}, {"adapter_gb_s", hosts.adapter_gb_s}, {"network", hosts.network}};
    return out;
}

} // namespace fourfold
