// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/ranks/rank_log.h"
#include "runner/agent/run/event_log.h"
#include "runner/agent/run/event_merge.h"
#include "runner/agent/supervision/node_causes.h"
#include "runner/agent/supervision/supervisor.h"
#include "runner/protocol/message.h"

namespace fourfold {

Expected<void> close_lost_run(
    const RunFolder& folder, const std::string& run, int node, RunState given_status, const std::string& given_why)
{
    FOURFOLD_TRY(const FileDescriptor lock, folder.lock());
    FOURFOLD_TRY(const std::string verdict, folder.verdict());
    if (verdict == "ended" || verdict == "absent")
        return {};
    const int killed = sweep(run, node);
    FOURFOLD_TRY(const RunSpec spec, folder.read_spec());
    const bool full = NodeCauses(folder.path()).is_full(); // before the reserve makes room
    std::error_code ignored;
    std::filesystem::remove(folder.file("reserve"), ignored);
    FOURFOLD_TRY(EventLog log, EventLog::open(folder.file("events.jsonl")));
    RunState status = given_status;
    std::string why = given_why;
    const auto stop = folder.read_stop();
    const std::string left = killed == 0 ? "" : "; it left " + processes_text(killed) + ", now killed";
    if (!why.empty()) {
    } else if (verdict == "lost-reboot") {
        why = "the node " + spec.host + " was restarted while the run was going";
    } else if (stop) { // asked for, and carried out without the agent
        status = stop->status;
        why = stop->why + left;
    } else if (verdict == "prepared") {
        status = RunState::fail; // nothing ran: nothing is lost
        why = "the run was prepared on " + spec.host + " but never started"
            + (full ? ": the disk is full (" + folder.path().string() + ")" : "");
    } else {
        why = "the agent on " + spec.host + " ended unexpectedly" + left;
    }
    for (const RankPlace& place : spec.ranks)
        RankLog::put_together(folder.file("rank" + std::to_string(place.rank) + ".log"));
    std::string ended(name(status));
    if (log.end().is_null()) {
        EventMerge merge(spec, folder.path(), log);
        while (merge.poll()) { }
        const RankPlace& first = spec.ranks.front();
        if (status != RunState::cancelled && status != RunState::preempted) // what was asked for is no error
            log.append(first.rank,
                ErrorEvent{.kind = ended,
                    .host = spec.host,
                    .message = why,
                    .coordinates = first.coordinates,
                    .log = last_log_lines(folder.file("agent.log"))});
        log.append(first.rank, EndEvent{.status = ended, .message = why});
        log.sync();
        if (log.failed())
            return Problem{ProblemCode::io, "the end of a lost run cannot be written: " + log.failure(),
                "make room on that disk", folder.path().string()};
    } else { // the agent wrote it, and could not write its state any more
        EndEvent end = read_event<EndEvent>(log.end());
        ended = end.status.empty() ? ended : std::move(end.status);
        why = std::move(end.message);
    }
    (void)folder.write_status({"ended", ended, why, own_identity(), {}, 0, -1, log.next_seq()}); // its end is written
    return {};
}

} // namespace fourfold
