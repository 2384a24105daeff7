// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/run_tail.h"

#include "runner/agent/run/lease.h"
#include "runner/agent/supervision/stop_supervisor.h"
#include "runner/agent/supervision/supervisor.h"
#include "runner/protocol/message.h"

#include <fcntl.h>

#include <utility>

namespace fourfold {

namespace {
constexpr double kLockedSeconds = 5; // a guardian closes its run within that
constexpr double kBetweenClosing = 0.5, kUnclosedSeconds = 3; // a disk may be full for a moment
constexpr double kUnreadableSeconds = 10; // after the end of the run
} // namespace

RunTail::RunTail(const RunFolder& folder, std::string run, int node, int64_t offset, int64_t seq, Send send)
    : folder_(folder)
    , run_(std::move(run))
    , node_(node)
    , send_(std::move(send))
    , watch_(folder, run_, node, offset > 0)
    , events_(offset, seq)
{
    files_.add(folder_.path()); // the state is renamed into it
    touch_lease(folder_.file("lease"));
}

void RunTail::followed()
{
    touch_lease(folder_.file("lease"));
    watch_.line().followed();
}

void RunTail::diagnose()
{
    watch_.line().diagnose();
}

void RunTail::say_it_goes_on()
{
    beat({"hung", said_note_, {}, {}, -1, -1}, {});
}

// A run that nobody watches any more is closed; where that fails for now, it is asked again.
RunLook RunTail::look(bool is_prepared)
{
    RunLook look = watch_.look();
    if (look.state != "lost-agent" && look.state != "lost-reboot" && (look.state != "prepared" || is_prepared)) {
        locked_since_ = unclosed_since_ = closing_tried_ = 0;
        return look;
    }
    const double now = monotonic_seconds();
    if (closing_tried_ == 0 || now - closing_tried_ >= kBetweenClosing) {
        closing_tried_ = now;
        if (auto closed = close_lost_run(folder_, run_, node_)) {
            unclosed_.reset();
            closing_tried_ = 0;
            return watch_.look();
        } else {
            unclosed_ = std::move(closed).error();
        }
        unclosed_since_ = unclosed_->code == ProblemCode::refused ? 0 : unclosed_since_ == 0 ? now : unclosed_since_;
        alive_ = count_of_run(run_, node_);
    }
    if (unclosed_->code != ProblemCode::refused) {
        never_ran_ = look.state == "prepared";
        look.state = "unknown";
        look.note = "the end of the run cannot be written: " + unclosed_->line();
        look.alive = alive_;
        return look;
    }
    // A supervisor is just starting, or the guardian of a dead one is at it.
    locked_since_ = locked_since_ == 0 ? now : locked_since_;
    if (look.state != "prepared" && now - locked_since_ > kLockedSeconds)
        end_guardian(folder_);
    return look;
}

Expected<EventTail::Part> RunTail::read(RunLook& look)
{
    if (!events_.is_open()) {
        if (auto opened = open_file(folder_.file("events.jsonl"), O_RDONLY); opened)
            events_.open(std::move(*opened));
        else
            events_.open(watch_.line().open_events());
        if (events_.is_open())
            files_.add(folder_.file("events.jsonl"));
    }
    auto part = events_.next();
    if (part) {
        unreadable_since_ = 0;
        return part;
    }
    // A handle may be stale while the file is not.
    events_.close();
    const double now = monotonic_seconds();
    unreadable_since_ = unreadable_since_ == 0 ? now : unreadable_since_;
    look.note = part.error().line();
    if (look.state == "ended" && now - unreadable_since_ < kUnreadableSeconds)
        look.state = "unknown";
    else if (look.state == "ended")
        unreadable_ = look.note;
    return EventTail::Part{};
}

// Sends the end where there is one: what the folder says, or what is known without it when nothing of the run is left
// that could write one.
Expected<bool> RunTail::end(const RunLook& look)
{
    Json message = {{"is", "end"}, {"state", "ended"},
        {"status", look.status.empty() ? std::string(name(RunState::lost)) : look.status}, {"why", look.why},
        {"rest", events_.rest()}, {"note", unreadable_}};
    if (look.state == "ended") {
        // the folder says all
    } else if (look.alive == 0 && !events_.end_status().empty()) {
        message["status"] = events_.end_status(); // read through the file that was open
    } else if (look.alive == 0 && stop_) {
        message["status"] = name(stop_->status);
        message["why"] = stop_->why;
        message["note"] = look.note;
    } else if (look.alive == 0 && unclosed_since_ != 0 && monotonic_seconds() - unclosed_since_ > kUnclosedSeconds) {
        message["status"] = name(never_ran_ ? RunState::fail : RunState::lost);
        message["why"] = look.note;
    } else if (look.state == "absent") {
        const int killed = sweep(run_, node_);
        return Problem{ProblemCode::not_found,
            said_ == 0 && killed == 0 ? "there is no such run on this node"
                                      : "the run folder is gone, and so is the agent that watched the ranks"
                    + (killed > 0 ? "; it left " + processes_text(killed) + ", now killed" : std::string()),
            {}, folder_.path().string()};
    } else {
        return false;
    }
    send_(message, {});
    return true;
}

void RunTail::beat(const RunLook& look, const std::string& hint)
{
    const double now = monotonic_seconds();
    if (said_ != 0 && now - said_ < 1 && look.state == said_state_ && look.note == said_note_)
        return;
    said_ = now;
    said_state_ = look.state;
    said_note_ = look.note;
    Json message
        = {{"is", "heartbeat"}, {"state", look.state}, {"hint", hint}, {"note", look.note}, {"time", utc_now()}};
    if (look.state == "stopping") {
        message["status"] = look.status;
        message["why"] = look.why;
        message["rank"] = look.rank;
    }
    send_(message, {});
}

Expected<RunTail::Turn> RunTail::turn(bool is_prepared)
{
    files_.drain();
    // The state is read before the file: lines written before an `ended` state are then always seen.
    RunLook now = look(is_prepared);
    slurm_ = slurm_ || !folder_.slurm_job().empty();
    std::string hint;
    if (slurm_ && now.state != "ended" && now.state != "unknown") {
        if (auto said = job_.look(folder_, now.state))
            hint = std::move(*said);
        else
            now.note = said.error().line();
        if (stop_)
            now.note = job_.press(folder_, now.state, stop_->grace_s);
        if (now.state == "silent" && now.note.empty())
            now.note = "its agents have written nothing for a minute; Slurm says " + hint;
    }
    FOURFOLD_TRY(const EventTail::Part part, read(now));
    Turn turn;
    turn.behind = part.more;
    if (part.skipped > 0
        && !send_({{"is", "skipped"}, {"offset", part.offset - part.skipped}, {"bytes", part.skipped}}, {}))
        return turn;
    if (!part.lines.empty()) {
        turn.sent = true;
        if (!send_({{"is", "lines"}, {"offset", part.offset}, {"state", now.state}}, part.lines))
            return turn;
    } else if (!part.more) {
        FOURFOLD_TRY(turn.ended, end(now));
        if (turn.ended)
            return turn;
    }
    beat(now, hint);
    return turn;
}

} // namespace fourfold
