// SPDX-License-Identifier: GPL-3.0-or-later
// A run's folder on a node, "<base>/runs/<id>[/node<k>]": who holds it, what state it is in, how it is laid out.
//   spec.json plan.json lock status.json stop.json events.jsonl rank<r>.jsonl rank<r>.log agent.log reserve bin/ data/
#pragma once

#include "core/base/json.h"
#include "core/history/run_state.h"
#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"
#include "runner/agent/system/trusted_path.h"
#include "runner/protocol/run_spec.h"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// Checks that `base` is an absolute folder of this user that nobody else may write, at a place to trust (see
// trusted_path.h), and the same of the folders that are always in it; creates them (0700).
Expected<std::filesystem::path> checked_base(const std::string& base, const GroupFolders& group_writable = {});

struct RunStatus {
    std::string state; // "running", "stopping", "ended"
    std::string status; // with "ended" and "stopping": "ok", "fail", ...
    std::string why;
    ProcessIdentity supervisor;
    std::string host; // where the supervisor runs: with Slurm another one than where the run is looked at
    double time_s = 0; // when it was written, by that host's clock
    int rank = -1; // the one that failed first, where one did
    int64_t events = 0; // with "ended": how many there were
};

// What the folder says of its run.
struct FolderLook {
    // "absent", "prepared", "queued" (in Slurm's queue), "running", "stopping", "ended", "lost-agent" (supervisor
    // gone), "lost-reboot", "silent" (its supervisor runs on another host, and has not written for a minute).
    std::string state;
    RunStatus status; // as far as it is known
};

// What the supervisor is told of a stop, in its request and in stop.json.
struct StopRequest {
    RunState status = RunState::cancelled;
    std::string why;
    Json error; // null, or the `error` event of another node's rank, which caused the stop
    double grace_s = 2;
    bool saves = false; // the ranks go well: they save a checkpoint first, whatever `status` is
};
Json to_json(const StopRequest& request);
StopRequest stop_request_from_json(const Json& json);

class RunFolder {
public:
    RunFolder(const std::filesystem::path& base, const std::string& run, int node);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }
    // Whether there is a run. A Problem (io) where that cannot be told: no permission, a disk error, a file in its
    // place.
    [[nodiscard]] Expected<bool> exists() const;

    Expected<void> create() const; // in a base folder that was checked, all 0700; fine when it exists
    // Its open events.jsonl has no name any more (another node of the run may have made the folder again, where they
    // share a file system), or there is nothing at its place and the disk that it was on is still there.
    [[nodiscard]] bool is_removed(int events, dev_t disk) const;
    // The exclusive lock that a supervisor holds as long as it lives; `refused` when somebody has it.
    [[nodiscard]] Expected<FileDescriptor> lock() const;

    Expected<void> write_spec(const RunSpec& spec) const;
    [[nodiscard]] Expected<RunSpec> read_spec() const;
    // Not durable on purpose (once a second); whoever reads it sees the old or the new one.
    [[nodiscard]] Expected<void> write_status(const RunStatus& status) const;
    // Nothing where none was written yet, or what is there is none; a Problem (io) where it cannot be read.
    [[nodiscard]] Expected<std::optional<RunStatus>> read_status() const;
    Expected<void> write_stop(const StopRequest& request) const;
    [[nodiscard]] std::optional<StopRequest> read_stop() const;

    // The Slurm job of the run, as the session or the first node wrote it; empty without one.
    [[nodiscard]] std::string slurm_job() const;

    // The `end` event decides whether a run has ended: status.json may be out of date (it could not be written), or not
    // the agent's. Only where the events are damaged a status that counts them is believed. A Problem (io) where the
    // folder cannot be read: then nothing is known.
    [[nodiscard]] Expected<FolderLook> look() const;
    [[nodiscard]] Expected<std::string> verdict() const; // its state

private:
    [[nodiscard]] std::optional<RunStatus> read_end() const;

    std::filesystem::path base_, path_;
};

// The shares of a run in this base folder: the first node's folder has those of others inside it where they share it.
std::vector<int> shares_of(const std::filesystem::path& base, const std::string& run);

} // namespace fourfold
