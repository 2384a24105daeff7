// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's own programs, as the agent on a login or compute node calls them. Works without sacct and without --json.
// What Slurm says is a hint: the run folder is the truth.
#pragma once

#include "core/base/expected.h"
#include "core/history/run_state.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

struct SlurmJob {
    std::string
        state; // "PENDING", "RUNNING", "COMPLETED", "NODE_FAIL" ...; empty = Slurm does not know the job any more
    std::string reason; // why it waits: "Resources"
    std::string nodes; // "n[1-4]"
    bool preempted = false; // scontrol names a time of preemption
    int restarts = 0; // how often it was queued again
    long long end_time = 0; // when it ends or will end (Unix time); 0 = not known
    bool answered = false; // false: slurmctld did not answer, nothing is known
};

// What one of Slurm's programs printed and how it ended.
struct SlurmAnswer {
    int status = -1; // exit status; -1 = not started or too late
    std::string text; // both outputs
};
bool has_slurm_program(const std::string& name);
SlurmAnswer ask_slurm(const std::vector<std::string>& words); // the program's name and its arguments

// The job's number. Fails with what sbatch printed.
Expected<std::string> submit_job(const std::filesystem::path& script, const std::filesystem::path& folder);
// scontrol, then squeue.
SlurmJob look_at_job(const std::string& job);
void cancel_job(const std::string& job);
// The same for this user's jobs that were submitted in `folder`, for when it cannot be read any more; their numbers.
std::vector<std::string> cancel_jobs_in(const std::filesystem::path& folder);

// States after which a job runs no more.
bool is_final(const std::string& state);
// The status of a run that Slurm ended in this state: "preempted", "cancelled", "lost" (NODE_FAIL, BOOT_FAIL), "oom",
// "fail" (TIMEOUT and the rest); and the words for people.
RunState status_of_state(const std::string& state);
std::string words_of_state(const std::string& state);

// "PENDING|Resources|n[1-2]" as `squeue -h -o %T|%r|%N` prints it; "JobState=... Reason=..." of `scontrol -o show job`.
SlurmJob parse_squeue(const std::string& text);
SlurmJob parse_scontrol(const std::string& text);

} // namespace fourfold
