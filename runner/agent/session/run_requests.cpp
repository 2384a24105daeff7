// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/run_requests.h"

#include "runner/agent/checks/load_checks.h"
#include "runner/agent/files/lay_out.h"
#include "runner/agent/ranks/rank_environment.h"
#include "runner/agent/session/run_tail.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/slurm/stop_job.h"
#include "runner/agent/supervision/stop_supervisor.h"
#include "runner/agent/supervision/supervisor.h"
#include "runner/net/proof.h"
#include "runner/protocol/attempt.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <signal.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace fourfold {

namespace {
constexpr int kTailPollMs = 25;
constexpr int kTailBatchMs = 4; // events that come in quick succession travel together
constexpr std::size_t kMostRuns = 100;

// As the history takes ids: in whichever case they were typed.
bool begins(const std::string& run, const std::string& wanted)
{
    return run.size() >= wanted.size() && strncasecmp(run.c_str(), wanted.c_str(), wanted.size()) == 0;
}
} // namespace

Expected<void> RunRequests::prepare(const Json& request)
{
    prepared_.reset();
    FOURFOLD_TRY(RunSpec spec, run_spec_from_json(object_field(request, "spec")));
    RunFolder folder(node_.base, spec.run, spec.node);
    FOURFOLD_CHECK(folder.create());
    FOURFOLD_TRY(FileDescriptor lock, folder.lock());
    FOURFOLD_TRY(const bool exists, folder.exists());
    FOURFOLD_TRY(const std::string verdict, folder.verdict());
    if (exists)
        return Problem{ProblemCode::refused, "run " + spec.run + " was already started on this node (" + verdict + ")",
            "a run is started once; start a new one", folder.path().string()};
    FOURFOLD_CHECK(lay_out_files(*node_.store, folder, spec));
    auto prepared = std::make_unique<Prepared>(Prepared{folder, {}, std::move(lock), {}, {}});
    FOURFOLD_TRY(prepared->prelude, run_prelude(spec, folder.path(), wire_.descriptor()));
    FOURFOLD_CHECK(check_trainer_loads(spec, folder.path(), prepared->prelude.environment));
    if (spec.container) // its program is needed at the start only: better missed now
        FOURFOLD_CHECK(rank_command(spec, folder.path(), prepared->prelude.environment));
    int port = 0;
    if (spec.node == 0) {
        // The port is never free from here on: rank 0 gets the socket itself.
        FOURFOLD_TRY(Listener listener, listen_on(spec.address));
        prepared->listener = std::move(listener.socket);
        port = listener.port;
    }
    FOURFOLD_CHECK(folder.write_spec(spec));
    prepared->spec = std::move(spec);
    prepared_ = std::move(prepared);
    wire_.send({{"is", "prepared"}, {"folder", folder.path().string()}, {"port", port}});
    return {};
}

Expected<void> RunRequests::start(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    if (!prepared_ || prepared_->folder.path() != folder.path())
        return Problem{ProblemCode::bad_input, "this session has not prepared that run", {}, folder.path().string()};
    const std::string token = text_field(request, "token");
    if (!is_token(token))
        return Problem{ProblemCode::bad_input, "the run has no token", {}, folder.path().string()};
    const std::unique_ptr<Prepared> prepared = std::move(prepared_);
    Rendezvous rendezvous{text_field(request, "master_address"),
        static_cast<int>(integer_field(request, "master_port")), text_field(request, "token"),
        std::move(prepared->listener)};
    for (const auto& [key, value] : object_field(request, "secrets").items()) {
        if (value.is_string())
            prepared->prelude.environment[key] = value.get<std::string>();
    }
    const auto supervisor = start_supervisor(prepared->folder, prepared->spec, std::move(rendezvous),
        std::move(prepared->prelude.environment), std::move(prepared->lock));
    if (!supervisor) { // who looks at the run later learns why, where that can be written
        (void)close_lost_run(
            folder, prepared->spec.run, prepared->spec.node, RunState::fail, supervisor.error().line());
        return supervisor.error();
    }
    wire_.send({{"is", "started"}, {"pid", supervisor->pid}});
    return {};
}

Expected<void> RunRequests::stop(const Json& request, const std::function<void()>& meanwhile)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    const std::string run = text_field(request, "run");
    const int node = static_cast<int>(integer_field(request, "node"));
    FOURFOLD_TRY(const std::string note, stop_share(folder, run, node, stop_request_from_json(request), meanwhile));
    const auto verdict = folder.verdict();
    wire_.send({{"is", "stopping"}, {"state", verdict ? *verdict : "unknown"}, {"note", note}});
    return {};
}

Expected<std::string> RunRequests::stop_share(const RunFolder& folder, const std::string& run, int node,
    const StopRequest& stop, const std::function<void()>& meanwhile)
{
    if (!folder.slurm_job().empty())
        return stop_job(node_.base, folder, stop);
    const auto verdict = folder.verdict();
    const bool goes_on = verdict && (*verdict == "running" || *verdict == "stopping");
    if (verdict && *verdict == "ended")
        return std::string();
    // The first request decides. The file is for who closes the run if its agent does not hear this any more.
    const auto written = !goes_on || folder.read_stop() ? Expected<void>() : folder.write_stop(stop);
    if (const auto told = tell_supervisor(folder, run, node, stop, meanwhile))
        return *told;
    if (goes_on) { // an agent without a door: the signal makes it look at the file, or stops it if there is none
        FOURFOLD_TRY(const auto status, folder.read_status());
        if (status)
            send_signal(status->supervisor, SIGTERM);
        FOURFOLD_CHECK(written);
        return std::string();
    }
    if (verdict && *verdict != "absent") {
        prepared_.reset();
        const bool never_ran = *verdict == "prepared";
        const auto closed = close_lost_run(
            folder, run, node, never_ran ? stop.status : RunState::lost, never_ran ? stop.why : std::string());
        if (!closed && closed.error().code != ProblemCode::refused && count_of_run(run, node) == 0)
            return "nothing of the run is left on this node; " + closed.error().line();
        FOURFOLD_CHECK(closed);
        return std::string();
    }
    const auto jobs = cancel_jobs_in(RunFolder(node_.base, attempt_of(run).run, 0).path());
    const int killed = sweep(run, node);
    if (killed == 0 && jobs.empty() && verdict)
        return Problem{ProblemCode::not_found, "there is no such run on this node", {}, folder.path().string()};
    return (verdict ? "the run folder is gone" : verdict.error().message) + "; "
        + (jobs.empty() ? processes_text(killed) + " of the run killed" : "Slurm was told to end job " + jobs.front());
}

Expected<void> RunRequests::status(const Json& request) const
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    const std::string run = text_field(request, "run");
    const int node = static_cast<int>(integer_field(request, "node"));
    const RunLook look = RunWatch(folder, run, node, false).look();
    wire_.send({{"is", "status"}, {"state", look.state}, {"status", look.status}, {"why", look.why},
        {"note", look.note}, {"processes", count_of_run(run, node)}});
    return {};
}

Expected<void> RunRequests::kept(const Json& request) const
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    FOURFOLD_CHECK(open_file(folder.file("followed"), O_WRONLY | O_CREAT));
    wire_.send({{"is", "noted"}});
    return {};
}

Expected<void> RunRequests::sweep_run(const Json& request) const
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    const std::string run = text_field(request, "run");
    const int count = sweep(run, static_cast<int>(integer_field(request, "node")));
    wire_.send({{"is", "swept"}, {"count", count}});
    return {};
}

Expected<void> RunRequests::aside(const Json& request, RunTail& tail)
{
    const std::string what = text_field(request, "do");
    if (what == "stop") {
        tail.asked_to_stop(stop_request_from_json(request));
        auto stopped = stop(request, [&] { tail.say_it_goes_on(); });
        if (stopped || stopped.error().code != ProblemCode::not_found)
            return stopped;
        wire_.send({{"is", "stopping"}, {"state", "absent"}}); // the tail says what is known of its end
        return {};
    }
    if (what == "ping") {
        tail.followed();
        return {};
    }
    if (what == "diagnose") {
        tail.diagnose();
        return {};
    }
    return Problem{
        ProblemCode::bad_input, "only stop, ping and diagnose may be asked while events are followed", {}, {}};
}

Expected<void> RunRequests::tail(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    const double silence_s
        = number_field(request, "silence_s"); // a client that is silent for so long is gone; 0 = never
    RunTail tail(folder, text_field(request, "run"), static_cast<int>(integer_field(request, "node")),
        std::max<int64_t>(0, integer_field(request, "offset")), integer_field(request, "seq"),
        [this](const Json& message, std::string_view data) {
            return wire_.send(message) && (data.empty() || wire_.send_data(data));
        });
    while (wire_.open()) {
        FOURFOLD_TRY(const RunTail::Turn turn, tail.turn(prepared_ != nullptr));
        if (turn.ended)
            return {};
        auto frame = wire_.next_frame(turn.behind ? 0
                : turn.sent                       ? kTailBatchMs
                                                  : kTailPollMs,
            turn.sent ? -1 : tail.changed());
        if (!frame) {
            if (silence_s > 0 && wire_.silent_for(silence_s))
                wire_.close();
            continue;
        }
        const auto asked = parse_json(frame->payload, "request");
        FOURFOLD_CHECK(aside(frame->kind == FrameKind::json && asked ? *asked : Json(), tail));
    }
    return {};
}

Expected<void> RunRequests::find(const Json& request) const
{
    const std::string wanted = text_field(request, "run");
    if (!is_run_id(wanted))
        return Problem{ProblemCode::bad_input, "a run's id has up to 40 letters and digits", {}, {}};
    std::vector<std::string> runs;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(node_.base / "runs", error)) {
        const std::string name = entry.path().filename().string();
        if (is_run_id(name) && (wanted == "last" || begins(name, wanted)) && !shares_of(node_.base, name).empty())
            runs.push_back(name);
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return Problem{ProblemCode::io, "the runs of this node cannot be read: " + error.message(), {},
            (node_.base / "runs").string()};
    std::sort(runs.rbegin(), runs.rend()); // ids sort by the time of their making
    if (wanted == "last" && runs.size() > 1)
        runs.resize(1);
    const auto is_wanted = [&](const std::string& run) { return run.size() == wanted.size() && begins(run, wanted); };
    if (const auto exact = std::find_if(runs.begin(), runs.end(), is_wanted); exact != runs.end())
        runs = {std::string(*exact)}; // attempts of a job share the beginning of its id
    if (runs.size() > kMostRuns)
        runs.resize(kMostRuns);
    Json list = Json::array(), specs = Json::array();
    for (const std::string& run : runs) {
        const auto nodes = shares_of(node_.base, run);
        FOURFOLD_TRY(const std::string state, RunFolder(node_.base, run, nodes.front()).verdict());
        list.push_back({{"run", run}, {"state", state}});
        for (std::size_t i = 0; runs.size() == 1 && i < nodes.size(); ++i) {
            FOURFOLD_TRY(const RunSpec spec, RunFolder(node_.base, run, nodes[i]).read_spec());
            specs.push_back(to_json(spec));
        }
    }
    wire_.send({{"is", "found"}, {"runs", std::move(list)}, {"specs", std::move(specs)}});
    return {};
}

Expected<void> RunRequests::fetch(const Json& request) const
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    const std::string name = text_field(request, "name");
    const bool rank_log = name.starts_with("rank") && name.ends_with(".log") && name.size() > 8
        && std::all_of(name.begin() + 4, name.end() - 4, [](char c) { return c >= '0' && c <= '9'; });
    if (!rank_log && name != "agent.log")
        return Problem{ProblemCode::refused, "\"" + name + "\" is not a log of a run", {}, {}};
    const uint64_t most = std::clamp<int64_t>(integer_field(request, "max_bytes"), 0, int64_t(1) << 30);
    FOURFOLD_TRY(const FileDescriptor file, open_file(folder.file(name), O_RDONLY | O_NONBLOCK));
    struct stat info { };
    if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return Problem{ProblemCode::io, "is not a regular file", {}, folder.file(name).string()};
    const auto size = static_cast<uint64_t>(info.st_size);
    uint64_t offset = size > most ? size - most : 0;
    wire_.send({{"is", "file"}, {"size", size - offset}});
    std::string block(1u << 18, '\0');
    while (offset < size && wire_.open()) {
        const ssize_t got = pread(
            file.get(), block.data(), std::min<uint64_t>(block.size(), size - offset), static_cast<off_t>(offset));
        if (got <= 0)
            break;
        wire_.send_data(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
        offset += static_cast<uint64_t>(got);
    }
    wire_.send({{"is", "file-end"}});
    return {};
}

} // namespace fourfold
