// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/history/store.h"
#include "runner/runs/launch_plan.h"
#include "runner/slurm/script.h"
#include "runner/ssh/ssh_transport.h"

#include <sstream>

namespace fourfold {

namespace {

// Where the run's files are while it runs, as far as this computer can say; RUN stands for its id.
std::string run_folder_of(const Target& target)
{
    std::string base = target.base_folder;
    if (base.empty())
        base = target.kind == TargetKind::local ? (data_folder() / "node").string() : "~/.local/share/fourfold/node";
    return base + "/runs/RUN";
}

// What listens while the run goes on.
std::vector<std::string> ports_of(const LaunchPlan& plan)
{
    std::vector<std::string> out;
    if (plan.plan.gpus > 1)
        out.emplace_back("a free port of the first host where the ranks meet, and free ports of each rank for its peers"
            + std::string(plan.target.kind == TargetKind::local ? " (127.0.0.1 only)" : ""));
    if (plan.target.kind == TargetKind::ssh && plan.ranks.size() > 1) {
        if (plan.target.preflight)
            out.emplace_back("before the run a free port of each host, for the look at the network between them");
        if (plan.target.upload != "parallel")
            out.emplace_back("while files are sent a free port of each host that gets them from another host");
    }
    return out;
}

} // namespace

Expected<LaunchPreview> preview(const RunRequest& request)
{
    FOURFOLD_TRY(const LaunchPlan plan, plan_launch(request));
    const bool slurm = plan.target.kind == TargetKind::slurm;
    const bool local = plan.target.kind == TargetKind::local || (slurm && !plan.target.slurm->login);
    Json hosts = Json::array(), files = Json::array();
    std::ostringstream text;
    text << "target " << plan.target.id << ": " << plan.plan.gpus << " ranks\n";
    if (!plan.note.empty())
        text << plan.note << "\n";
    for (std::size_t i = 0; i < plan.ranks.size(); ++i) {
        Json ranks = Json::array();
        text << "host " << host_name(plan.target, i) << ": ranks";
        for (const RankPlace& place : plan.ranks[i]) {
            ranks.push_back({{"rank", place.rank}, {"coordinates", place.coordinates}});
            text << ' ' << place.rank;
        }
        text << "\n";
        hosts.push_back({{"host", host_name(plan.target, i)}, {"ranks", std::move(ranks)}});
    }
    text << (local && !slurm ? "files, used where they are:\n" : "files, sent where a host lacks them:\n");
    for (const BundleFile& file : plan.bundle.files) {
        files.push_back({{"name", file.name}, {"file", file.file.string()}, {"size", file.size}});
        if (!file.sha256.empty())
            files.back()["sha256"] = file.sha256;
        text << "  " << file.name << "  " << file.size << " bytes  " << file.sha256 << (file.sha256.empty() ? "" : "  ")
             << file.file.string() << "\n";
    }
    const std::string folder = run_folder_of(plan.target);
    const std::vector<std::string> ports = ports_of(plan);
    const std::string rank_command
        = folder + "/" + plan.bundle.program + " --plan " + folder + "/plan.json --run-dir " + folder;
    text << "run folder (RUN: the run's id): " << folder
         << (plan.ranks.size() > 1 ? ", of the second host RUN/node1 and so on" : "") << "\neach rank: " << rank_command
         << "\n";
    for (const std::string& port : ports)
        text << "opens " << port << "\n";
    Json environment = Json::object();
    for (const auto& [key, value] : plan.environment) {
        environment[key] = value;
        text << "environment " << key << "=" << value << "\n";
    }
    for (const std::string& name : plan.target.secrets)
        text << "secret " << name << " (handed to the ranks, stored nowhere)\n";
    for (const std::string& line : plan.target.prelude)
        text << "prelude " << line << "\n";
    if (plan.target.container)
        text << "container " << plan.target.container->image << "\n";
    const std::string script
        = plan.target.slurm ? slurm_script(plan.target, "RUN", static_cast<int>(plan.ranks.size())) : std::string();
    if (!script.empty())
        text << "job script (RUN: the run's id; @AGENT@, @FOLDER@: the agent and the run folder on the cluster):\n"
             << script;
    Json commands = Json::array();
    if (local) {
        commands.push_back(plan.agent.string() + " session");
        text << "starts: " << plan.agent.string() << " session\n";
    } else {
        commands.push_back(std::string(remote_command()));
        text << "remote command (the same for every host, everything else goes as data on its standard input):\n  "
             << remote_command() << "\n";
    }
    const std::string history
        = (request.history_file.empty() ? HistoryStore::default_file() : request.history_file).string();
    text << "stores: " << history << ", " << (data_folder() / "runs/RUN").string() << "\n";
    return LaunchPreview{
        {{"target", to_json(plan.target)}, {"hosts", std::move(hosts)}, {"files", std::move(files)},
            {"bytes", plan.bundle.bytes()}, {"environment", std::move(environment)}, {"commands", std::move(commands)},
            {"prediction", to_json(plan.prediction)}, {"note", plan.note}, {"secrets", plan.target.secrets},
            {"job_script", script}, {"run_folder", folder}, {"rank_command", rank_command}, {"opens", ports},
            {"history", history}},
        text.str()};
}

} // namespace fourfold
