// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/stop_job.h"

#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/supervision/supervisor.h"
#include "runner/protocol/message.h"

#include <unistd.h>

namespace fourfold {

Expected<std::string> stop_job(const std::filesystem::path& base, const RunFolder& folder, const StopRequest& stop)
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
        const RunFolder share(base, run, k);
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

} // namespace fourfold
