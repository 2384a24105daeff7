// SPDX-License-Identifier: GPL-3.0-or-later
// How a run ends on this node, as far as it is known, and what is written of it: status.json and the last events.
#pragma once

#include "runner/agent/run/event_log.h"
#include "runner/agent/run/run_folder.h"

#include <optional>

namespace fourfold {

class RunEnd {
public:
    // All outlive it.
    RunEnd(const RunFolder& folder, const RunSpec& spec, EventLog& log);

    void decide(RunState status, std::string why = {}); // why it is not a rank's failure
    void decide(const StopRequest& request);
    void blame(int rank, RunState status, std::string why);
    // What the node itself found becomes an `error` event.
    void decide_here(RunState status, std::string why);
    void add(const std::string& why);

    [[nodiscard]] std::string status_text() const; // empty while it is not known
    [[nodiscard]] const std::string& why() const { return why_; }
    [[nodiscard]] int culprit() const { return culprit_; } // -1: no rank

    [[nodiscard]] Expected<void> write_status(const std::string& state) const;
    // The last events, the `end` among them, and the state "ended".
    void write();

private:
    const RunFolder& folder_;
    const RunSpec& spec_;
    EventLog& log_;
    dev_t disk_ = 0; // that the run folder is on
    int culprit_ = -1;
    std::optional<RunState> status_; // once it is known
    std::string why_;
    Json error_; // the `error` event of another node, or one that this node found
};

} // namespace fourfold
