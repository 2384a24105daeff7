// SPDX-License-Identifier: GPL-3.0-or-later
// The session's requests about runs: prepare, start, follow, stop.
#include "runner/agent/file_watch.h"
#include "runner/agent/lay_out.h"
#include "runner/agent/load_checks.h"
#include "runner/agent/session.h"
#include "runner/agent/supervisor.h"
#include "runner/net/proof.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace fourfold {

namespace {
constexpr std::size_t kTailBytes = 256u << 10;
constexpr int kTailPollMs = 25;
constexpr int kTailBatchMs = 4; // events that come in quick succession travel together

// Somebody follows the run: see RankSupervision::look_at_lease.
void touch_lease(const RunFolder& folder)
{
    if (const auto file = open_file(folder.file("lease"), O_WRONLY | O_CREAT))
        (void)futimens(file->get(), nullptr);
}
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
    if (folder.exists())
        return Problem{ProblemCode::refused,
            "run " + spec.run + " was already started on this node (" + folder.verdict() + ")",
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

Expected<void> Session::stop(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    if (!folder.exists())
        return Problem{ProblemCode::not_found, "there is no such run on this node", {}, folder.path().string()};
    StopRequest stop{text_field(request, "status", "cancelled"), text_field(request, "why"), nullptr,
        std::clamp(number_field(request, "grace_s", 2), 0.0, 600.0)};
    if (const Json& error = object_field(request, "error"); !error.empty())
        stop.error = error;
    const std::string verdict = folder.verdict();
    if (!folder.slurm_job().empty()) {
        FOURFOLD_CHECK(stop_job(folder, stop));
    } else if (verdict == "running" || verdict == "stopping") {
        // The first request decides; a full disk must not keep a run going, the signal alone stops it too.
        const auto written = folder.read_stop() ? Expected<void>() : folder.write_stop(stop);
        if (const auto status = folder.read_status())
            send_signal(status->supervisor, SIGTERM);
        FOURFOLD_CHECK(written);
    } else if (verdict != "ended") {
        prepared_.reset();
        FOURFOLD_CHECK(
            close_lost_run(folder, text_field(request, "run"), static_cast<int>(integer_field(request, "node"))));
    }
    send({{"is", "stopping"}, {"state", folder.verdict()}});
    return {};
}

Expected<void> Session::status(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const auto status = folder.read_status();
    send({{"is", "status"}, {"state", folder.verdict()}, {"status", status ? status->status : ""},
        {"why", status ? status->why : ""},
        {"processes", count_of_run(text_field(request, "run"), static_cast<int>(integer_field(request, "node")))}});
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

Expected<void> Session::aside(const Json& request, const RunFolder& folder)
{
    const std::string what = text_field(request, "do");
    if (what == "stop")
        return stop(request);
    if (what == "ping") {
        touch_lease(folder);
        return {};
    }
    if (what == "diagnose") {
        if (const auto status = folder.read_status(); status && status->state == "running")
            send_signal(status->supervisor, SIGUSR1);
        return {};
    }
    return Problem{
        ProblemCode::bad_input, "only stop, ping and diagnose may be asked while events are followed", {}, {}};
}

Expected<void> Session::tail(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    if (!folder.exists())
        return Problem{ProblemCode::not_found, "there is no such run on this node", {}, folder.path().string()};
    const std::string run = text_field(request, "run");
    const int node = static_cast<int>(integer_field(request, "node"));
    auto offset = static_cast<off_t>(std::max<int64_t>(0, integer_field(request, "offset")));
    const std::string expected = "{\"seq\":" + std::to_string(integer_field(request, "seq"));
    const double silence_s
        = number_field(request, "silence_s"); // a client that is silent for so long is gone; 0 = never
    const bool slurm = !folder.slurm_job().empty();
    touch_lease(folder);
    bool first = true;
    FileDescriptor file;
    FileWatch watch;
    watch.add(folder.path()); // the state is renamed into it
    std::string block, said_state;
    double said = 0;
    while (!closed_) {
        watch.drain();
        // The state is read before the file: lines written before an `ended` state are then always seen.
        const std::string state = folder.verdict();
        if (state == "lost-agent" || state == "lost-reboot" || (state == "prepared" && !prepared_)) {
            const auto closed = close_lost_run(folder, run, node);
            if (!closed && closed.error().code != ProblemCode::refused)
                return closed.error(); // refused: a supervisor is just starting
            if (closed)
                continue;
        }
        std::string hint;
        if (state == "queued" || state == "silent" || (slurm && state != "ended")) {
            FOURFOLD_TRY(hint, hint_of_slurm(folder, state));
        }
        if (!file.valid()) {
            if (auto opened = open_file(folder.file("events.jsonl"), O_RDONLY))
                file = std::move(*opened);
            if (file.valid())
                watch.add(folder.file("events.jsonl"));
        }
        std::size_t size = kTailBytes;
        ssize_t got = 0, whole = 0;
        while (file.valid()) {
            block.resize(size);
            got = pread(file.get(), block.data(), block.size(), offset);
            whole = got > 0 ? static_cast<ssize_t>(block.rfind('\n', static_cast<std::size_t>(got) - 1) + 1) : 0;
            if (whole > 0 || got < static_cast<ssize_t>(size) || size > 2 * kMaxEventLine)
                break;
            size *= 2; // one line longer than the block
        }
        if (whole > 0) {
            const std::string_view lines = std::string_view(block).substr(0, static_cast<std::size_t>(whole));
            if (first && (!lines.starts_with(expected) || lines[expected.size()] != ','))
                return Problem{ProblemCode::conflict, "the events on the node do not continue what is stored here",
                    "the run folder on the node was changed", folder.path().string()};
            first = false;
            if (!send({{"is", "lines"}, {"offset", offset}, {"state", state}}) || !send_data(lines))
                break;
            offset += whole;
        } else if (state == "ended") {
            const auto status = folder.read_status();
            (void)open_file(folder.file("followed"), O_WRONLY | O_CREAT); // it may be cleared away one day
            send({{"is", "end"}, {"state", state}, {"status", status ? status->status : "lost"}});
            return {};
        }
        if (const double now = monotonic_seconds(); now - said >= 1 || state != said_state) {
            said = now;
            said_state = state;
            Json beat = {{"is", "heartbeat"}, {"state", state}, {"hint", hint}, {"time", utc_now()}};
            if (state == "stopping") {
                const auto status = folder.read_status();
                beat["status"] = status ? status->status : "";
                beat["why"] = status ? status->why : "";
                beat["rank"] = status ? status->rank : -1;
            }
            send(beat);
        }
        // More of a file that is being caught up with follows at once.
        const bool behind = got >= static_cast<ssize_t>(size);
        auto frame = next_frame(behind ? 0 : whole > 0 ? kTailBatchMs : kTailPollMs, whole > 0 ? -1 : watch.fd());
        if (!frame) {
            closed_ = closed_ || (silence_s > 0 && monotonic_seconds() - heard_ > silence_s);
            continue;
        }
        const auto asked = parse_json(frame->payload, "request");
        FOURFOLD_CHECK(aside(frame->kind == FrameKind::json && asked ? *asked : Json(), folder));
    }
    return {};
}

} // namespace fourfold
