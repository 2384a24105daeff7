// SPDX-License-Identifier: GPL-3.0-or-later
// Processes of this node. One is identified by (pid, start time, boot id), never by its name.
#pragma once

#include "core/base/json.h"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

struct ProcessIdentity {
    pid_t pid = 0;
    long long start_time = 0; // clock ticks since boot, field 22 of /proc/<pid>/stat
    std::string boot_id;
};

std::string boot_id();
// -1 when there is no such process.
long long start_time(pid_t pid);
ProcessIdentity own_identity();
bool is_alive(const ProcessIdentity& process);
// Signals exactly that process (through a pidfd where the kernel has them); false when it is gone.
bool send_signal(const ProcessIdentity& process, int signal);

// -1 when there is no such process.
pid_t parent_of(pid_t pid);
// A signal (SIGSTOP) or a debugger has stopped it.
bool is_stopped(pid_t pid);

// Everything below `root` in the process tree, without `root`.
std::vector<pid_t> descendants(pid_t root);

// Kills (SIGKILL) every process whose environment carries FOURFOLD_RUN=<run> and FOURFOLD_NODE=<node>, until none is
// found; waits at most `seconds` for them to go. Returns how many were found first.
int sweep(const std::string& run, int node, double seconds = 5);
// A process that carries FOURFOLD_RUN, FOURFOLD_NODE and FOURFOLD_FOLDER: a rank, or what one has started.
struct RunProcess {
    ProcessIdentity identity;
    std::string run;
    int node = 0;
    std::string folder; // the run folder
};
// Every such process on this node that this user may look at.
std::vector<RunProcess> run_processes();
// Other processes that have this file open.
std::vector<ProcessIdentity> holders_of(const std::filesystem::path& file);
// How many such processes there are.
int count_of_run(const std::string& run, int node);

std::string processes_text(int count); // "1 process", "2 processes"

double monotonic_seconds();

} // namespace fourfold
