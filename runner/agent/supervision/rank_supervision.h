// SPDX-License-Identifier: GPL-3.0-or-later
// The life of a node's ranks within their supervisor: started together, watched, stopped together, ended with a word.
#pragma once

#include "runner/agent/ranks/rank_log.h"
#include "runner/agent/ranks/rank_process.h"
#include "runner/agent/run/event_log.h"
#include "runner/agent/run/lease.h"
#include "runner/agent/run/run_folder.h"
#include "runner/agent/supervision/culprit.h"
#include "runner/agent/supervision/node_causes.h"
#include "runner/agent/supervision/run_end.h"
#include "runner/agent/supervision/stall_watch.h"
#include "runner/agent/supervision/supervisor_door.h"
#include "runner/agent/system/file_watch.h"

#include <map>
#include <optional>
#include <vector>

namespace fourfold {

// Real blocks that the events get when the disk is full.
inline constexpr std::size_t kReserveBytes = 1u << 20;

class RankSupervision {
public:
    // `folder` and `spec` outlive it. `environment` is what the prelude left.
    // Its door (runner/agent/supervision/supervisor_door.h) is open from here on.
    RankSupervision(const RunFolder& folder, const RunSpec& spec, EventLog log, Environment environment);

    Expected<void> start_ranks(const Rendezvous& rendezvous);
    // Until every rank has ended and nothing of them is left. `signal_fd` gives SIGCHLD, SIGTERM and SIGINT (look for a
    // stop request) and SIGUSR1 (report what the ranks are doing).
    void run(int signal_fd);

private:
    [[nodiscard]] bool finished() const;
    void report(const std::string& state);
    void wait_for_work(int signal_fd);
    void reap();
    void read_logs();
    void look_for_stop(bool signalled);
    void take_stop(const StopRequest& request);
    [[nodiscard]] Json answer(const Json& request);
    void look_at_lease();
    void watch_progress();
    [[nodiscard]] Json say_stalled();
    void end_as_hung();
    void stop_for_full_disk();
    void judge_failures();
    void say(const Culprit& culprit);
    void begin_stop(double grace_s);
    void give_time_to_save(); // after begin_stop()
    [[nodiscard]] double time_to_save() const; // seconds
    [[nodiscard]] bool look_for_life();
    [[nodiscard]] bool still_saves(double now);
    void end_leftovers();
    void finish();

    const RunFolder& folder_;
    const RunSpec& spec_;
    EventLog log_;
    Environment environment_;
    EventMerge merge_;
    StallWatch watch_;
    std::map<pid_t, RankPlace> running_;
    std::map<int, RankLog> logs_;
    FileWatch written_; // the ranks' event files
    std::optional<SupervisorDoor> door_;
    std::map<pid_t, uint64_t> bytes_moved_;
    std::map<int, uint64_t> collectives_;
    std::vector<RankExit> failures_; // in the order of their ends
    int64_t steps_seen_ = 0, events_seen_ = 0;
    double first_failure_ = 0, kill_at_ = 0, killed_at_ = 0, save_until_ = 0, reported_ = 0, looked_ = 0, watched_ = 0;
    Lease lease_;
    NodeCauses causes_;
    RunEnd end_;
    bool stopping_ = false, tree_empty_ = true, gave_up_ = false, log_warned_ = false, status_warned_ = false;
};

} // namespace fourfold
