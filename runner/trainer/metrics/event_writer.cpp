// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/metrics/event_writer.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fourfold::trainer {

std::string utc_now()
{
    const auto now = std::chrono::system_clock::now();
    const auto seconds = std::chrono::system_clock::to_time_t(now);
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[64];
    const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(millis));
    return text;
}

Expected<std::shared_ptr<EventWriter>> EventWriter::open(const std::filesystem::path& run_folder, int rank)
{
    const auto file = (run_folder / ("rank" + std::to_string(rank) + ".jsonl")).string();
    // A pipe in its place would wait for somebody who reads it, and take what is written.
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
    struct stat info { };
    const bool pipe = descriptor < 0 ? errno == ENXIO : ::fstat(descriptor, &info) == 0 && S_ISFIFO(info.st_mode);
    if (pipe) {
        if (descriptor >= 0)
            ::close(descriptor);
        return Problem{ProblemCode::io, "is a pipe, expected a file", "move away what is in its place", file};
    }
    if (descriptor < 0)
        return Problem{errno == ENOENT ? ProblemCode::not_found : ProblemCode::io,
            std::string("cannot open the event file: ") + std::strerror(errno), "give an existing, writable --run-dir",
            file};
    return std::shared_ptr<EventWriter>(new EventWriter(descriptor, rank, file));
}

EventWriter::EventWriter(int descriptor, int rank, std::string file)
    : descriptor_(descriptor)
    , rank_(rank)
    , file_(std::move(file))
{
}

EventWriter::~EventWriter()
{
    ::close(descriptor_);
}

Expected<void> EventWriter::write(const std::string& event, const Json& fields)
{
    Json line{{"time", utc_now()}, {"rank", rank_}, {"event", event}};
    line.update(fields);
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    struct stat before { };
    ::fstat(descriptor_, &before);
    ssize_t written = 0;
    do
        written = ::write(descriptor_, text.data(), text.size());
    while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(text.size()))
        return {};
    if (written > 0 && ::ftruncate(descriptor_, before.st_size) != 0)
        written = -1; // half a line stays: errno says why
    return Problem{ProblemCode::io,
        std::string("cannot append an event: ") + (written < 0 ? std::strerror(errno) : "no space left on the disk"),
        "free some space and run again", file_};
}

} // namespace fourfold::trainer
