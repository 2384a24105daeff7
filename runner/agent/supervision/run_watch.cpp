// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/run_watch.h"

#include "runner/protocol/message.h"

#include <utility>

namespace fourfold {

namespace {
constexpr double kHungSeconds = 5; // a supervisor answers at once; it may wait for a slow disk or for stacks
constexpr double kMissingSeconds = 5; // a file system may be away for so long
constexpr double kUnchangedSeconds = 5; // of watching, before another host's silence is believed
} // namespace

RunWatch::RunWatch(const RunFolder& folder, std::string run, int node, bool known)
    : folder_(folder)
    , run_(std::move(run))
    , node_(node)
    , line_(folder.path())
    , known_(known)
{
}

RunLook RunWatch::look()
{
    line_.look();
    RunLook out;
    const auto found = folder_.look();
    if (!found || found->state == "absent") {
        out = look_without_folder(found ? std::nullopt : std::optional(found.error()));
    } else {
        missing_since_ = 0;
        known_ = true;
        out.state = found->state;
        if (out.state == "stopping" || out.state == "ended" || out.state == "silent") {
            out.status = found->status.status;
            out.why = found->status.why;
            out.rank = found->status.rank;
        }
        if (out.state == "silent" && still_writes(found->status))
            out.state = found->status.state;
        // A supervisor that lives knows better than a state that it could not write, or that somebody replaced.
        if (line_.connected() && out.state != "ended" && out.state != "stopping")
            take_said(out);
    }
    if (line_.connected() && out.state == "stopping" && out.note.empty())
        out.note = text_field(line_.said(), "note");
    if ((out.state == "running" || out.state == "stopping") && line_.silence() > kHungSeconds) {
        out.state = "hung";
        out.note = words_of_silence(line_.supervisor()) + "; the ranks go on, `fourfold stop` ends them";
    }
    return out;
}

void RunWatch::take_said(RunLook& out) const
{
    out.state = text_field(line_.said(), "state", "running");
    out.status = text_field(line_.said(), "status");
    out.why = text_field(line_.said(), "why");
    out.rank = static_cast<int>(integer_field(line_.said(), "rank", -1));
}

RunLook RunWatch::look_without_folder(const std::optional<Problem>& unread)
{
    RunLook out;
    const double now = monotonic_seconds();
    if (missing_since_ == 0)
        missing_since_ = now;
    const std::string what = unread ? unread->message + " (" + unread->where + ")"
                                    : "the run folder is gone (" + folder_.path().string() + ")";
    if (line_.connected()) {
        known_ = true;
        take_said(out);
        out.note = what + "; the ranks go on, `fourfold stop` ends them";
        return out;
    }
    out.alive = alive();
    const bool waits = unread || (known_ && now - missing_since_ < kMissingSeconds);
    out.state = waits ? "unknown" : "absent";
    out.note = what + "; no agent answers, ";
    if (out.alive > 0)
        out.note += processes_text(out.alive) + " of the run left, `fourfold stop` ends them";
    else
        out.note += "and nothing of the run is alive on this host";
    return out;
}

// The host's clock may differ from this one's, or jump: that the time changes is what counts.
bool RunWatch::still_writes(const RunStatus& status)
{
    const double now = monotonic_seconds();
    if (written_ != status.time_s) {
        written_ = status.time_s;
        written_seen_ = now;
    }
    return now - written_seen_ < kUnchangedSeconds;
}

int RunWatch::alive()
{
    if (const double now = monotonic_seconds(); counted_ == 0 || now - counted_ >= 1) {
        counted_ = now;
        alive_ = count_of_run(run_, node_);
    }
    return alive_;
}

std::string words_of_silence(const ProcessIdentity& supervisor)
{
    return "its agent (process " + std::to_string(supervisor.pid) + ") does not answer"
        + (is_stopped(supervisor.pid) ? " (a signal stopped it)" : "");
}

} // namespace fourfold
