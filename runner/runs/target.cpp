// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/target.h"

#include "core/plan/presets.h"
#include "runner/runs/target_hosts.h"

#include <algorithm>

namespace fourfold {

namespace {

Expected<Target> ad_hoc(const std::string& text)
{
    Target target;
    target.id = text;
    target.kind = TargetKind::ssh;
    std::string user;
    for (const std::string& part : split_hosts(text)) {
        FOURFOLD_TRY(const auto names, expand_ranges(part, "--target"));
        for (const std::string& name : names) {
            FOURFOLD_TRY(SshPlace place, place_from_text(name, "--target"));
            user = place.user.empty() ? user : place.user;
            place.user = user;
            target.hosts.push_back(host_at(place));
        }
    }
    return target;
}

} // namespace

std::string_view name(TargetKind kind)
{
    return kind == TargetKind::local ? "local" : kind == TargetKind::ssh ? "ssh" : "slurm";
}

Expected<Target> load_target(const std::string& name_or_file)
{
    const bool is_file = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".json");
    const Presets presets;
    auto preset = is_file ? Expected<std::filesystem::path>(name_or_file) : presets.file("targets", name_or_file);
    if (preset) {
        FOURFOLD_TRY(const Json json, read_json_file(*preset, 1u << 20));
        FOURFOLD_TRY(Target target, target_from_json(json, preset->string()));
        target.id = name_or_file;
        return target;
    }
    if (name_or_file == "local") {
        Target target;
        target.hosts.emplace_back().address = "127.0.0.1";
        return target;
    }
    if (name_or_file.find_first_of("@,:.[") != std::string::npos)
        return ad_hoc(name_or_file);
    Problem problem = std::move(preset).error();
    problem.hint += (problem.hint.empty() ? "" : "; ") + std::string("for a host write user@host or host:22");
    return problem;
}

std::string place_name(const std::string& address, const std::string& user, int port)
{
    const bool v6 = address.find(':') != std::string::npos;
    const std::string name = (user.empty() ? "" : user + "@") + (v6 && port ? "[" + address + "]" : address);
    return port ? name + ":" + std::to_string(port) : name;
}

std::string host_name(const Target& target, std::size_t host)
{
    if (target.kind == TargetKind::local)
        return "this computer";
    if (target.kind == TargetKind::slurm)
        return "Slurm node " + std::to_string(host);
    const TargetHost& at = target.hosts[host];
    return place_name(at.address, at.user, at.port);
}

Expected<std::vector<int>> ranks_of_hosts(const Target& target, int gpus)
{
    const auto bad = [&](std::string message, std::string hint) -> Problem {
        return {ProblemCode::bad_input, std::move(message), std::move(hint), "target " + target.id};
    };
    auto hosts = static_cast<int>(target.hosts.size());
    if (target.kind == TargetKind::slurm) {
        const int per_node = target.slurm->ranks_per_node;
        hosts = target.slurm->nodes > 0 ? target.slurm->nodes : per_node > 0 ? std::max(1, gpus / per_node) : 1;
        if (per_node > 0 && hosts * per_node != gpus)
            return bad("the plan's " + std::to_string(gpus) + " GPUs are not " + std::to_string(hosts) + " nodes with "
                    + std::to_string(per_node) + " ranks",
                "change slurm.nodes, slurm.ranks_per_node or the plan's gpus");
    }
    std::vector<int> out;
    int given = 0, named = 0;
    for (const TargetHost& host : target.hosts) {
        given += host.ranks;
        named += host.ranks > 0;
    }
    if (named == 0) {
        if (gpus % hosts != 0)
            return bad("the plan's " + std::to_string(gpus) + " GPUs do not spread evenly over " + std::to_string(hosts)
                    + " hosts",
                "set `ranks` of each host, or change gpus or the number of hosts");
        return std::vector<int>(static_cast<std::size_t>(hosts), gpus / hosts);
    }
    if (named != hosts || given != gpus)
        return bad(
            "the hosts' ranks add up to " + std::to_string(given) + ", the plan has " + std::to_string(gpus) + " GPUs",
            "give every host its ranks so that they add up");
    for (const TargetHost& host : target.hosts)
        out.push_back(host.ranks);
    return out;
}

} // namespace fourfold
