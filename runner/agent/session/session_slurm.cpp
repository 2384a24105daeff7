// SPDX-License-Identifier: GPL-3.0-or-later
// The session's requests about a Slurm job: lay its run folder out, submit it, follow it from outside.
#include "runner/agent/files/lay_out.h"
#include "runner/agent/session/session.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/slurm/slurm_node.h"
#include "runner/agent/supervision/supervisor.h"
#include "runner/net/proof.h"
#include "runner/protocol/attempt.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fourfold {

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

// Stops every node's share through the run folder; what still waits in the queue is taken out of it.
Expected<std::string> Session::stop_job(const RunFolder& folder, const StopRequest& stop)
{
    const auto job = read_json_file(folder.file("slurm/job.json"), 1u << 16);
    const int nodes = job ? static_cast<int>(integer_field(*job, "nodes", 1)) : 1;
    const std::string run = folder.path().filename().string();
    FOURFOLD_TRY(const std::string verdict, folder.verdict());
    if (verdict == "ended") { // what may still wait is its job's next attempt
        const SlurmJob waiting = look_at_job(folder.slurm_job());
        if (waiting.answered && !waiting.state.empty() && !is_final(waiting.state))
            cancel_job(folder.slurm_job());
        return std::string();
    }
    const bool waits = verdict == "queued", silent = verdict == "silent";
    for (int k = 0; k < nodes; ++k) {
        const RunFolder share(base_, run, k);
        const auto exists = share.exists();
        if (exists && *exists && !share.read_stop())
            FOURFOLD_CHECK(share.write_stop(stop));
    }
    if (!waits && !silent)
        return std::string();
    cancel_job(folder.slurm_job());
    if (silent)
        return "its agents are silent: Slurm was told to end job " + folder.slurm_job();
    // It may have started in this very moment: then its agents find the request.
    usleep(500000);
    if (const auto now = folder.verdict(); now && *now == "queued")
        FOURFOLD_CHECK(close_lost_run(folder, run, 0, stop.status, stop.why));
    return std::string();
}

Expected<void> Session::attempts(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const std::string run = text_field(request, "run");
    int last = 0;
    for (bool more = true; more; last += more ? 1 : 0) {
        FOURFOLD_TRY(more, RunFolder(base_, attempt_id({run, last + 1}), 0).exists());
    }
    const SlurmJob job = look_at_job(folder.slurm_job());
    send(
        {{"is", "attempts"}, {"last", last}, {"state", job.state}, {"reason", job.reason}, {"answered", job.answered}});
    return {};
}

} // namespace fourfold
