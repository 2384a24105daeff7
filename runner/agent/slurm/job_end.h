// SPDX-License-Identifier: GPL-3.0-or-later
// When a job whose time limit comes near has to be stopped, so that its ranks still save a checkpoint. Slurm gives a
// sign early (`sbatch --signal`); how early is early enough shows only while the run goes on.
#pragma once

#include "runner/agent/slurm/job_question.h"

#include <string>

namespace fourfold {

class JobEnd {
public:
    explicit JobEnd(std::string job)
        : job_(std::move(job))
    {
    }
    // Slurm's sign. Before it Slurm is asked nothing.
    void warned() { is_warned_ = true; }
    [[nodiscard]] bool is_warned() const { return is_warned_; }
    // Whether Slurm has just said that no more than `needed_s` seconds are left. It is asked again now and then, as
    // limits are moved, and the more often the nearer the end is; it is not waited for.
    [[nodiscard]] bool is_near(double needed_s);

private:
    std::string job_;
    JobQuestion question_;
    bool is_warned_ = false;
    double ask_at_ = 0; // monotonic
};

} // namespace fourfold
