// SPDX-License-Identifier: GPL-3.0-or-later
// The way from a session to the supervisor of a run on the same node that needs no file: a local socket whose name is
// the user and the run folder, and which serves that user (and root) alone. It tells a supervisor that is busy or far
// from one that is hung, and finds it whatever became of the run folder.
//   {"do": "look"}                     state, status, why, rank, events (its descriptor of events.jsonl), to_save_s
//                                      (what a stop that saves a checkpoint would take)
//   {"do": "stop", status, why, ...}   the same, when the ranks were told
//   {"do": "diagnose"}                 the same; the findings are an event
//   {"do": "followed"}                 the same; the lease is renewed
#pragma once

#include "core/base/json.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"

#include <poll.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

namespace fourfold {

// The supervisor's end.
class SupervisorDoor {
public:
    // Nobody can ask a supervisor whose door could not be opened (another user has taken its name): it is then reached
    // through the run folder alone.
    static std::optional<SupervisorDoor> open(const std::filesystem::path& run_folder);

    void add_to(std::vector<pollfd>& waiting) const;
    // Answers what was asked meanwhile, without waiting.
    void serve(const std::function<Json(const Json& request)>& answer);

private:
    explicit SupervisorDoor(FileDescriptor listener)
        : listener_(std::move(listener))
    {
    }

    FileDescriptor listener_;
    std::vector<FileDescriptor> visitors_;
};

// A session's end.
class SupervisorLine {
public:
    explicit SupervisorLine(std::filesystem::path run_folder)
        : run_folder_(std::move(run_folder))
    {
    }

    // Takes what the supervisor has answered and asks it how it is, once a second. Never waits.
    void look();
    // Tells it that the client lives.
    void followed();
    void diagnose(); // the findings are an event
    // Asks and waits for the answer; nothing when none came in time or there is no supervisor.
    std::optional<Json> ask(const Json& request, std::chrono::milliseconds timeout);

    // There is a supervisor (as of the last look or question).
    [[nodiscard]] bool connected() const { return fd_.valid(); }
    [[nodiscard]] const ProcessIdentity& supervisor() const { return supervisor_; } // while connected
    // Seconds since the oldest question that it has not answered; 0 when there is none.
    [[nodiscard]] double silence() const;
    [[nodiscard]] const Json& said() const { return said_; } // its last answer; null before
    // Opens the supervisor's events.jsonl, also when that file has no name any more.
    [[nodiscard]] FileDescriptor open_events() const;

private:
    bool connect();
    bool send(const Json& request);
    bool take(); // true when an answer came

    std::filesystem::path run_folder_;
    FileDescriptor fd_;
    ProcessIdentity supervisor_;
    Json said_;
    int unanswered_ = 0;
    double asked_ = 0, tried_ = 0; // monotonic
};

} // namespace fourfold
