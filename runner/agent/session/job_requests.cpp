// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/job_requests.h"

#include "runner/agent/files/lay_out.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/slurm/slurm_node.h"
#include "runner/agent/slurm/trusted_start.h"
#include "runner/net/proof.h"
#include "runner/protocol/attempt.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fourfold {

Expected<void> JobRequests::submit(const Json& request) const
{
    const Json& specs = array_field(request, "specs");
    FOURFOLD_TRY(const RunSpec first, run_spec_from_json(specs.empty() ? Json::object() : specs[0]));
    const RunFolder folder(node_.base, first.run, 0);
    FOURFOLD_CHECK(folder.create());
    if (const std::string job = folder.slurm_job(); !job.empty()) {
        wire_.send({{"is", "submitted"}, {"job", job}, {"folder", folder.path().string()}});
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
    FOURFOLD_CHECK(lay_out_files(*node_.store, folder, first)); // what is missing is better missed before the queue
    const auto script = place / "job.sh";
    std::string text = text_field(request, "script");
    // The agent that runs this session is the one that the nodes run.
    const std::string mark = "@AGENT@";
    char own[4096] = {};
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0)
        return errno_problem("the agent does not find itself", "/proc/self/exe");
    FOURFOLD_TRY(const std::string start, trusted_start(own, node_.group_writable));
    if (const std::size_t at = text.find(mark); at != std::string::npos)
        text.replace(at, mark.size(), start);
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
    wire_.send({{"is", "submitted"}, {"job", *job}, {"folder", folder.path().string()}});
    return {};
}

Expected<void> JobRequests::attempts(const Json& request) const
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(node_, request));
    const std::string run = text_field(request, "run");
    int last = 0;
    for (bool more = true; more; last += more ? 1 : 0) {
        FOURFOLD_TRY(more, RunFolder(node_.base, attempt_id({run, last + 1}), 0).exists());
    }
    const SlurmJob job = look_at_job(folder.slurm_job());
    wire_.send(
        {{"is", "attempts"}, {"last", last}, {"state", job.state}, {"reason", job.reason}, {"answered", job.answered}});
    return {};
}

} // namespace fourfold
