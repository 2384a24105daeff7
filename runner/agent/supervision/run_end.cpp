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
    error_ = {{"kind", name(status)}, {"host", spec_.host}, {"message", why_},
        {"coordinates", spec_.ranks.front().coordinates}, {"rank", spec_.ranks.front().rank}, {"log", Json::array()}};
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
        log_.append(EventKind::warning, first,
            {{"kind", "folder"}, {"host", spec_.host},
                {"message",
                    "the run folder was removed while the run went: its events are kept, its logs and whatever else "
                    "was in it are gone ("
                        + folder_.path().string() + ")"}});
    if (error_.is_object()) {
        Json keys = Json::object();
        for (const char* key : {"kind", "host", "coordinates", "message", "origin", "log"}) {
            if (error_.contains(key))
                keys[key] = error_[key];
        }
        log_.append(EventKind::error, static_cast<int>(integer_field(error_, "rank", -1)), keys);
    }
    if (!status_)
        status_ = RunState::ok;
    Json keys = {{"status", name(*status_)}};
    if (!why_.empty())
        keys["message"] = why_;
    log_.append(EventKind::end, culprit_ >= 0 ? culprit_ : first, keys);
    log_.sync();
    // What later sessions need to say how it ended.
    if (folder_.is_removed(log_.descriptor(), disk_) && folder_.create() && log_.copy_to(folder_.file("events.jsonl")))
        (void)folder_.write_spec(spec_);
    (void)write_status("ended");
}

} // namespace fourfold
