// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/slurm_checks.h"

#include "core/base/text.h"
#include "runner/agent/checks/node_checks.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/protocol/message.h"
#include "runner/protocol/slurm_time.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <sstream>

namespace fourfold {

namespace {

constexpr const char* kCheck = "Slurm";
constexpr double kMibOfGib = 1024;
constexpr std::size_t kMostPartitions = 1000; // by name and GRES; what tells of more is no cluster

std::string counted(int nodes)
{
    return std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

bool can_run(const SlurmPartition& part)
{
    return std::none_of(part.state.begin(), part.state.end(), [](char c) { return c == '*'; }) // does not answer
        && !part.state.starts_with("down") && !part.state.starts_with("drain") && !part.state.starts_with("fail")
        && !part.state.starts_with("maint") && !part.state.starts_with("unk");
}

// "gpu" of "gpu:a100:8(S:0-1)".
std::string gres_kind(const std::string& gres)
{
    return gres.substr(0, gres.find_first_of(":(="));
}

const std::vector<std::string> kAskPartitions{"sinfo", "-h", "-o", "%P|%a|%T|%D|%l|%G|%c|%m|%f"};

std::string said_by_sinfo(const SlurmAnswer& answer)
{
    return answer.text.empty() ? "sinfo said nothing within 15 s" : printable(answer.text, 300);
}

bool offers(const SlurmPartition& part, const std::string& gres)
{
    std::istringstream list(part.gres);
    for (std::string one; std::getline(list, one, ',');) {
        if (gres_kind(one) == gres_kind(gres))
            return true;
    }
    return false;
}

} // namespace

std::vector<SlurmPartition> parse_sinfo(const std::string& text)
{
    std::vector<SlurmPartition> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::array<std::string, 9> fields;
        std::istringstream parts(line);
        std::size_t count = 0;
        while (count < fields.size() && std::getline(parts, fields[count], '|'))
            ++count;
        if (count < 5 || fields[0].empty())
            continue;
        SlurmPartition part;
        part.is_default = fields[0].ends_with('*');
        part.name = part.is_default ? fields[0].substr(0, fields[0].size() - 1) : fields[0];
        part.up = fields[1] == "up";
        part.state = lower_case(fields[2]);
        part.nodes = std::atoi(fields[3].c_str());
        part.limit = fields[4];
        part.gres = fields[5];
        part.cores = std::atoi(fields[6].c_str()); // "64+": nodes differ
        part.memory_gib = std::strtod(fields[7].c_str(), nullptr) / kMibOfGib;
        part.features = fields[8] == "(null)" ? "" : fields[8];
        out.push_back(std::move(part));
    }
    return out;
}

Json partition_findings(const std::vector<SlurmPartition>& all, const Json& wanted)
{
    const std::string asked = text_field(wanted, "partition"), time = text_field(wanted, "time"),
                      gres = text_field(wanted, "gres");
    const auto nodes = static_cast<int>(integer_field(wanted, "nodes"));
    Json out = Json::array();
    const auto add = [&](const char* level, const std::string& message, const std::string& evidence,
                         const std::string& cure) { out.push_back(finding(kCheck, level, message, evidence, cure)); };
    std::vector<std::string> names;
    for (const SlurmPartition& part : all) {
        if (std::find(names.begin(), names.end(), part.name) == names.end())
            names.push_back(part.name);
    }
    // A list of partitions stands for the one that begins first: each of them has to do.
    std::set<std::string> chosen;
    std::istringstream list(asked);
    for (std::string one; std::getline(list, one, ',');)
        chosen.insert(one);
    for (const SlurmPartition& part : all) {
        if (asked.empty() && part.is_default)
            chosen.insert(part.name);
    }
    if (chosen.empty())
        add("error", "there is no default partition", "it has " + joined(names, ", "),
            "set slurm.partition of the target");
    for (const std::string& name : chosen) {
        int total = 0, usable = 0, idle = 0;
        const SlurmPartition* first = nullptr;
        bool offered = gres.empty();
        for (const SlurmPartition& part : all) {
            if (part.name != name)
                continue;
            first = first ? first : &part;
            total += part.nodes;
            usable += can_run(part) ? part.nodes : 0;
            idle += part.state == "idle" ? part.nodes : 0;
            offered = offered || offers(part, gres);
        }
        if (!first) {
            add("error", "there is no partition " + in_quotes(name), "it has " + joined(names, ", "),
                "change slurm.partition of the target");
            continue;
        }
        const std::string evidence = counted(total) + ", " + std::to_string(usable) + " of them up, "
            + std::to_string(idle) + " idle, time limit " + first->limit;
        const std::string partition = "partition " + name;
        const auto limit = slurm_seconds(first->limit), wish = slurm_seconds(time);
        if (!first->up)
            add("error", partition + " takes no jobs", evidence, "choose another slurm.partition");
        else if (nodes > total)
            add("error", partition + " has fewer than " + counted(nodes), evidence,
                "change slurm.nodes or slurm.partition");
        else if (limit && wish && *wish > *limit)
            add("error", "slurm.time " + time + " is beyond the limit of " + partition, evidence,
                "ask for less time, or change slurm.partition");
        else if (!offered)
            add("error", "no node of " + partition + " offers " + gres_kind(gres), evidence,
                "change slurm.gres or slurm.partition");
        else if (usable < std::max(nodes, 1))
            add("warning", "too few nodes of " + partition + " are up: the job will wait", evidence,
                "ask who runs the cluster");
        else
            add("info", partition, evidence, "");
    }
    return out;
}

Json partitions_json(const std::vector<SlurmPartition>& all)
{
    Json out = Json::array();
    for (const SlurmPartition& part : all) {
        auto at = std::find_if(out.begin(), out.end(),
            [&](const Json& one) { return one["name"] == part.name && one["gres"] == part.gres; });
        if (at == out.end()) {
            if (out.size() == kMostPartitions)
                return {};
            out.push_back({{"name", part.name}, {"default", part.is_default}, {"up", part.up}, {"limit", part.limit},
                {"gres", part.gres}, {"features", part.features}, {"nodes", 0}, {"usable", 0}, {"idle", 0},
                {"cores", part.cores}, {"memory_gib", part.memory_gib}});
            at = std::prev(out.end());
        }
        const auto count = [&](const char* key, int nodes) { (*at)[key] = (*at)[key].get<int>() + nodes; };
        count("nodes", part.nodes);
        count("usable", can_run(part) ? part.nodes : 0);
        count("idle", part.state == "idle" ? part.nodes : 0);
    }
    return out;
}

Json slurm_partitions()
{
    if (!has_slurm_program("sbatch") || !has_slurm_program("sinfo"))
        return Json::object();
    const SlurmAnswer answer = ask_slurm(kAskPartitions);
    if (answer.status != 0)
        return {{"silent", said_by_sinfo(answer)}};
    Json partitions = partitions_json(parse_sinfo(answer.text));
    if (partitions.is_null())
        return {{"silent", "sinfo tells of more than " + std::to_string(kMostPartitions) + " partitions"}};
    return {{"partitions", std::move(partitions)}};
}

Json slurm_checks(const Json& wanted)
{
    Json out = Json::array();
    if (!has_slurm_program("sbatch")) {
        out.push_back(finding(kCheck, "error", "sbatch is not on this host", "it is not in PATH",
            "set slurm.login to a login host of the cluster"));
        return out;
    }
    const SlurmAnswer answer = ask_slurm(kAskPartitions);
    if (answer.status != 0) {
        out.push_back(finding(kCheck, "error", "Slurm does not answer", said_by_sinfo(answer),
            "ask who runs the cluster whether slurmctld is up"));
        return out;
    }
    return partition_findings(parse_sinfo(answer.text), wanted);
}

} // namespace fourfold
