// SPDX-License-Identifier: GPL-3.0-or-later
// The client's side of a session with one agent: typed requests over a byte stream. Used by one thread at a time.
#pragma once

#include "core/base/json.h"
#include "core/history/run_state.h"
#include "runner/protocol/frame.h"
#include "runner/protocol/piece_source.h"
#include "runner/protocol/run_spec.h"
#include "runner/protocol/transport.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace fourfold {

struct NodeGpu {
    std::string name;
    double memory_gib = 0; // 0 = unknown
};

// What an agent says about its node.
struct NodeFacts {
    std::string hostname, os, kernel, arch, glibc, boot_id;
    int cores = 0;
    double memory_gib = 0, memory_available_gib = 0, disk_free_gib = 0;
    std::vector<NodeGpu> gpus;
    std::string driver; // NVIDIA driver version, empty without one
    std::string address; // numeric address under which SSH reached the node; empty for this computer
    std::string base; // absolute folder of Fourfold on the node
    Json interfaces; // runner/protocol/interfaces.h
    Json document; // all of it, for the run's `start` event
};

// A file a run needs on the node.
struct WantedFile {
    std::string sha256;
    uint64_t size = 0;
    std::vector<std::string> candidates; // places on the node that may hold it already
    std::string library; // its name when it may be looked for among the node's own libraries: "libtorch_cpu.so"
};
struct FoundFile {
    std::string sha256, path; // path empty = in the node's store
};
struct HaveAnswer {
    std::vector<FoundFile> found;
    std::vector<std::string> missing; // sha256
};

struct PutResult {
    enum State { stored, present, busy } state = stored;
    // With `busy`, as another session is sending the file: the bytes so far, and who it is where that is known.
    uint64_t there = 0;
    std::string sender;
    friend bool operator==(const PutResult& result, State state) { return result.state == state; }
};
struct PutWay {
    bool chain = false; // the node hands the file on
    bool beside = false; // another session that is sending the file is not waited for
};

struct Prepared {
    std::string folder; // run folder on the node
    int port = 0; // free port for the rendezvous; first node only
};

// What a tail says.
struct TailMessage {
    enum class Kind { lines, skipped, heartbeat, end, nothing } kind = Kind::nothing;
    std::string lines; // whole lines, each with its newline
    int64_t offset = 0; // of the first byte of `lines`, or of what was skipped, in the node's file
    int64_t bytes = 0; // that were skipped; with `end`: of a last line that was cut
    std::string state; // of the run on the node: "running", "stopping", "ended", "hung", "unknown" ...
    std::string hint; // with a heartbeat: what Slurm says of the job
    std::string note; // what is wrong on the node, or what was done there, for a person; empty while nothing is
    std::string status; // with `end`, and with a heartbeat of a stopping run: "ok", "fail", ... "lost"
    std::string why; // of a stopping run, and with `end`
    int rank = -1; // of a stopping run: the rank that failed first, where one did
};

// Further bytes of a file that the node has now; false: it had them before.
using PutProgress = std::function<void(uint64_t bytes, bool sent)>;

class AgentClient {
public:
    AgentClient(std::unique_ptr<ByteStream> stream, std::string host);

    // `base` as in the target: empty = the node's default, "~/..." = from the node's home.
    // `group_writable`: folders on the way there that their group may write.
    Expected<NodeFacts> hello(const std::string& base, const std::vector<std::string>& group_writable = {});
    // The node may hash for minutes: a stop ends the waiting, and with it the use of this link. So with put and
    // prepare.
    Expected<HaveAnswer> have(const std::vector<WantedFile>& files, const std::stop_token& stop = {});
    // Sends a file of this computer from where the node's own copy ends; `there` gets that part and each piece sent.
    // `pieces` are shared between nodes.
    Expected<PutResult> put(const std::filesystem::path& file, const std::string& sha256, uint64_t size,
        PieceSource& pieces, PutWay way, std::stop_token stop, const PutProgress& there);
    // Lets the node take files from another one under `address`, and hand them on to `next`; its port.
    Expected<int> relay(const std::string& address, const std::string& token, const Json& next);
    // Makes the node hand on files to the next one, which relays: {address, port, token}.
    Expected<void> chain(const Json& next);
    Expected<Prepared> prepare(const RunSpec& spec, const std::stop_token& stop = {});
    // `secrets` (name: value) reach the ranks' environment and are stored nowhere.
    // `token` (runner/net/proof.h) is what the ranks of all nodes know each other by.
    Expected<void> start(const std::string& run, int node, const std::string& master_address, int master_port,
        const std::string& token, const Json& secrets = Json::object());
    // Submits a Slurm job: specs of all nodes, the token of its ranks, and the script with @AGENT@ and @FOLDER@ for the
    // agent to fill in.
    Expected<std::string> submit(
        const std::vector<RunSpec>& specs, const std::string& token, const std::string& script);
    // Runs of the node whose id begins with `run` (or the newest for "last"), newest first, and when it is one what
    // each of its shares there needs to be followed.
    struct FoundRuns {
        std::vector<std::string> runs, states;
        std::vector<RunSpec> specs;
    };
    Expected<FoundRuns> find(const std::string& run);
    // The last attempt of a requeued job (0 = the first), and what Slurm says of it.
    struct Attempts {
        int last = 0;
        std::string state, reason; // empty state: Slurm does not know the job any more
        bool answered = false;
    };
    Expected<Attempts> attempts(const std::string& run);
    // From `offset` (bytes of whole lines that the client has) where event `seq` must begin. The node closes the
    // session when it hears nothing from here for `silence_s` (tail_next() sends pings each second).
    Expected<void> tail(const std::string& run, int node, int64_t offset, int64_t seq, double silence_s);
    Expected<TailMessage> tail_next(std::chrono::milliseconds timeout);
    // Asks for a stop of this node's ranks; allowed while a tail runs (then the tail goes on to its end).
    // `status` and `error` (may be null) are what the node's `end` and `error` events say.
    Expected<void> stop(
        const std::string& run, int node, RunState status, const std::string& why, const Json& error, double grace_s);
    // What a node did to stop its ranks beyond telling its agent, in words; of the last stop that was answered.
    [[nodiscard]] const std::string& stop_note() const { return stop_note_; }
    // Asks what the ranks are doing, while a tail runs: the answer is an event of the node.
    Expected<void> diagnose(const std::string& run, int node);
    Expected<Json> status(const std::string& run, int node);
    // All events of the run, which has ended, are stored on this computer: the node may clear its folder one day.
    Expected<void> kept(const std::string& run, int node);
    Expected<int> sweep(const std::string& run, int node);
    // The last `max_bytes` of a log of the run folder.
    Expected<std::string> fetch(const std::string& run, int node, const std::string& name, uint64_t max_bytes);

    // What stands in the way of `ranks` ranks (the findings of runner/agent/checks/node_checks.h), and speeds when
    // asked for. `target`: what of it is looked at as well: "slurm" (partition, nodes, time and gres), "container" (the
    // image) and "prelude" (whether there is one).
    Expected<Json> probe(int ranks, bool on_gpus, bool speed, const Json& target = Json::object());
    // How far the node's clock is ahead of this computer's, in seconds, and half the round trip that it took to ask.
    struct ClockSkew {
        double ahead_s = 0, uncertainty_s = 0;
    };
    Expected<ClockSkew> clock_skew();
    // Clears the base folder (runner/agent/files/garbage.h), and names or ends what lives without a run (strays.h).
    Expected<Json> clear(double older_than_s, bool dry_run, bool end_processes = false);
    // Lets the other nodes probe this one under `address`; its port.
    Expected<int> listen(const std::string& address, const std::string& token);
    // Ends that.
    Expected<void> unlisten();
    // Probes another node (the object of runner/agent/node/network_probe.h).
    // `brief`: with few and small messages.
    Expected<Json> reach(const std::string& address, int port, const std::string& token, double timeout_s, bool speed,
        bool brief = false);

    // The node answers.
    Expected<void> check_link();
    // The stream broke, or nothing answered: what failed may go on through a new session.
    [[nodiscard]] bool link_lost() const { return link_lost_; }

    [[nodiscard]] uint64_t bytes_written() const { return stream_->bytes_written(); }
    [[nodiscard]] uint64_t bytes_read() const { return bytes_read_; }
    [[nodiscard]] const std::string& host() const { return host_; }

private:
    Expected<void> write(std::string_view frame);
    Expected<void> send(const Json& request);
    // `pings`: a tail runs, so the node must hear of us however long the frame takes.
    Expected<Frame> receive(std::chrono::milliseconds timeout, bool pings = false, const std::stop_token& stop = {});
    Expected<void> ping();
    Expected<std::optional<Frame>> receive_within(std::chrono::milliseconds timeout);
    Expected<Json> reply(const char* expected, std::chrono::milliseconds timeout, const std::stop_token& stop = {});
    Expected<Json> parse(const Frame& frame, const char* expected);
    // Of a reply; fails when it is not from `least` to 65535.
    [[nodiscard]] Expected<int> port_of(const Json& json, int least) const;
    [[nodiscard]] Problem unexpected(const std::string& is, const char* expected) const;

    std::unique_ptr<ByteStream> stream_;
    FrameParser parser_;
    std::string host_;
    std::chrono::steady_clock::time_point pinged_; // while a tail runs
    uint64_t bytes_read_ = 0;
    int unanswered_stops_ = 0;
    std::string stop_note_;
    bool link_lost_ = false;
};

} // namespace fourfold
