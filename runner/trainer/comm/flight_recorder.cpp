// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/comm/flight_recorder.h"

#include <algorithm>

namespace fourfold::trainer {

namespace {
constexpr std::size_t kKept = 64; // more than are ever in flight at once

double seconds(std::chrono::steady_clock::duration duration)
{
    return std::chrono::duration<double>(duration).count();
}
} // namespace

void FlightRecorder::share(std::shared_ptr<ProgressWriter> page)
{
    const std::scoped_lock lock(mutex_);
    shared_ = std::move(page);
}

uint64_t FlightRecorder::begin(
    const std::string& group, const std::string& operation, const std::string& peers, int64_t bytes)
{
    const std::scoped_lock lock(mutex_);
    Entry entry;
    entry.number = next_++;
    entry.group = group;
    entry.operation = operation;
    entry.peers = peers;
    entry.bytes = bytes;
    entry.begin = std::chrono::steady_clock::now();
    if (shared_) {
        const std::string who = group + " " + peers;
        shared_->begin(entry.number, ++of_group_[who],
            operation + " of " + std::to_string(bytes) + " bytes in group " + group + " (" + peers + ")", who);
    }
    recent_.push_back(std::move(entry));
    while (recent_.size() > kKept && recent_.front().finished)
        recent_.pop_front();
    return next_ - 1;
}

void FlightRecorder::end(uint64_t number, double waited_s)
{
    const std::scoped_lock lock(mutex_);
    const auto entry = std::ranges::find(recent_, number, &Entry::number);
    if (entry == recent_.end())
        return;
    entry->finished = true;
    if (shared_ && std::ranges::all_of(recent_, &Entry::finished))
        shared_->end();
    entry->end = std::chrono::steady_clock::now();
    Total& total = totals_[{entry->group, entry->operation}];
    ++total.count;
    total.bytes += entry->bytes;
    total.seconds += waited_s;
}

std::string FlightRecorder::last() const
{
    const std::scoped_lock lock(mutex_);
    if (recent_.empty())
        return "";
    const auto open = std::ranges::find(recent_, false, &Entry::finished);
    const Entry& entry = open != recent_.end() ? *open : recent_.back();
    const auto until = entry.finished ? entry.end : std::chrono::steady_clock::now();
    const auto millis = static_cast<int64_t>(seconds(until - entry.begin) * 1000);
    return entry.group + " " + entry.operation + " of " + std::to_string(entry.bytes) + " bytes with " + entry.peers
        + " (operation " + std::to_string(entry.number) + ", " + (entry.finished ? "finished" : "unfinished")
        + " after " + std::to_string(millis) + " ms)";
}

Json FlightRecorder::recent() const
{
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    Json entries = Json::array();
    for (const Entry& entry : recent_)
        entries.push_back({{"number", entry.number}, {"group", entry.group}, {"operation", entry.operation},
            {"peers", entry.peers}, {"bytes", entry.bytes}, {"begin_s", seconds(now - entry.begin)},
            {"end_s", entry.finished ? Json(seconds(now - entry.end)) : Json(nullptr)}});
    return entries;
}

bool FlightRecorder::stuck_for(double limit) const
{
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    return std::ranges::any_of(
        recent_, [&](const Entry& entry) { return !entry.finished && seconds(now - entry.begin) >= limit; });
}

std::map<std::pair<std::string, std::string>, FlightRecorder::Total> FlightRecorder::totals() const
{
    const std::scoped_lock lock(mutex_);
    return totals_;
}

} // namespace fourfold::trainer
