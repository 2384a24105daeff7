// SPDX-License-Identifier: GPL-3.0-or-later
// The session's requests about runs: prepare, start, follow, stop.
#include "runner/agent/checks/load_checks.h"
#include "runner/agent/files/lay_out.h"
#include "runner/agent/session/run_tail.h"
#include "runner/agent/session/session.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/supervision/stop_supervisor.h"
#include "runner/agent/supervision/supervisor.h"
#include "runner/net/proof.h"
#include "runner/protocol/attempt.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace fourfold {

namespace {
constexpr int kTailPollMs = 25;
constexpr int kTailBatchMs = 4; // events that come in quick succession travel together
} // namespace

Expected<void> Session::prepare(const Json& request)
{
    prepared_.reset();
    // Nothing is probed or sent from node to node any more.
    probe_server_.reset();
    relay_server_.reset();
    next_.reset();
    FOURFOLD_TRY(RunSpec spec, run_spec_from_json(object_field(request, "spec")));
    RunFolder folder(base_, spec.run, spec.node);
    FOURFOLD_CHECK(folder.create());
    FOURFOLD_TRY(FileDescriptor lock, folder.lock());
    FOURFOLD_TRY(const bool exists, folder.exists());
    FOURFOLD_TRY(const std::string verdict, folder.verdict());
    if (exists)
        return Problem{ProblemCode::refused, "run " + spec.run + " was already started on this node (" + verdict + ")",
            "a run is started once; start a new one", folder.path().string()};
    FOURFOLD_CHECK(lay_out_files(*store_, folder, spec));
    auto prepared = std::make_unique<Prepared>(Prepared{folder, {}, std::move(lock), {}, {}});
    FOURFOLD_TRY(prepared->prelude, run_prelude(spec, folder.path()));
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
    send({{"is", "prepared"}, {"folder", folder.path().string()}, {"port", port}});
    return {};
}

Expected<void> Session::start(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
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
    FOURFOLD_TRY(const ProcessIdentity supervisor,
        start_supervisor(prepared->folder, prepared->spec, std::move(rendezvous),
            std::move(prepared->prelude.environment), std::move(prepared->lock)));
    send({{"is", "started"}, {"pid", supervisor.pid}});
    return {};
}

Expected<void> Session::stop(const Json& request, const std::function<void()>& meanwhile)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const std::string run = text_field(request, "run");
    const int node = static_cast<int>(integer_field(request, "node"));
    FOURFOLD_TRY(const std::string note, stop_share(folder, run, node, stop_request_from_json(request), meanwhile));
    const auto verdict = folder.verdict();
    send({{"is", "stopping"}, {"state", verdict ? *verdict : "unknown"}, {"note", note}});
    return {};
}

// What was done beyond asking the agent, in words.
Expected<std::string> Session::stop_share(const RunFolder& folder, const std::string& run, int node,
    const StopRequest& stop, const std::function<void()>& meanwhile)
{
    if (!folder.slurm_job().empty())
        return stop_job(folder, stop);
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
        FOURFOLD_CHECK(close_lost_run(folder, run, node));
        return std::string();
    }
    const auto jobs = cancel_jobs_in(RunFolder(base_, attempt_of(run).run, 0).path());
    const int killed = sweep(run, node);
    if (killed == 0 && jobs.empty() && verdict)
        return Problem{ProblemCode::not_found, "there is no such run on this node", {}, folder.path().string()};
    return (verdict ? "the run folder is gone" : verdict.error().message) + "; "
        + (jobs.empty() ? "killed: " + processes_text(killed) + " of the run"
                        : "Slurm was told to end job " + jobs.front());
}

Expected<void> Session::status(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const std::string run = text_field(request, "run");
    const int node = static_cast<int>(integer_field(request, "node"));
    const RunLook look = RunWatch(folder, run, node, false).look();
    send({{"is", "status"}, {"state", look.state}, {"status", look.status}, {"why", look.why}, {"note", look.note},
        {"processes", count_of_run(run, node)}});
    return {};
}

Expected<void> Session::sweep_run(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const std::string run = text_field(request, "run");
    const int count = sweep(run, static_cast<int>(integer_field(request, "node")));
    send({{"is", "swept"}, {"count", count}});
    return {};
}

Expected<void> Session::aside(const Json& request, RunTail& tail)
{
    const std::string what = text_field(request, "do");
    if (what == "stop") {
        tail.asked_to_stop(stop_request_from_json(request));
        auto stopped = stop(request, [&] { tail.say_it_goes_on(); });
        if (stopped || stopped.error().code != ProblemCode::not_found)
            return stopped;
        send({{"is", "stopping"}, {"state", "absent"}}); // the tail says what is known of its end
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

Expected<void> Session::tail(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const double silence_s
        = number_field(request, "silence_s"); // a client that is silent for so long is gone; 0 = never
    RunTail tail(folder, text_field(request, "run"), static_cast<int>(integer_field(request, "node")),
        std::max<int64_t>(0, integer_field(request, "offset")), integer_field(request, "seq"),
        [this](
            const Json& message, std::string_view data) { return send(message) && (data.empty() || send_data(data)); });
    while (!closed_) {
        FOURFOLD_TRY(const RunTail::Turn turn, tail.turn(prepared_ != nullptr));
        if (turn.ended)
            return {};
        auto frame = next_frame(turn.behind ? 0
                : turn.sent                 ? kTailBatchMs
                                            : kTailPollMs,
            turn.sent ? -1 : tail.changed());
        if (!frame) {
            closed_ = closed_ || (silence_s > 0 && monotonic_seconds() - heard_ > silence_s);
            continue;
        }
        const auto asked = parse_json(frame->payload, "request");
        FOURFOLD_CHECK(aside(frame->kind == FrameKind::json && asked ? *asked : Json(), tail));
    }
    return {};
}

} // namespace fourfold
