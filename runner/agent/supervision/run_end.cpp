// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/run_end.h"

#include "runner/protocol/message.h"

#include <sys/stat.h>

namespace fourfold {

RunEnd::RunEnd(const RunFolder& folder, const RunSpec& spec, EventLog& log)
    : folder_(folder)
    , spec_(spec)
    , log_(log)
{
    if (struct stat info{}; fstat(log_.descriptor(), &info) == 0)
        disk_ = info.st_dev;
}

void RunEnd::decide(RunState status, std::string why)
{
    status_ = status;
    why_ = std::move(why);
}

void RunEnd::decide(const StopRequest& request)
{
    decide(request.status, request.why);
    error_ = request.error;
}

void RunEnd::blame(int rank, RunState status, std::string why)
{
    decide(status, std::move(why));
    culprit_ = rank;
}

void RunEnd::decide_here(RunState status, std::string why)
{
    decide(status, std::move(why));
    error_ = event_json(ErrorEvent{.kind = std::string(name(status)),
        .host = spec_.host,
        .message = why_,
        .coordinates = spec_.ranks.front().coordinates,
        .log = Json::array()});
    error_["rank"] = spec_.ranks.front().rank;
}

void RunEnd::add(const std::string& why)
{
    why_ += (why_.empty() ? "" : "; ") + why;
}

std::string RunEnd::status_text() const
{
    return status_ ? std::string(name(*status_)) : std::string();
}

Expected<void> RunEnd::write_status(const std::string& state) const
{
    return folder_.write_status(
        {state, status_text(), why_, own_identity(), {}, 0, culprit_, state == "ended" ? log_.next_seq() : 0});
}

void RunEnd::write()
{
    const int first = spec_.ranks.front().rank;
    if (folder_.is_removed(log_.descriptor(), disk_))
        log_.append(first,
            WarningEvent{.kind = "folder",
                .host = spec_.host,
                .message = "the run folder was removed while the run went: its events are kept, its logs and whatever "
                           "else was in it are gone ("
                    + folder_.path().string() + ")"});
    if (error_.is_object()) // of this node, or of another one that asked for the stop
        log_.append(static_cast<int>(integer_field(error_, "rank", -1)), read_event<ErrorEvent>(error_));
    if (!status_)
        status_ = RunState::ok;
    log_.append(culprit_ >= 0 ? culprit_ : first, EndEvent{.status = std::string(name(*status_)), .message = why_});
    log_.sync();
    // What later sessions need to say how it ended.
    if (folder_.is_removed(log_.descriptor(), disk_) && folder_.create() && log_.copy_to(folder_.file("events.jsonl")))
        (void)folder_.write_spec(spec_);
    (void)write_status("ended");
}

} // namespace fourfold
