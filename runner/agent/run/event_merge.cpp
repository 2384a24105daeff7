// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/run/event_merge.h"

#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fourfold {

namespace {
constexpr int kMostWarnings = 20; // a rank that writes rubbish must not fill the log
}

Json last_log_lines(const std::filesystem::path& log, int count)
{
    Json out = Json::array();
    const auto fd = open_file(log, O_RDONLY);
    if (!fd)
        return out;
    const off_t size = lseek(fd->get(), 0, SEEK_END);
    std::string text(16384, '\0');
    const ssize_t got = pread(fd->get(), text.data(), text.size(), std::max<off_t>(0, size - off_t(text.size())));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (end > begin)
            lines.push_back(text.substr(begin, std::min<std::size_t>(end - begin, 500)));
        begin = end + 1;
    }
    const std::size_t first = lines.size() > static_cast<std::size_t>(count) ? lines.size() - count : 0;
    for (std::size_t i = first; i < lines.size(); ++i)
        out.push_back(lines[i]);
    return out;
}

EventMerge::EventMerge(const RunSpec& spec, std::filesystem::path folder, EventLog& log)
    : spec_(spec)
    , folder_(std::move(folder))
    , log_(log)
{
    for (const RankPlace& place : spec_.ranks) {
        Feed feed;
        feed.place = place;
        feed.file = folder_ / ("rank" + std::to_string(place.rank) + ".jsonl");
        if (const auto merged = log_.merged_lines().find(place.rank); merged != log_.merged_lines().end())
            feed.skip = merged->second;
        feeds_.push_back(std::move(feed));
    }
}

std::optional<RankError> EventMerge::error_of(int rank) const
{
    for (const Feed& feed : feeds_) {
        if (feed.place.rank == rank)
            return feed.error;
    }
    return {};
}

bool EventMerge::poll(std::size_t budget)
{
    std::size_t taken = 0;
    const std::size_t share = std::max<std::size_t>(budget / feeds_.size(), 65536);
    for (Feed& feed : feeds_)
        taken += read_feed(feed, share);
    log_.flush();
    return taken > 0;
}

std::size_t EventMerge::read_feed(Feed& feed, std::size_t budget)
{
    if (!feed.fd.valid()) {
        auto fd = open_file(feed.file, O_RDONLY | O_NONBLOCK);
        if (!fd)
            return 0; // the rank has not written yet
        struct stat info { };
        if (fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode))
            return 0;
        feed.fd = std::move(*fd);
    }
    if (struct stat info{}; fstat(feed.fd.get(), &info) == 0 && info.st_size < feed.offset) {
        feed.offset = info.st_size;
        feed.partial.clear();
        feed.oversized = false;
        warn(feed, "had its file of events cut short while it ran: some of its events are missing");
    }
    std::size_t total = 0;
    block_.resize(65536);
    while (total < budget) {
        const ssize_t got = pread(feed.fd.get(), block_.data(), block_.size(), feed.offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        feed.offset += got;
        total += static_cast<std::size_t>(got);
        std::string_view rest(block_.data(), static_cast<std::size_t>(got));
        while (!rest.empty()) {
            const std::size_t end = rest.find('\n');
            const std::string_view part = rest.substr(0, end);
            if (!feed.oversized)
                feed.partial += part;
            if (feed.partial.size() > kMaxEventLine - 64) { // room for the seq
                feed.oversized = true;
                feed.partial.clear();
            }
            if (end == std::string_view::npos)
                break;
            if (feed.oversized)
                warn(feed, "wrote a line of more than 1 MiB, which was left out");
            else
                take_line(feed, feed.partial);
            feed.oversized = false;
            feed.partial.clear();
            rest.remove_prefix(end + 1);
        }
    }
    return total;
}

void EventMerge::take_line(Feed& feed, std::string_view line)
{
    if (line.empty())
        return;
    auto event = parse_json(line, feed.file.string());
    if (!event || !event->is_object() || text_field(*event, "event").empty()) {
        warn(feed, "wrote a line that is not an event, which was left out");
        return;
    }
    const EventKind kind = kind_of(*event);
    ++events_;
    steps_ += kind == EventKind::step ? 1 : 0;
    if (kind == EventKind::checkpoint)
        longest_save_ = std::max(longest_save_, read_event<CheckpointEvent>(*event).time_s.value_or(0));
    if (kind == EventKind::error && !feed.error) {
        ErrorEvent error = read_event<ErrorEvent>(*event);
        feed.error = RankError{error.kind.empty() ? std::string(name(RunState::fail)) : std::move(error.kind),
            std::move(error.message), failure_origin(error.origin), errors_++};
    }
    if (feed.skip > 0) {
        --feed.skip;
        return;
    }
    // The line goes on as it is, byte for byte, unless something has to be added to it or does not belong to a rank.
    bool rewrite = line.find_first_not_of(" \t") != 0 || event->contains("seq") || event->contains("agent")
        || integer_field(*event, "rank", -1) != feed.place.rank || kind == EventKind::end;
    if (kind == EventKind::error) {
        const std::filesystem::path log = folder_ / ("rank" + std::to_string(feed.place.rank) + ".log");
        if (!event->contains("host"))
            (*event)["host"] = spec_.host;
        if (!event->contains("coordinates"))
            (*event)["coordinates"] = feed.place.coordinates;
        if (!event->contains("log"))
            (*event)["log"] = last_log_lines(log);
        rewrite = true;
    } else if (kind == EventKind::start) {
        for (const auto& [key, value] : spec_.start_facts.items()) {
            if (!event->contains(key)) {
                (*event)[key] = value;
                rewrite = true;
            }
        }
    } else if (kind == EventKind::end) {
        (*event)["event"] = name(EventKind::rank_end);
    }
    if (!rewrite) {
        log_.append_object(line);
        return;
    }
    event->erase("seq");
    event->erase("agent");
    (*event)["rank"] = feed.place.rank;
    const std::string text = to_wire(*event);
    if (text.size() > kMaxEventLine - 64)
        warn(feed, "wrote an event that grew over 1 MiB, which was left out");
    else
        log_.append_object(text);
}

void EventMerge::warn(Feed& feed, const std::string& message)
{
    if (++feed.warnings > kMostWarnings)
        return;
    log_.append(feed.place.rank,
        WarningEvent{.message = "rank " + std::to_string(feed.place.rank) + " " + message
                + (feed.warnings == kMostWarnings ? " (further ones are not reported)" : "")});
}

} // namespace fourfold
