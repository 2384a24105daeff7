// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold-agent session`: answers requests on standard input until it ends. No run that it starts dies with it. The
// node before this one in a chain of uploads gets a session too, which takes files and nothing else.
#pragma once

#include "core/base/json.h"
#include "runner/agent/files/chain.h"
#include "runner/agent/files/installed_files.h"
#include "runner/agent/files/store.h"
#include "runner/agent/node/network_probe.h"
#include "runner/agent/ranks/prelude.h"
#include "runner/agent/run/run_folder.h"
#include "runner/protocol/frame.h"

#include <functional>
#include <memory>
#include <optional>

namespace fourfold {

class RunTail;

class Session {
public:
    Session(int in, int out);
    // Until the peer closes its end; the process's exit status.
    int run();
    // For the node before this one: takes files into the store of `base` and hands them on to `next`.
    int take_files(
        const std::filesystem::path& base, const GroupFolders& group_writable, const std::optional<ChainLink>& next);

private:
    struct Prepared {
        RunFolder folder;
        RunSpec spec;
        FileDescriptor lock, listener; // the rendezvous, of the first node
        Prelude prelude;
    };

    // The wire. A broken output or a malformed input ends the session.
    bool send(const Json& reply);
    bool send_data(std::string_view bytes);
    // Waits up to `timeout_ms` (-1 = as long as a silent client is believed in), or until `also` can be read; nothing
    // when none came, `closed_` when the peer is gone.
    std::optional<Frame> next_frame(int timeout_ms, int also = -1);

    void handle(const Json& request);
    // Each answers its request itself, or returns what is wrong.
    Expected<void> hello(const Json& request);
    Expected<void> have(const Json& request);
    Expected<void> put(const Json& request);
    Expected<void> chain(const Json& request);
    Expected<void> relay(const Json& request);
    Expected<void> prepare(const Json& request);
    Expected<void> start(const Json& request);
    Expected<void> tail(const Json& request);
    Expected<void> stop(const Json& request, const std::function<void()>& meanwhile);
    Expected<void> status(const Json& request);
    Expected<void> sweep_run(const Json& request);
    Expected<void> fetch(const Json& request);
    Expected<void> submit(const Json& request);
    Expected<void> attempts(const Json& request);
    Expected<void> find(const Json& request);
    Expected<void> probe(const Json& request);
    Expected<void> clock();
    Expected<void> clear(const Json& request);
    Expected<void> listen(const Json& request);
    Expected<void> unlisten();
    Expected<void> reach(const Json& request);
    // While events are followed: stop, ping, diagnose.
    Expected<void> aside(const Json& request, RunTail& tail);

    // Both say what was done beyond telling the agents, in words.
    Expected<std::string> stop_share(const RunFolder& folder, const std::string& run, int node, const StopRequest& stop,
        const std::function<void()>& meanwhile);
    Expected<std::string> stop_job(const RunFolder& folder, const StopRequest& stop);
    [[nodiscard]] Expected<RunFolder> folder_of(const Json& request) const;

    int in_, out_;
    FrameParser parser_;
    bool closed_ = false;
    double heard_; // when the client was last heard (monotonic)
    std::filesystem::path base_; // empty before hello
    GroupFolders group_writable_;
    std::unique_ptr<Store> store_;
    InstalledFiles installed_;
    std::unique_ptr<Prepared> prepared_;
    std::unique_ptr<ServerProcess> probe_server_;
    std::unique_ptr<ServerProcess> relay_server_;
    std::optional<Downstream> next_; // node of the chain
    bool files_only_ = false;
};

} // namespace fourfold
