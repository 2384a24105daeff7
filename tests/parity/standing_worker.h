// SPDX-License-Identifier: GPL-3.0-or-later
// A parity-worker that stands by: it has loaded LibTorch (a quarter of a second of a core) and forks a process for each
// job that it is given.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fourfold::testing {

class StandingWorker {
public:
    explicit StandingWorker(std::filesystem::path program);
    // Ends the worker, and with it what runs of its job.
    ~StandingWorker();
    StandingWorker(const StandingWorker&) = delete;
    StandingWorker& operator=(const StandingWorker&) = delete;

    // Runs `program` with these arguments and, beside this process's own, these variables; its output goes to `log`.
    // The exit status, or 128 + signal; -1 when it had to be killed after `limit`.
    int run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
        const std::filesystem::path& log, std::chrono::seconds limit);

private:
    void start();
    void end();

    std::filesystem::path program_;
    pid_t pid_ = -1;
    int line_ = -1;
};

} // namespace fourfold::testing
