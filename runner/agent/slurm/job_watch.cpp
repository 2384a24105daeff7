// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/job_watch.h"

#include "core/base/text.h"
#include "runner/agent/run/event_merge.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/supervision/supervisor.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fourfold {

namespace {

constexpr double kLateSeconds = 10; // an answer that takes longer is told to be missing
constexpr double kUntilCancelled = 20; // seconds, beyond the grace of the ranks
constexpr int kOutputLines = 5; // of each file
constexpr std::size_t kOutputBytes = 1000;

// The last lines of what the batch script and srun's tasks printed, the script's first: why nothing of ours ran.
std::string job_output(const std::filesystem::path& place)
{
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
        if (entry.path().extension() == ".log")
            files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::string out;
    for (const auto& file : files) {
        for (const Json& line : last_log_lines(file, kOutputLines)) {
            if (line.is_string() && out.size() < kOutputBytes)
                out += (out.empty() ? "" : " | ") + printable(line.get<std::string>(), kOutputBytes);
        }
    }
    return out.substr(0, kOutputBytes);
}

} // namespace

Expected<std::string> JobWatch::look(const RunFolder& folder, const std::string& state)
{
    const double between = state == "queued" || state == "silent" ? 3 : 30; // slurmctld serves a whole cluster
    const double now = monotonic_seconds();
    if (!question_.is_open() && (looked_ == 0 || now - looked_ >= between)) {
        looked_ = now;
        question_.ask(folder.slurm_job());
    }
    const auto said = question_.answer();
    const bool late = question_.is_open() && now - looked_ > kLateSeconds;
    if (late || (said && !said->answered))
        hint_ = "Slurm does not answer";
    if (!said || !said->answered)
        return hint_;
    const SlurmJob& job = *said;
    hint_ = job.state + (job.reason.empty() ? "" : " (" + job.reason + ")");
    // A job that waits again while its run folder is silent was taken from its nodes without a word.
    const bool requeued = state == "silent" && job.state.starts_with("PENDING");
    const bool over = job.state.empty() || is_final(job.state) || requeued;
    over_ = over ? over_ + 1 : 0;
    // Twice, as the run folder may lag behind; a job that ran writes its end itself unless it was lost.
    if (over_ < 2 || (state != "queued" && state != "silent" && over_ < 5))
        return hint_;
    const std::string end = requeued ? "PREEMPTED" : job.state;
    RunState status = status_of_state(end);
    std::string why = words_of_state(end);
    if (const std::string output = job_output(folder.file("slurm")); status == RunState::lost && !output.empty())
        why += "; the job's output ends with: " + output;
    if (status == RunState::lost && state == "queued" && !job.state.empty())
        status = RunState::fail; // no rank was started: nothing is lost
    FOURFOLD_CHECK(close_lost_run(folder, folder.path().filename().string(), 0, status, why));
    return hint_;
}

std::string JobWatch::press(const RunFolder& folder, const std::string& state, double grace_s)
{
    const double now = monotonic_seconds();
    if (told_ == 0) {
        told_ = now;
        const auto spec = folder.read_spec();
        save_s_ = spec && spec->saves ? spec->limits.save_s : 0;
    }
    const double saves_s = state == "stopping" ? save_s_ : 0;
    if (now - told_ > grace_s + saves_s + kUntilCancelled && !std::exchange(cancelled_, true))
        cancel_job(folder.slurm_job());
    return cancelled_ ? "its agents did not end the ranks: Slurm was told to end job " + folder.slurm_job() : "";
}

} // namespace fourfold
