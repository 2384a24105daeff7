// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/nodes/connections.h"

#include "core/base/sha256.h"
#include "runner/ssh/ssh_transport.h"

namespace fourfold {

namespace {

std::vector<TargetHost> hosts_of(const Target& target)
{
    if (target.kind == TargetKind::slurm)
        return {target.slurm->login.value_or(TargetHost{})};
    return target.hosts;
}

std::string connection_to(const TargetHost& host)
{
    std::string out = "SSH to " + place_name(host);
    for (std::size_t i = 0; i < host.jumps.size(); ++i)
        out += (i == 0 ? ", through " : " and ") + place_name(host.jumps[i]);
    return out + (host.key_file.empty() ? "" : ", with the key " + host.key_file);
}

} // namespace

bool is_here(const Target& target)
{
    return target.kind == TargetKind::local || (target.kind == TargetKind::slurm && !target.slurm->login);
}

std::vector<std::string> session_hosts(const Target& target)
{
    std::vector<std::string> out;
    for (const TargetHost& host : hosts_of(target))
        out.push_back(is_here(target) ? "this computer" : place_name(host));
    return out;
}

Expected<LaunchPreview> preview_sessions(const Target& target, const std::filesystem::path& agent)
{
    LaunchPreview out;
    Json connects = Json::array(), commands = Json::array(), program = {{"file", agent.string()}};
    if (is_here(target)) {
        commands.push_back(agent.string() + " session");
        out.text = "starts: " + agent.string() + " session\n";
    } else {
        for (const TargetHost& host : hosts_of(target)) {
            connects.push_back(connection_to(host));
            out.text += "opens " + connection_to(host) + "\n";
        }
        FOURFOLD_TRY(const std::string hash, sha256_file(agent));
        std::error_code error;
        const auto size = std::filesystem::file_size(agent, error);
        const std::string place
            = (target.base_folder.empty() ? "~/.local/share/fourfold/node" : target.base_folder) + "/agent/" + hash;
        program.update(Json{{"sha256", hash}, {"size", size}, {"folder", place}});
        out.text += "agent, sent where a host lacks it: " + agent.string() + "  " + std::to_string(size) + " bytes, to "
            + place + "\n";
        commands.push_back(remote_command());
        out.text += "remote command (the same for every host, everything else goes as data on its standard input):\n  "
            + remote_command() + "\n";
    }
    out.document
        = {{"connects", std::move(connects)}, {"agent", std::move(program)}, {"commands", std::move(commands)}};
    return out;
}

} // namespace fourfold
