// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/launch_plan.h"
#include "runner/slurm/script.h"
#include "runner/ssh/ssh_transport.h"

#include <sstream>

namespace fourfold {

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
        text << "  " << file.name << "  " << file.size << " bytes  " << file.sha256 << "  " << file.file.string()
             << "\n";
    }
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
        text << "program: " << plan.agent.string() << " session\n";
    } else {
        commands.push_back(std::string(remote_command()));
        text << "remote command (the same for every host, everything else goes as data on its standard input):\n  "
             << remote_command() << "\n";
    }
    return LaunchPreview{{{"target", to_json(plan.target)}, {"hosts", std::move(hosts)}, {"files", std::move(files)},
                             {"bytes", plan.bundle.bytes()}, {"environment", std::move(environment)},
                             {"commands", std::move(commands)}, {"prediction", to_json(plan.prediction)},
                             {"note", plan.note}, {"secrets", plan.target.secrets}, {"job_script", script}},
        text.str()};
}

} // namespace fourfold
