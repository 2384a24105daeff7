// SPDX-License-Identifier: GPL-3.0-or-later
// What Slurm says of a job, asked by a process of its own: slurmctld may take many seconds, and who follows a run has
// to go on giving signs of life.
#pragma once

#include "core/base/file_descriptor.h"
#include "runner/agent/slurm/slurm_commands.h"

#include <sys/types.h>

#include <optional>
#include <string>

namespace fourfold {

class JobQuestion {
public:
    JobQuestion() = default;
    JobQuestion(const JobQuestion&) = delete;
    JobQuestion& operator=(const JobQuestion&) = delete;
    ~JobQuestion();
    // One question at a time: nothing while one is open.
    void ask(const std::string& job);
    [[nodiscard]] bool is_open() const { return process_ > 0; }
    // Once for each question, as soon as it is known; never waits. Not `answered` where the process died.
    std::optional<SlurmJob> answer();

private:
    void close();

    pid_t process_ = 0;
    FileDescriptor answer_;
    std::string text_;
};

} // namespace fourfold
