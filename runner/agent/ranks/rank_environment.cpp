// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/ranks/rank_environment.h"

#include "runner/agent/node/network_probe.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace fourfold {

namespace {

std::string program_in(const std::string& path, const std::vector<const char*>& names)
{
    for (const char* name : names) {
        std::istringstream folders(path);
        for (std::string folder; std::getline(folders, folder, ':');) {
            const std::string file = folder + "/" + name;
            if (!folder.empty() && folder[0] == '/' && access(file.c_str(), X_OK) == 0)
                return file;
        }
    }
    return {};
}

} // namespace

std::string at_home(const std::string& path, const Environment& environment)
{
    const auto home = environment.find("HOME");
    return path.starts_with("~/") && home != environment.end() ? home->second + path.substr(1) : path;
}

std::vector<std::string> rank_environment(const RunSpec& spec, const RankPlace& place,
    const std::filesystem::path& folder, const Rendezvous& rendezvous, const Environment& before, std::size_t cores)
{
    Environment variables = before;
    variables.try_emplace("OMP_NUM_THREADS", std::to_string(std::max<std::size_t>(1, cores)));
    // NCCL and Gloo otherwise guess, often wrongly.
    const std::string interface = spec.interface.empty() ? interface_of(spec.address) : spec.interface;
    if (!interface.empty()) {
        variables["NCCL_SOCKET_IFNAME"] = interface;
        variables["GLOO_SOCKET_IFNAME"] = interface;
    }
    variables.try_emplace("CUDA_DEVICE_ORDER", "PCI_BUS_ID"); // the same order as ours for NUMA nodes
    if (spec.limits.collective_s > 0)
        variables["FOURFOLD_TIMEOUT_S"] = std::to_string(spec.limits.collective_s);
    for (const auto& [key, value] : spec.environment)
        variables[key] = value;
    if (spec.library_path) {
        const std::string own = (folder / "bin").string();
        const std::string others = variables["LD_LIBRARY_PATH"];
        variables["LD_LIBRARY_PATH"] = others.empty() ? own : own + ":" + others;
        if (spec.container) // not handed through by itself
            variables["APPTAINERENV_LD_LIBRARY_PATH"] = variables["SINGULARITYENV_LD_LIBRARY_PATH"] = own;
    }
    variables["RANK"] = std::to_string(place.rank);
    variables["WORLD_SIZE"] = std::to_string(spec.world_size);
    variables["LOCAL_RANK"] = std::to_string(place.local_rank);
    variables["LOCAL_WORLD_SIZE"] = std::to_string(spec.ranks.size());
    variables["MASTER_ADDR"] = rendezvous.address;
    variables["MASTER_PORT"] = std::to_string(rendezvous.port);
    variables["FOURFOLD_TOKEN"] = rendezvous.token;
    if (place.rank == 0 && rendezvous.listener.valid())
        variables["FOURFOLD_LISTENER"] = std::to_string(rendezvous.listener.get());
    variables["FOURFOLD_ADDRESS"] = spec.address;
    variables["FOURFOLD_BACKEND"] = spec.backend;
    variables["FOURFOLD_RUN"] = spec.run;
    variables["FOURFOLD_NODE"] = std::to_string(spec.node);
    variables["FOURFOLD_FOLDER"] = folder.string();
    std::vector<std::string> out;
    for (const auto& [key, value] : variables)
        out.push_back(key + "=" + value);
    return out;
}

std::string container_program(const Environment& environment)
{
    const auto path = environment.find("PATH");
    return program_in(path == environment.end() ? "/usr/bin:/bin" : path->second, {"apptainer", "singularity"});
}

Expected<std::vector<std::string>> rank_command(
    const RunSpec& spec, const std::filesystem::path& folder, const Environment& environment)
{
    std::vector<std::string> trainer{
        (folder / spec.program).string(), "--plan", (folder / "plan.json").string(), "--run-dir", folder.string()};
    if (!spec.container)
        return trainer;
    const std::string program = container_program(environment);
    if (program.empty())
        return Problem{ProblemCode::not_found, "neither apptainer nor singularity is in the PATH of the node",
            "install Apptainer, load its module in prelude, or leave container out", spec.host};
    std::vector<std::string> out{program, "exec"};
    if (access("/proc/driver/nvidia/version", F_OK) == 0)
        out.emplace_back("--nv");
    // The run folder, and every folder that its links point into.
    std::set<std::string> folders{folder.string()};
    for (const RunFile& file : spec.files) {
        std::error_code error;
        const auto target = std::filesystem::read_symlink(folder / file.name, error);
        if (!error)
            folders.insert(target.parent_path().string());
    }
    for (const std::string& bound : folders) {
        out.emplace_back("--bind");
        out.push_back(bound);
    }
    for (const std::string& bind : spec.container->binds) {
        out.emplace_back("--bind");
        out.push_back(at_home(bind, environment));
    }
    out.push_back(at_home(spec.container->image, environment));
    out.insert(out.end(), trainer.begin(), trainer.end());
    return out;
}

} // namespace fourfold
