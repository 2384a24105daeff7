// SPDX-License-Identifier: GPL-3.0-or-later
// Sends a client the events and the state of a run's share on this node, until its end: the answer to `tail`.
#pragma once

#include "runner/agent/run/event_tail.h"
#include "runner/agent/slurm/job_watch.h"
#include "runner/agent/supervision/run_watch.h"
#include "runner/agent/system/file_watch.h"

#include <functional>
#include <optional>
#include <string>

namespace fourfold {

class RunTail {
public:
    // Sends a message, and data after it where there is some; false when the client is gone.
    using Send = std::function<bool(const Json& message, std::string_view data)>;
    // From event `seq`, which the client expects at `offset` of the file.
    RunTail(const RunFolder& folder, std::string run, int node, int64_t offset, int64_t seq, Send send);

    struct Turn {
        bool ended = false; // the end was sent
        bool sent = false; // events were
        bool behind = false; // more of them follows at once
    };
    // Sends what is new, never waits. A Problem: there is no such run, or nothing can tell how it ended.
    // `is_prepared`: this session has prepared it and may still start it.
    Expected<Turn> turn(bool is_prepared);
    // To poll for input: something may be new. -1 where the kernel does not tell.
    [[nodiscard]] int changed() const { return files_.fd(); }

    // What the client asks meanwhile; the session carries the stop out.
    void asked_to_stop(const StopRequest& stop) { stop_ = stop; }
    void followed();
    void diagnose();
    void say_it_goes_on(); // at most once a second, while something takes long

private:
    RunLook look(bool is_prepared);
    Expected<EventTail::Part> read(RunLook& look);
    Expected<bool> end(const RunLook& look);
    void beat(const RunLook& look, const std::string& hint);

    RunFolder folder_;
    std::string run_;
    int node_;
    Send send_;
    RunWatch watch_;
    JobWatch job_;
    EventTail events_;
    FileWatch files_;
    bool slurm_ = false;
    std::optional<StopRequest> stop_;
    std::string said_state_, said_note_;
    double said_ = 0, locked_since_ = 0, unreadable_since_ = 0; // monotonic; 0 = not
    double closing_tried_ = 0, unclosed_since_ = 0;
    std::optional<Problem> unclosed_; // why a run that nobody watches any more has no end yet
    int alive_ = 0; // processes of it
    bool never_ran_ = false;
    std::string unreadable_; // why the events of a run that has ended could not be read to their end
};

} // namespace fourfold
