// SPDX-License-Identifier: GPL-3.0-or-later
// One process that has LibTorch loaded and forks the jobs of a test program, one after the other: loading takes a
// quarter of a second of a core, which most jobs here would spend twice.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fourfold::testing {

class JobServer {
public:
    // Starts `worker` --serve with one thread per rank; throws where it cannot be started.
    explicit JobServer(const std::filesystem::path& worker);
    ~JobServer(); // its process and what it forked end
    JobServer(const JobServer&) = delete;
    JobServer& operator=(const JobServer&) = delete;

    // Runs one job to its end: a process with these arguments and, added to this program's, these variables. Output
    // goes to `log`. False when it had to be ended after `limit`; the server is started anew for the next job then.
    bool run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
        const std::filesystem::path& log, std::chrono::seconds limit);

private:
    void start();
    void end();

    std::filesystem::path worker_;
    pid_t pid_ = -1;
    int socket_ = -1; // jobs go in, an answer to each comes out
};

} // namespace fourfold::testing
