// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/connections.h"

#include "core/base/paths.h"
#include "core/base/sha256.h"
#include "core/history/store.h"
#include "runner/protocol/message.h"
#include "runner/runs/launch_plan.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run_record.h"
#include "runner/runs/run_state.h"
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
    std::string out = "SSH to " + place_name(host.address, host.user, host.port);
    for (std::size_t i = 0; i < host.jumps.size(); ++i)
        out += (i == 0 ? ", through " : " and ")
            + place_name(host.jumps[i].address, host.jumps[i].user, host.jumps[i].port);
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
        out.push_back(is_here(target) ? "this computer" : place_name(host.address, host.user, host.port));
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
        commands.push_back(std::string(remote_command()));
        out.text += "remote command (the same for every host, everything else goes as data on its standard input):\n  "
            + std::string(remote_command()) + "\n";
    }
    out.document
        = {{"connects", std::move(connects)}, {"agent", std::move(program)}, {"commands", std::move(commands)}};
    return out;
}

Expected<LaunchPreview> preview_attach(
    const std::string& run, const std::optional<Target>& target, const std::filesystem::path& history_file)
{
    const auto file = history_file.empty() ? HistoryStore::default_file() : history_file;
    const auto agent = own_program("fourfold-agent");
    if (target) {
        FOURFOLD_TRY(LaunchPreview out, preview_sessions(*target, agent));
        out.document.update(Json{{"run", run}, {"target", to_json(*target)}, {"history", file.string()}});
        out.text = "looks for run " + run + " on target " + target->id + "\n" + out.text + "stores: " + file.string()
            + ", " + (data_folder() / "runs/RUN").string() + "\n";
        return out;
    }
    FOURFOLD_TRY(const auto store, HistoryStore::open_existing(file));
    if (!store)
        return Problem{ProblemCode::not_found, "the history holds no run yet", "start one with `fourfold run PLAN`",
            file.string()};
    FOURFOLD_TRY(const std::string id, store->full_id(run));
    FOURFOLD_TRY(const RunDetail detail, store->show(id));
    const auto folder = run_record_folder(id);
    if (is_terminal(run_state(detail.summary.state)))
        return LaunchPreview{{{"run", id}, {"state", detail.summary.state}, {"connects", Json::array()}},
            "run " + id + " has ended (" + detail.summary.state + "): nothing would be opened\n"};
    FOURFOLD_TRY(const Target of_run, recorded_target(id));
    FOURFOLD_TRY(LaunchPreview out, preview_sessions(of_run, agent));
    Json from = Json::array();
    std::string text = "follows run " + id + " (" + detail.summary.state + ")\n";
    const std::vector<std::string> hosts = session_hosts(of_run);
    for (std::size_t node = 0; node < hosts.size(); ++node) {
        FOURFOLD_TRY(const std::int64_t last, store->last_seq(id, stream_name(static_cast<int>(node))));
        from.push_back(last + 1);
        text += hosts[node] + ": from event " + std::to_string(last + 1) + " on\n";
    }
    out.document.update(Json{{"run", id}, {"state", detail.summary.state}, {"target", to_json(of_run)},
        {"from_event", std::move(from)}, {"history", file.string()}});
    out.text = text + out.text + "stores: " + file.string() + ", " + folder.string() + "\n";
    return out;
}

} // namespace fourfold
