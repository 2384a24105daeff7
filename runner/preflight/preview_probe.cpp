// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/preflight/probe.h"
#include "runner/runs/launch_plan.h"
#include "runner/ssh/ssh_transport.h"

namespace fourfold {

LaunchPreview preview_probe(const Target& target, bool speed)
{
    const bool slurm = target.kind == TargetKind::slurm;
    const bool here = target.kind == TargetKind::local || (slurm && !target.slurm->login);
    std::vector<std::string> names;
    if (slurm && !here)
        names = {place_name(target.slurm->login->address, target.slurm->login->user, target.slurm->login->port)};
    else if (slurm)
        names = {"this computer"};
    else
        for (std::size_t i = 0; i < target.hosts.size(); ++i)
            names.push_back(host_name(target, i));
    const std::string agent = own_program("fourfold-agent").string();
    const std::string base = target.base_folder.empty() ? "~/.local/share/fourfold/node" : target.base_folder;

    LaunchPreview out;
    out.document = {{"target", to_json(target)}, {"hosts", names}, {"speed", speed}, {"agent", agent},
        {"base_folder", base}, {"command", here ? agent + " session" : std::string(remote_command())}};
    out.text = "target " + target.id + "\n";
    for (const std::string& name : names)
        out.text += (here ? "starts the agent on " : "connects through SSH to ") + name + "\n";
    out.text += here ? "starts: " + agent + " session\n"
                     : "sends " + agent + " into " + base + " where it is missing\n"
            + "remote command (the same for every host, everything else goes as data on its standard input):\n  "
            + std::string(remote_command()) + "\n";
    if (names.size() > 1)
        out.text += "each host listens on one free port for the others, which connect to it in every direction"
            + std::string(speed ? ", and send 8 MiB four times" : "") + "\n";
    out.text += speed ? "measures cores and memory of each host for some seconds\n" : "";
    return out;
}

} // namespace fourfold
