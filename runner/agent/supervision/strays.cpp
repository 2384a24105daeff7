// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/strays.h"

#include "runner/agent/run/run_folder.h"
#include "runner/agent/supervision/stop_supervisor.h"
#include "runner/protocol/message.h"

#include <map>
#include <utility>
#include <vector>

namespace fourfold {

namespace {

std::string why_stray(const RunFolder& folder)
{
    const auto verdict = folder.verdict();
    if (!verdict)
        return verdict.error().message;
    if (*verdict == "absent")
        return "its run folder is gone";
    if (*verdict == "ended")
        return "the run has ended";
    return verdict->starts_with("lost") ? "its agent is gone" : "";
}

} // namespace

Json strays(const std::filesystem::path& base, bool end)
{
    std::map<std::pair<std::string, int>, std::vector<pid_t>> found;
    for (const RunProcess& process : run_processes()) {
        if (is_run_id(process.run) && process.node >= 0
            && process.folder == RunFolder(base, process.run, process.node).path())
            found[{process.run, process.node}].push_back(process.identity.pid);
    }
    Json out = Json::array();
    for (const auto& [place, pids] : found) {
        const auto& [run, node] = place;
        const RunFolder folder(base, run, node);
        const std::string why = why_stray(folder);
        if (why.empty())
            continue;
        const bool ends = end && folder.verdict();
        if (ends) {
            const StopRequest stop{RunState::cancelled, "it was cleared away", nullptr, 2};
            if (!tell_supervisor(folder, run, node, stop, [] {}))
                (void)sweep(run, node);
        }
        out.push_back({{"run", run}, {"node", node}, {"processes", pids.size()}, {"pid", pids.front()}, {"why", why},
            {"ended", ends}});
    }
    return out;
}

} // namespace fourfold
