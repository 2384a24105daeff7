// SPDX-License-Identifier: GPL-3.0-or-later
// The session's requests about a Slurm job: lay its run folder out, submit it, follow it from outside.
#include "core/base/text.h"
#include "runner/agent/event_merge.h"
#include "runner/agent/lay_out.h"
#include "runner/agent/session.h"
#include "runner/agent/slurm_commands.h"
#include "runner/agent/slurm_node.h"
#include "runner/agent/supervisor.h"
#include "runner/net/proof.h"
#include "runner/protocol/attempt.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace fourfold {

namespace {

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

// {"specs": one a node, "token", "script"}: the run folder with everything that the job needs; the answer is the job's
// number. Idempotent by the run's id: a run that was submitted is not submitted again.
Expected<void> Session::submit(const Json& request)
{
    const Json& specs = array_field(request, "specs");
    FOURFOLD_TRY(const RunSpec first, run_spec_from_json(specs.empty() ? Json::object() : specs[0]));
    const RunFolder folder(base_, first.run, 0);
    FOURFOLD_CHECK(folder.create());
    if (const std::string job = folder.slurm_job(); !job.empty()) {
        send({{"is", "submitted"}, {"job", job}, {"folder", folder.path().string()}});
        return {};
    }
    const auto place = folder.file("slurm");
    FOURFOLD_CHECK(make_trusted_folders(folder.path(), "slurm"));
    for (std::size_t k = 0; k < specs.size(); ++k) {
        FOURFOLD_TRY(const RunSpec spec, run_spec_from_json(specs[k]));
        if (spec.run != first.run || spec.node != static_cast<int>(k))
            return Problem{ProblemCode::bad_input, "the specs of a job do not belong together", {}, {}};
        FOURFOLD_CHECK(write_file_atomically(place / ("spec" + std::to_string(k) + ".json"), to_wire(specs[k])));
    }
    const std::string token = text_field(request, "token");
    if (!is_token(token))
        return Problem{ProblemCode::bad_input, "the run has no token", {}, folder.path().string()};
    FOURFOLD_TRY(const FileDescriptor secret, open_file(place / kTokenFile, O_WRONLY | O_CREAT | O_TRUNC));
    if (fchmod(secret.get(), 0600) != 0 || !write_fully(secret.get(), token))
        return errno_problem("the run's token cannot be written", place / kTokenFile);
    FOURFOLD_CHECK(lay_out_files(*store_, folder, first)); // what is missing is better missed before the queue
    const auto script = place / "job.sh";
    std::string text = text_field(request, "script");
    // The agent that runs this session is the one that the nodes run.
    const std::string mark = "@AGENT@";
    char own[4096] = {};
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0)
        return errno_problem("the agent does not find itself", "/proc/self/exe");
    if (const std::size_t at = text.find(mark); at != std::string::npos)
        text.replace(at, mark.size(), own);
    const std::string folder_mark = "@FOLDER@";
    for (std::size_t at = text.find(folder_mark); at != std::string::npos; at = text.find(folder_mark))
        text.replace(at, folder_mark.size(), folder.path().string());
    FOURFOLD_CHECK(write_file_atomically(script, text));
    FOURFOLD_CHECK(folder.write_spec(first));
    const auto job = submit_job(script, folder.path());
    if (!job) {
        std::error_code ignored;
        std::filesystem::remove(folder.file("spec.json"), ignored); // nothing was started
        return job.error();
    }
    FOURFOLD_CHECK(
        write_file_atomically(place / "job.json", to_wire({{"job", *job}, {"nodes", specs.size()}, {"attempt", 0}})));
    send({{"is", "submitted"}, {"job", *job}, {"folder", folder.path().string()}});
    return {};
}

// A look at Slurm every few seconds while nothing is heard of the run. What it says becomes an end only when the job is
// over, or unknown to a Slurm that answers: then nobody else will write one.
Expected<std::string> Session::hint_of_slurm(const RunFolder& folder, const std::string& state)
{
    const double between = state == "queued" || state == "silent" ? 3 : 30; // slurmctld serves a whole cluster
    const double now = monotonic_seconds();
    if (slurm_looked_ > 0 && now - slurm_looked_ < between)
        return slurm_hint_;
    slurm_looked_ = now;
    const SlurmJob job = look_at_job(folder.slurm_job());
    if (!job.answered) {
        slurm_hint_ = "Slurm does not answer";
        return slurm_hint_;
    }
    slurm_hint_ = job.state + (job.reason.empty() ? "" : " (" + job.reason + ")");
    // A job that waits again while its run folder is silent was taken from its nodes without a word.
    const bool requeued = state == "silent" && job.state.starts_with("PENDING");
    const bool over = job.state.empty() || is_final(job.state) || requeued;
    slurm_over_ = over ? slurm_over_ + 1 : 0;
    // Twice, as the run folder may lag behind; a job that ran writes its end itself unless it was lost.
    if (slurm_over_ < 2 || (state != "queued" && state != "silent" && slurm_over_ < 5))
        return slurm_hint_;
    const std::string said = requeued ? "PREEMPTED" : job.state;
    std::string status = status_of_state(said);
    std::string why = words_of_state(said);
    if (const std::string output = job_output(folder.file("slurm")); status == "lost" && !output.empty())
        why += "; the job's output ends with: " + output;
    if (status == "lost" && state == "queued" && !job.state.empty())
        status = "fail"; // no rank was started: nothing is lost
    FOURFOLD_CHECK(close_lost_run(folder, folder.path().filename().string(), 0, status, why));
    return slurm_hint_;
}

// Stops every node's share through the run folder; what still waits in the queue is taken out of it.
Expected<void> Session::stop_job(const RunFolder& folder, const StopRequest& stop)
{
    const auto job = read_json_file(folder.file("slurm/job.json"), 1u << 16);
    const int nodes = job ? static_cast<int>(integer_field(*job, "nodes", 1)) : 1;
    const std::string run = folder.path().filename().string();
    const std::string verdict = folder.verdict();
    if (verdict == "ended") { // what may still wait is its job's next attempt
        const SlurmJob waiting = look_at_job(folder.slurm_job());
        if (waiting.answered && !waiting.state.empty() && !is_final(waiting.state))
            cancel_job(folder.slurm_job());
        return {};
    }
    const bool waits = verdict == "queued";
    for (int k = 0; k < nodes; ++k) {
        const RunFolder share(base_, run, k);
        if (share.exists() && !share.read_stop())
            FOURFOLD_CHECK(share.write_stop(stop));
    }
    if (!waits)
        return {};
    cancel_job(folder.slurm_job());
    // It may have started in this very moment: then its agents find the request.
    usleep(500000);
    if (folder.verdict() == "queued")
        return close_lost_run(folder, run, 0, stop.status, stop.why);
    return {};
}

Expected<void> Session::attempts(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const std::string run = text_field(request, "run");
    int last = 0;
    while (RunFolder(base_, attempt_id({run, last + 1}), 0).exists())
        ++last;
    const SlurmJob job = look_at_job(folder.slurm_job());
    send(
        {{"is", "attempts"}, {"last", last}, {"state", job.state}, {"reason", job.reason}, {"answered", job.answered}});
    return {};
}

} // namespace fourfold
