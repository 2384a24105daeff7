// SPDX-License-Identifier: GPL-3.0-or-later
// A real Slurm on this computer: one slurmctld, several slurmd on ports of their own, its own munged; nothing of the
// machine's configuration.
#pragma once

#include "tests/runner/support.h"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::test {

// Empty when a Slurm can be run here, else why not (for GTEST_SKIP).
std::string why_no_slurm();

class SlurmCluster {
public:
    explicit SlurmCluster(int nodes);
    SlurmCluster(const SlurmCluster&) = delete;
    SlurmCluster& operator=(const SlurmCluster&) = delete;
    ~SlurmCluster();

    // Waits until every node is idle; false with a printed reason otherwise.
    bool start();
    void kill_controller();
    // Waits until the controller has written down that the job runs: one that is killed before (within some 5 s of a
    // change) forgets the job, drains its nodes and gives its number to the next one.
    [[nodiscard]] bool job_is_saved() const;
    void start_controller();
    // Runs one of Slurm's programs; its output.
    [[nodiscard]] std::string run(const std::string& command) const;
    // The only job that is not over; empty when there is none.
    [[nodiscard]] std::string job() const;

private:
    void write_configuration() const;
    pid_t spawn(const std::vector<std::string>& words, const std::string& log) const;

    PlainFolder plain_;
    const std::filesystem::path& folder_ = plain_.path();
    int nodes_, port_ = 0;
    pid_t munged_ = 0, controller_ = 0;
    std::vector<pid_t> daemons_;
};

} // namespace fourfold::test
