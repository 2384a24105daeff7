// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/history/store.h"
#include "core/layout/batch_ramp.h"
#include "runner/nodes/connections.h"
#include "runner/runs/launch_plan.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run_record.h"
#include "runner/runs/slurm_script.h"

#include <algorithm>
#include <iomanip>
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
    if (plan.target.kind == TargetKind::slurm && plan.ranks.size() > 1 && plan.target.preflight)
        out.emplace_back("in the job a free port of each node, for the look at the network between them");
    return out;
}

// What stands before a rank's command; the agent adds the folders of the store that the run folder's links lead to.
std::string container_of(const Target& target, const std::string& folder)
{
    if (!target.container)
        return {};
    std::string out = "apptainer exec [--nv where GPUs are] --bind " + folder + " [--bind FOLDER of each linked file]";
    for (const std::string& bind : target.container->binds)
        out += " --bind " + bind;
    return out + " " + target.container->image + " ";
}

} // namespace

Expected<LaunchPreview> preview(const RunRequest& request)
{
    FOURFOLD_TRY(const LaunchPlan plan, plan_launch(request));
    const bool slurm = plan.target.kind == TargetKind::slurm;
    const bool local = is_here(plan.target);
    Json hosts = Json::array(), files = Json::array();
    std::ostringstream text;
    text << "plan " << printable(plan.plan.name) << ": " << total_steps(plan.plan.training, plan.plan.run) << " steps\n"
         << "target " << plan.target.id << ": " << plan.plan.gpus << " ranks\n";
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
    int longest = 8;
    for (const BundleFile& file : plan.bundle.files)
        longest = std::max(longest, static_cast<int>(file.name.size()));
    for (const BundleFile& file : plan.bundle.files) {
        files.push_back({{"name", file.name}, {"file", file.file.string()}, {"size", file.size}});
        if (!file.sha256.empty())
            files.back()["sha256"] = file.sha256;
        text << "  " << std::left << std::setw(longest) << file.name << std::right << std::setw(12) << file.size
             << " bytes  " << file.sha256 << (file.sha256.empty() ? "" : "  ") << file.file.string() << "\n";
    }
    text << "  " << std::left << std::setw(longest) << "together" << std::right << std::setw(12) << plan.bundle.bytes()
         << " bytes\n";
    const std::string folder = run_folder_of(plan.target);
    const std::vector<std::string> ports = ports_of(plan);
    const std::string rank_command = container_of(plan.target, folder) + folder + "/" + plan.bundle.program + " --plan "
        + folder + "/plan.json --run-dir " + folder;
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
    const std::string script = plan.target.slurm
        ? slurm_script(plan.target, "RUN", static_cast<int>(plan.ranks.size()), plan.saves())
        : std::string();
    FOURFOLD_TRY(const LaunchPreview sessions, preview_sessions(plan.target, plan.agent));
    Json commands = sessions.document["commands"];
    text << sessions.text;
    if (!script.empty()) {
        commands.push_back("sbatch --parsable --chdir=" + folder + " " + folder + "/slurm/job.sh");
        text << "the agent runs: " << commands.back().get_ref<const std::string&>()
             << "\njob script (RUN: the run's id; @AGENT@, @FOLDER@: the agent and the run folder on the cluster):\n"
             << script;
    }
    const std::string history
        = (request.history_file.empty() ? HistoryStore::default_file() : request.history_file).string();
    text << "stores: " << history << ", " << (data_folder() / "runs/RUN").string() << "\n";
    return LaunchPreview{
        {{"target", to_json(plan.target)}, {"hosts", std::move(hosts)}, {"files", std::move(files)},
            {"bytes", plan.bundle.bytes()}, {"environment", std::move(environment)}, {"commands", std::move(commands)},
            {"prediction", to_json(plan.prediction)}, {"note", plan.note}, {"secrets", plan.target.secrets},
            {"job_script", script}, {"connects", sessions.document["connects"]}, {"agent", sessions.document["agent"]},
            {"run_folder", folder}, {"rank_command", rank_command}, {"opens", ports}, {"history", history}},
        text.str()};
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
    const std::string state(name(detail.summary.state));
    if (is_terminal(detail.summary.state))
        return LaunchPreview{{{"run", id}, {"state", state}, {"connects", Json::array()}},
            "run " + id + " has ended (" + state + "): nothing would be opened\n"};
    FOURFOLD_TRY(const Target of_run, recorded_target(id));
    FOURFOLD_TRY(LaunchPreview out, preview_sessions(of_run, agent));
    Json from = Json::array();
    std::string text = "follows run " + id + " (" + state + ")\n";
    const std::vector<std::string> hosts = session_hosts(of_run);
    for (std::size_t node = 0; node < hosts.size(); ++node) {
        FOURFOLD_TRY(const std::int64_t last, store->last_seq(id, stream_name(static_cast<int>(node))));
        from.push_back(last + 1);
        text += hosts[node] + ": from event " + std::to_string(last + 1) + " on\n";
    }
    out.document.update(Json{{"run", id}, {"state", state}, {"target", to_json(of_run)},
        {"from_event", std::move(from)}, {"history", file.string()}});
    out.text = text + out.text + "stores: " + file.string() + ", " + folder.string() + "\n";
    return out;
}

} // namespace fourfold
