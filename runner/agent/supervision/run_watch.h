// SPDX-License-Identifier: GPL-3.0-or-later
// What a session knows of a run's share on this node, from the three that can tell: its folder, its supervisor, its
// processes. A folder that cannot be read is no run that has ended.
#pragma once

#include "runner/agent/run/run_folder.h"
#include "runner/agent/supervision/supervisor_door.h"

#include <optional>
#include <string>

namespace fourfold {

struct RunLook {
    // As FolderLook::state; "hung": its supervisor lives and does not answer; "unknown": the folder cannot be read,
    // and there is no supervisor that could tell.
    std::string state;
    std::string note; // what is wrong, for a person; empty while nothing is
    std::string status, why; // of a stopping or ended run
    int rank = -1; // of a stopping run: the one that failed first, where one did
    int alive = -1; // processes of the run; counted only where neither folder nor supervisor tells
};

class RunWatch {
public:
    // `known`: there was a run here, so that a folder that is missing for a moment is waited for.
    RunWatch(const RunFolder& folder, std::string run, int node, bool known);

    RunLook look();
    SupervisorLine& line() { return line_; }

private:
    RunLook look_without_folder(const std::optional<Problem>& unread);
    void take_said(RunLook& out) const; // what the supervisor answered last
    bool still_writes(const RunStatus& status);
    int alive();

    RunFolder folder_;
    std::string run_;
    int node_;
    SupervisorLine line_;
    double missing_since_ = 0, counted_ = 0; // monotonic
    bool known_;
    int alive_ = 0;
    std::optional<double> written_; // the time in the status file of a supervisor on another host
    double written_seen_ = 0; // when it last changed, by this host's clock (monotonic)
};

// "its agent (process 17) does not answer (a signal stopped it)"
std::string words_of_silence(const ProcessIdentity& supervisor);

} // namespace fourfold
