// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/run/event_log.h"

#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace fourfold {

namespace {
constexpr std::size_t kMostWaiting = 256u << 10;
}

Expected<EventLog> EventLog::open(const std::filesystem::path& file)
{
    EventLog log;
    FOURFOLD_TRY(log.fd_, open_file(file, O_RDWR | O_CREAT | O_APPEND));
    // Read in blocks: the file of a long run has millions of lines.
    std::vector<char> block(1u << 20);
    std::string line;
    off_t offset = 0, whole = 0;
    for (;;) {
        const ssize_t got = pread(log.fd_.get(), block.data(), block.size(), offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno_problem("cannot be read", file);
        if (got == 0)
            break;
        std::string_view rest(block.data(), static_cast<std::size_t>(got));
        while (!rest.empty()) {
            const std::size_t end = rest.find('\n');
            if (line.size() <= kMaxEventLine) // a longer one is none of ours, and must not fill the memory
                line += rest.substr(0, end);
            if (end == std::string_view::npos)
                break;
            whole = offset + (rest.data() - block.data()) + static_cast<off_t>(end) + 1;
            log.remember(line);
            line.clear();
            rest.remove_prefix(end + 1);
        }
        offset += got;
    }
    if (whole < offset && ftruncate(log.fd_.get(), whole) != 0)
        return errno_problem("the torn last line cannot be cut off", file);
    return log;
}

void EventLog::remember(std::string_view line)
{
    ++next_seq_;
    auto event = parse_json(line, "event");
    if (!event || !event->is_object())
        return;
    if (const int64_t seq = integer_field(*event, "seq"); seq >= next_seq_ && seq - next_seq_ <= kMostMissingEvents)
        next_seq_ = seq + 1;
    if (!flag_field(*event, "agent"))
        ++merged_lines_[static_cast<int>(integer_field(*event, "rank", -1))];
    if (kind_of(*event) == EventKind::end)
        end_ = std::move(*event);
}

void EventLog::append_object(std::string_view object)
{
    std::string line = "{\"seq\":" + std::to_string(next_seq_);
    const std::size_t first = object.find_first_not_of(" \t", 1);
    if (object[first] != '}')
        line += ',';
    line += object.substr(1);
    line += '\n';
    take_line(line);
    if (waiting_.size() > kMostWaiting)
        flush();
}

void EventLog::append(EventKind event, int rank, const Json& more)
{
    Json json = {{"seq", next_seq_}, {"time", utc_now()}};
    if (rank >= 0)
        json["rank"] = rank;
    json["event"] = name(event);
    json["agent"] = true;
    for (const auto& [key, value] : more.items())
        json[key] = value;
    take_line(to_wire(json) + "\n");
    flush();
}

void EventLog::take_line(std::string_view line)
{
    ++next_seq_;
    waiting_ += line;
}

bool EventLog::flush()
{
    while (!waiting_.empty()) {
        const ssize_t written = ::write(fd_.get(), waiting_.data(), waiting_.size());
        if (written < 0) {
            if (errno == EINTR)
                continue;
            if (failure_.empty())
                failure_ = std::strerror(errno);
            return false;
        }
        waiting_.erase(0, static_cast<std::size_t>(written));
    }
    return true;
}

void EventLog::sync()
{
    fdatasync(fd_.get());
}

Expected<void> EventLog::copy_to(const std::filesystem::path& file) const
{
    const std::filesystem::path temporary = file.string() + ".new";
    FOURFOLD_TRY(const FileDescriptor copy, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC));
    std::vector<char> block(1u << 20);
    off_t offset = 0;
    ssize_t got = 0;
    while ((got = pread(fd_.get(), block.data(), block.size(), offset)) > 0) {
        if (!write_fully(copy.get(), {block.data(), static_cast<std::size_t>(got)}))
            return errno_problem("cannot be written", file);
        offset += got;
    }
    if (got < 0)
        return errno_problem("cannot be read", file);
    if (rename(temporary.c_str(), file.c_str()) != 0)
        return errno_problem("cannot be written", file);
    return {};
}

Expected<void> make_reserve(const std::filesystem::path& file, std::size_t bytes)
{
    FOURFOLD_TRY(const FileDescriptor fd, open_file(file, O_WRONLY | O_CREAT | O_TRUNC));
    if (!write_fully(fd.get(), std::string(bytes, 'r')) || fsync(fd.get()) != 0) {
        Problem problem = errno_problem("no room for a run", file);
        std::error_code ignored;
        std::filesystem::remove(file, ignored);
        return problem;
    }
    return {};
}

} // namespace fourfold
