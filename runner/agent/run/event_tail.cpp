// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/run/event_tail.h"

#include "core/history/event_types.h"
#include "runner/protocol/message.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fourfold {

namespace {

constexpr std::size_t kTailBytes = 256u << 10;
constexpr std::size_t kHead = 32; // bytes of a line that hold its number
constexpr off_t kLookBack = 64 << 10;
constexpr off_t kStretch = 32 << 20; // is read at once of a file in which something is looked for
constexpr std::size_t kMostLineBytes = 2 * kMaxEventLine; // a line that does not fit is not an event

// As read(2), until the file's end or the block is full; -1 with errno set.
ssize_t read_at(int fd, std::string& block, off_t offset)
{
    std::size_t got = 0;
    while (got < block.size()) {
        const ssize_t n = pread(fd, block.data() + got, block.size() - got, offset + off_t(got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += static_cast<std::size_t>(n);
    }
    return static_cast<ssize_t>(got);
}

Problem unreadable()
{
    return errno_problem("the events cannot be read", {});
}

} // namespace

EventTail::EventTail(off_t offset, int64_t seq)
    : offset_(offset)
    , seq_(seq)
{
}

bool EventTail::fits() const
{
    struct stat info { };
    if (fstat(file_.get(), &info) != 0 || info.st_size < offset_)
        return false;
    if (checked_)
        return true;
    std::string head(kHead, '\0'), before(static_cast<std::size_t>(std::min<off_t>(offset_, kLookBack)), '\0');
    if (read_at(file_.get(), before, offset_ - off_t(before.size())) != static_cast<ssize_t>(before.size())
        || (!before.empty() && before.back() != '\n'))
        return false;
    if (const ssize_t got = read_at(file_.get(), head, offset_); got != 0)
        return got > 0 && seq_of_line(head) == seq_;
    if (before.empty())
        return seq_ == 0;
    const std::size_t begin = before.rfind('\n', before.size() - 2) + 1; // npos + 1 = 0: cut off, or the first line
    return seq_of_line(std::string_view(before).substr(begin)) == seq_ - 1;
}

// Where the file is not what the client's copy says.
Expected<bool> EventTail::find_again()
{
    if (!search_)
        search_.emplace();
    auto& [place, at, partial] = *search_;
    block_.resize(1u << 20);
    bool found = false;
    for (const off_t until = at + kStretch; !found && at < until;) {
        const ssize_t got = read_at(file_.get(), block_, at);
        if (got < 0)
            return unreadable();
        found = got == 0;
        std::string_view rest(block_.data(), static_cast<std::size_t>(got));
        for (std::size_t end = rest.find('\n'); end != std::string_view::npos && !found; end = rest.find('\n')) {
            const int64_t seq = seq_of_line(partial + std::string(rest.substr(0, std::min(end, kHead))));
            at += static_cast<off_t>(end) + 1;
            if (seq >= 0 && seq < seq_)
                place = at;
            found = seq >= seq_;
            partial.clear();
            rest.remove_prefix(end + 1);
        }
        at += static_cast<off_t>(rest.size());
        if (partial.size() < kHead)
            partial += rest.substr(0, kHead);
    }
    if (!found)
        return false;
    offset_ = place;
    checked_ = true;
    search_.reset();
    passed_ = 0;
    return true;
}

Expected<void> EventTail::pass_line(Part& part)
{
    std::string block(1u << 20, '\0');
    passed_ = std::max(passed_, offset_);
    for (const off_t until = passed_ + kStretch; passed_ < until;) {
        const ssize_t got = read_at(file_.get(), block, passed_);
        if (got < 0)
            return unreadable();
        const std::size_t end = std::string_view(block.data(), static_cast<std::size_t>(got)).find('\n');
        if (end != std::string::npos) {
            const off_t behind = passed_ + static_cast<off_t>(end) + 1;
            part.skipped = behind - offset_;
            part.offset = offset_ = behind;
            part.more = true;
            return {};
        }
        if (got == 0)
            return {};
        passed_ += got;
    }
    part.more = true;
    return {};
}

Expected<EventTail::Part> EventTail::next()
{
    Part part;
    part.offset = offset_;
    if (!file_.valid())
        return part;
    if (search_ || !fits()) {
        FOURFOLD_TRY(const bool found, find_again());
        if (!found) {
            part.more = true;
            return part;
        }
    }
    part.offset = offset_;
    ssize_t got = 0;
    std::size_t whole = 0;
    for (std::size_t size = kTailBytes;; size *= 2) {
        block_.resize(size);
        got = read_at(file_.get(), block_, offset_);
        if (got < 0)
            return unreadable();
        whole = got > 0 ? block_.rfind('\n', static_cast<std::size_t>(got) - 1) + 1 : 0;
        if (whole > 0 || static_cast<std::size_t>(got) < size)
            break;
        if (size >= kMostLineBytes) {
            FOURFOLD_CHECK(pass_line(part));
            return part;
        }
    }
    part.lines = std::string_view(block_).substr(0, whole);
    part.more = static_cast<std::size_t>(got) == block_.size();
    offset_ += static_cast<off_t>(whole);
    if (whole == 0)
        return part;
    checked_ = true;
    const std::size_t begin = part.lines.rfind('\n', whole - 2) + 1; // npos + 1 = 0
    const std::string_view last = whole > 1 ? part.lines.substr(begin, whole - 1 - begin) : std::string_view();
    if (const int64_t seq = seq_of_line(last); seq >= seq_ && seq - seq_ <= kMostMissingEvents)
        seq_ = seq + 1;
    if (const auto event = parse_json(last, "event"); event && kind_of(*event) == EventKind::end)
        end_status_ = read_event<EndEvent>(*event).status;
    return part;
}

off_t EventTail::rest() const
{
    struct stat info { };
    return file_.valid() && fstat(file_.get(), &info) == 0 ? std::max<off_t>(0, info.st_size - offset_) : 0;
}

} // namespace fourfold
