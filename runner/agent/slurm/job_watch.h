// SPDX-License-Identifier: GPL-3.0-or-later
// A run of a Slurm job as it is followed from outside. What Slurm says becomes an end only when the job is over, or
// unknown to a Slurm that answers: then nobody else will write one.
#pragma once

#include "runner/agent/run/run_folder.h"
#include "runner/agent/slurm/job_question.h"

#include <string>

namespace fourfold {

class JobWatch {
public:
    // What Slurm said of the job last. It is asked every few seconds while nothing is heard of the run, and not waited
    // for; the first node's share is closed where the job is over. `state`: what the folder says.
    Expected<std::string> look(const RunFolder& folder, const std::string& state);
    // The agents were told to end the ranks: where they do not within `grace_s` and 20 s more Slurm ends the job. Says
    // so when it does. Agents that answer (`state`, as the folder says) wait for ranks that save a checkpoint.
    std::string press(const RunFolder& folder, const std::string& state, double grace_s);

private:
    JobQuestion question_;
    double looked_ = 0, told_ = 0; // monotonic
    double save_s_ = 0;
    int over_ = 0; // looks in a row that found the job over
    bool cancelled_ = false;
    std::string hint_;
};

} // namespace fourfold
