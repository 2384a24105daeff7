// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/slurm_node.h"

#include "core/base/text.h"
#include "core/history/run_event.h"
#include "runner/agent/checks/load_checks.h"
#include "runner/agent/files/lay_out.h"
#include "runner/agent/node/network_probe.h"
#include "runner/agent/ranks/rank_environment.h"
#include "runner/agent/slurm/job_checks.h"
#include "runner/agent/slurm/job_end.h"
#include "runner/agent/slurm/job_reach.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/supervision/supervisor.h"
#include "runner/agent/supervision/supervisor_door.h"
#include "runner/net/proof.h"
#include "runner/protocol/attempt.h"
#include "runner/protocol/interfaces.h"
#include "runner/protocol/message.h"
#include "runner/protocol/slurm_time.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

namespace fourfold {

namespace {

constexpr double kGangSeconds = 600; // until every node is ready
constexpr double kNearEnd = 120; // seconds before the time limit that Slurm's warning may come

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

int number(const char* name)
{
    return std::atoi(variable(name).c_str());
}

// The address of this node that reaches `peer`; the kernel's choice of route, without sending anything.
std::string own_address_towards(const std::string& peer)
{
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(9);
    if (inet_pton(AF_INET, peer.c_str(), &to.sin_addr) != 1)
        return {};
    const FileDescriptor fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    socklen_t size = sizeof to;
    if (connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0
        || getsockname(fd.get(), reinterpret_cast<sockaddr*>(&to), &size) != 0)
        return {};
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &to.sin_addr, text, sizeof text);
    return text;
}

// One node's way through the job.
class SlurmNode {
public:
    SlurmNode(const std::filesystem::path& first, int node, int attempt)
        : specs_(first / "slurm")
        , base_(first.parent_path().parent_path())
        , run_(attempt_id({first.filename().string(), attempt}))
        , node_(node)
        , folder_(base_, run_, node)
        , shared_(RunFolder(base_, run_, 0).path() / "slurm")
        , end_(variable("SLURM_JOB_ID"))
        , supervisor_(folder_.path())
    {
    }

    Expected<std::string> run()
    {
        FOURFOLD_TRY(const Json json, read_json_file(specs_ / ("spec" + std::to_string(node_) + ".json")));
        FOURFOLD_TRY(spec_, run_spec_from_json(json));
        token_ = slurp(specs_ / kTokenFile, 2 * kTokenBytes);
        if (!is_token(token_))
            return Problem{ProblemCode::io, "the run's token cannot be read", {}, (specs_ / kTokenFile).string()};
        FOURFOLD_CHECK(take_place());
        FOURFOLD_TRY(FileDescriptor lock, folder_.lock());
        FOURFOLD_TRY(Rendezvous rendezvous, meet());
        FOURFOLD_CHECK(supervise_as_child(folder_, spec_, std::move(rendezvous), std::move(prelude_.environment),
            std::move(lock), [this] { look_at_signals(); }));
        const auto found = folder_.look();
        const std::string ended
            = found && found->state == "ended" ? found->status.status : std::string(name(RunState::lost));
        if (ended != name(RunState::ok))
            stop_others(run_state(ended), found ? found->status.why : "");
        return ended;
    }

    // Nothing can be started here: the others must not wait, and who follows the first node learns why.
    void give_up(const Problem& problem)
    {
        stop_others(RunState::fail, problem.line());
        (void)write_file_atomically(shared_ / ("failed" + std::to_string(node_)), problem.line() + "\n");
        if (node_ == 0)
            (void)close_lost_run(folder_, run_, 0, RunState::fail, problem.line());
    }

    void block_signals()
    {
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGTERM);
        sigaddset(&mask, SIGINT);
        sigaddset(&mask, SIGURG);
        sigprocmask(SIG_BLOCK, &mask, nullptr);
        signals_ = FileDescriptor(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    }

private:
    // The folder with the files, a plan whose paths are right for this attempt, the prelude's environment.
    Expected<void> take_place()
    {
        const std::string before = RunFolder(base_, spec_.run, node_).path().string();
        spec_.run = run_;
        spec_.host = variable("SLURMD_NODENAME");
        const std::string plan = to_wire(spec_.plan);
        std::string moved;
        for (std::size_t at = 0; at < plan.size();) { // data paths lie below the run folder
            const std::size_t next = plan.find(before + "/", at);
            moved += plan.substr(at, next == std::string::npos ? std::string::npos : next - at);
            if (next == std::string::npos)
                break;
            moved += folder_.path().string() + "/";
            at = next + before.size() + 1;
        }
        FOURFOLD_TRY(spec_.plan, parse_json(moved, "plan"));
        go_on_from_checkpoint();
        // This node may see other folders on the way than the login host does.
        FOURFOLD_CHECK(checked_base(base_.string(), spec_.group_writable));
        FOURFOLD_CHECK(folder_.create());
        FOURFOLD_CHECK(make_trusted_folders(base_, shared_.lexically_relative(base_)));
        Store store(base_, spec_.group_writable);
        FOURFOLD_CHECK(lay_out_files(store, folder_, spec_));
        FOURFOLD_TRY(prelude_, run_prelude(spec_, folder_.path()));
        FOURFOLD_CHECK(check_trainer_loads(spec_, folder_.path(), prelude_.environment));
        if (spec_.container) // its program is needed at the start only: better missed now
            FOURFOLD_CHECK(rank_command(spec_, folder_.path(), prelude_.environment));
        const std::string peer = variable("SLURM_LAUNCH_NODE_IPADDR");
        const Json interfaces = network_interfaces();
        spec_.address = address_of_interface(interfaces, spec_.interface);
        if (spec_.address.empty() && names_interface(spec_.interface))
            return Problem{ProblemCode::network,
                "this node has no network interface " + in_quotes(spec_.interface) + " with an address",
                "it has " + interfaces_text(interfaces) + ": change the target's interface", spec_.host};
        if (spec_.address.empty())
            spec_.address = own_address_towards(peer);
        if (spec_.address.empty())
            return Problem{ProblemCode::network,
                "this node finds no address of its own towards the first node ("
                    + (peer.empty() ? "SLURM_LAUNCH_NODE_IPADDR is not set" : peer) + ")",
                "start it through srun", spec_.host};
        if (spec_.look_first)
            FOURFOLD_CHECK(write_findings(shared_, spec_, base_));
        return folder_.write_spec(spec_);
    }

    // A job that was queued again does not begin anew where an earlier attempt has saved. All nodes read the same
    // events. Beside the newest checkpoint are older ones.
    void go_on_from_checkpoint()
    {
        const Attempt own = attempt_of(run_);
        std::string newest;
        for (int before = own.number - 1; before >= 0 && newest.empty(); --before)
            newest = newest_checkpoint(RunFolder(base_, attempt_id({own.run, before}), 0).path());
        if (newest.empty())
            return;
        const std::string folder = std::filesystem::path(newest).parent_path().string();
        Json& checkpoint = spec_.plan["run"]["checkpoint"];
        checkpoint["load"] = checkpoint["path"] = folder;
        checkpoint["from_last_good"] = true;
    }

    // Two phases: the first node publishes where to meet when every node has said that it is ready.
    Expected<Rendezvous> meet()
    {
        if (spec_.node == 0)
            FOURFOLD_CHECK(write_file_atomically(shared_ / "job.json",
                to_wire({{"job", variable("SLURM_JOB_ID")}, {"nodes", spec_.nodes},
                    {"attempt", number("SLURM_RESTART_COUNT")}, {"node_list", variable("SLURM_JOB_NODELIST")}})));
        std::optional<JobReach> reach;
        if (spec_.look_first && spec_.nodes > 1) {
            FOURFOLD_TRY(JobReach started, JobReach::start(shared_, spec_, token_));
            reach.emplace(std::move(started));
        }
        FOURFOLD_CHECK(write_file_atomically(shared_ / ("ready" + std::to_string(node_)), spec_.address + "\n"));
        const double deadline = monotonic_seconds() + kGangSeconds;
        const auto file = shared_ / "rendezvous.json";
        FileDescriptor listener;
        while (monotonic_seconds() < deadline) {
            for (int k = 0; k < spec_.nodes; ++k) {
                const auto failed = shared_ / ("failed" + std::to_string(k));
                if (std::error_code error; std::filesystem::exists(failed, error))
                    return Problem{ProblemCode::failed,
                        "node " + std::to_string(k) + " was not ready: " + slurp(failed, 1000), {}, spec_.host};
            }
            if (const auto json = read_json_file(file))
                return Rendezvous{text_field(*json, "address"), static_cast<int>(integer_field(*json, "port")), token_,
                    std::move(listener)};
            int ready = 0;
            for (int k = 0; k < spec_.nodes; ++k) {
                std::error_code error;
                ready += std::filesystem::exists(shared_ / ("ready" + std::to_string(k)), error) ? 1 : 0;
            }
            if (reach)
                FOURFOLD_CHECK(reach->look());
            bool reached = true;
            if (reach && spec_.node == 0) {
                FOURFOLD_TRY(reached, reach->judge());
            }
            if (spec_.node == 0 && ready == spec_.nodes && reached) {
                if (spec_.look_first)
                    FOURFOLD_CHECK(judge_findings(shared_, spec_, folder_.file("events.jsonl")));
                FOURFOLD_TRY(Listener own, listen_on(spec_.address));
                listener = std::move(own.socket); // before the others hear of it
                FOURFOLD_CHECK(write_file_atomically(file, to_wire({{"address", spec_.address}, {"port", own.port}})));
            }
            usleep(50000);
        }
        return Problem{ProblemCode::network, "not every node of the job was ready within 600 s",
            "see slurm/ in the run folder", folder_.path().string()};
    }

    // scancel, preemption and the time limit all come as SIGTERM; Slurm knows which. SIGURG says that the time limit
    // comes near.
    void look_at_signals()
    {
        signalfd_siginfo info{};
        bool asked = false;
        while (read(signals_.get(), &info, sizeof info) == sizeof info) {
            asked = asked || info.ssi_signo != SIGURG;
            if (info.ssi_signo == SIGURG)
                end_.warned();
        }
        if (!asked)
            look_at_end();
        if (!asked || folder_.read_stop())
            return;
        StopRequest stop = reason_of_stop();
        stop.grace_s = spec_.grace_s;
        (void)folder_.write_stop(stop);
    }

    // The first node ends the run while its ranks can still save a checkpoint.
    void look_at_end()
    {
        if (node_ != 0 || !end_.is_warned() || is_told_of_end_)
            return;
        supervisor_.look();
        const double save_s = number_field(supervisor_.said(), "to_save_s", spec_.limits.save_s);
        if (!end_.is_near(kJobEndSeconds + save_s))
            return;
        is_told_of_end_ = true;
        const StopRequest stop{status_of_state("TIMEOUT"),
            "the job comes to its time limit: raise slurm.time of the target, or go on from the checkpoint", nullptr,
            spec_.grace_s, true};
        for (int k = 0; k < spec_.nodes; ++k)
            tell(k, stop);
    }

    // While the job is completing Slurm hides what it was ended by, but for the reason; asked again for a short while.
    [[nodiscard]] static StopRequest reason_of_stop()
    {
        const auto because = [](const std::string& state) {
            const bool saves = state == "TIMEOUT"; // as much as Slurm's KillWait allows
            return StopRequest{status_of_state(state), words_of_state(state), nullptr, 0, saves};
        };
        for (int look = 0; look < 6; ++look, usleep(400000)) {
            const SlurmJob job = look_at_job(variable("SLURM_JOB_ID"));
            const bool near_end = job.end_time > 0 && double(job.end_time - std::time(nullptr)) < kNearEnd;
            if (job.preempted || job.restarts > number("SLURM_RESTART_COUNT") || job.state.starts_with("PENDING")
                || job.state.starts_with("REQUEUE") || job.reason.find("reempt") != std::string::npos
                || job.reason == "BeginTime")
                return because("PREEMPTED"); // it waits again
            if (job.reason == "NodeDown")
                return because("NODE_FAIL");
            if (job.reason == "TimeLimit"
                || (near_end && (job.state.starts_with("RUNNING") || job.state.starts_with("SIGNALING"))))
                return because("TIMEOUT");
            if (is_final(job.state))
                return because(job.state);
        }
        return because("CANCELLED");
    }

    void stop_others(RunState status, const std::string& why) const
    {
        Json error;
        for (const std::string& line : last_lines(folder_.file("events.jsonl"))) {
            const auto event = parse_json(line, "event");
            if (event && kind_of(*event) == EventKind::error)
                error = *event;
        }
        for (int k = 0; k < spec_.nodes; ++k) {
            if (k != node_)
                tell(k, {status, why, error, spec_.grace_s});
        }
    }

    void tell(int node, const StopRequest& stop) const
    {
        const RunFolder share(base_, run_, node);
        const auto exists = share.exists();
        if (exists && *exists && !share.read_stop())
            (void)share.write_stop(stop);
    }

    static std::vector<std::string> last_lines(const std::filesystem::path& file)
    {
        std::vector<std::string> out;
        const std::string text = slurp(file, 256u << 20);
        std::size_t begin = text.size() > 65536 ? text.size() - 65536 : 0;
        while (begin < text.size()) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            out.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        return out;
    }

    std::filesystem::path specs_, base_;
    std::string run_, token_;
    int node_;
    RunFolder folder_;
    std::filesystem::path shared_; // slurm/ of this attempt's first folder
    RunSpec spec_;
    Prelude prelude_;
    FileDescriptor signals_;
    JobEnd end_;
    SupervisorLine supervisor_;
    bool is_told_of_end_ = false;
};

} // namespace

int run_slurm_node(const std::filesystem::path& folder)
{
    const std::string run = folder.filename().string();
    const int node = number("SLURM_NODEID"), attempt = number("SLURM_RESTART_COUNT");
    if (!is_run_id(run) || node < 0 || variable("SLURM_JOB_ID").empty()) {
        std::fprintf(stderr, "fourfold-agent slurm-node: not within a Slurm job, or \"%s\" is not a run folder\n",
            folder.c_str());
        return 2;
    }
    SlurmNode here(folder, node, attempt);
    here.block_signals();
    const auto ended = here.run();
    if (!ended) {
        here.give_up(ended.error());
        std::fprintf(stderr, "fourfold-agent slurm-node: %s\n", ended.error().line().c_str());
        return 1;
    }
    if (*ended == "ok")
        return 0;
    sleep(3); // the other nodes' agents stop their ranks themselves
    return 1;
}

} // namespace fourfold
