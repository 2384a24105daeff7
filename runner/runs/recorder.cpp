// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/recorder.h"

#include "core/base/file_descriptor.h"
#include "core/base/input_file.h"
#include "core/base/units.h"
#include "core/history/run_event.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

namespace fourfold {

namespace {

constexpr const char* kLockFile = "lock"; // in the run folder: of the program that follows the run

Problem file_problem(const std::string& what, const std::filesystem::path& where)
{
    const int error = errno;
    return {ProblemCode::io, what + ": " + std::strerror(error),
        error == ENOSPC ? "make room; the run goes on, `fourfold attach` catches up" : "", where.string()};
}

// Nobody may ever read what a pipe in its place is given, and a device keeps nothing.
Expected<void> open_to_append(const std::filesystem::path& file, int& fd)
{
    fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return file_problem("cannot be opened, or is no file of its own", file);
    return check_regular(fd, file);
}

bool write_fully(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace

std::string stream_name(int node)
{
    return node == 0 ? "events" : "node" + std::to_string(node);
}

std::string stream_file(int node)
{
    return node == 0 ? "events.jsonl" : "events.node" + std::to_string(node) + ".jsonl";
}

Recorder::Recorder(HistoryStore store, std::string run, std::filesystem::path folder)
    : store_(std::move(store))
    , run_(std::move(run))
    , folder_(std::move(folder))
{
}

Recorder::Recorder(Recorder&& other) noexcept
    : store_(std::move(other.store_))
    , run_(std::move(other.run_))
    , folder_(std::move(other.folder_))
    , streams_(std::move(other.streams_))
    , most_gib_(other.most_gib_)
    , bytes_(other.bytes_)
    , full_(other.full_)
    , lock_(std::exchange(other.lock_, -1))
{
    other.streams_.clear();
}

Recorder::~Recorder()
{
    for (const Stream& stream : streams_)
        ::close(stream.fd);
    if (lock_ >= 0)
        ::close(lock_);
}

bool is_followed(const std::filesystem::path& folder)
{
    const FileDescriptor lock(::open((folder / kLockFile).c_str(), O_RDONLY | O_CLOEXEC));
    return lock.valid() && flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Expected<Recorder> Recorder::open(HistoryStore store, const std::string& run, const std::filesystem::path& folder,
    const std::vector<std::string>& hosts, double most_gib)
{
    Recorder recorder(std::move(store), run, folder);
    recorder.lock_ = ::open((folder / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (recorder.lock_ < 0)
        return file_problem("the run folder cannot be used", folder);
    if (flock(recorder.lock_, LOCK_EX | LOCK_NB) != 0)
        return Problem{ProblemCode::refused, "another Fourfold program on this computer follows run " + run,
            "watch it there, or end that program first", folder.string()};
    for (std::size_t node = 0; node < hosts.size(); ++node)
        FOURFOLD_CHECK(recorder.open_stream(static_cast<int>(node), hosts[node]));
    recorder.most_gib_ = most_gib;
    for (const Stream& stream : recorder.streams_)
        recorder.bytes_ += stream.offset;
    return recorder;
}

Expected<std::vector<std::string>> Recorder::write_as_stored(Stream& stream, int node) const
{
    const std::filesystem::path file = folder_ / stream_file(node);
    FOURFOLD_TRY(std::vector<std::string> stored, store_.events(run_, stream.name));
    std::string expected;
    for (const std::string& line : stored)
        expected += line + "\n";
    const auto found = read_text_file(file, expected.size());
    if (!found || *found != expected)
        FOURFOLD_CHECK(write_file_atomically(file, expected));
    stream.written = static_cast<int64_t>(expected.size());
    return stored;
}

Expected<void> Recorder::open_stream(int node, const std::string& host)
{
    const std::filesystem::path file = folder_ / stream_file(node);
    const std::string name = stream_name(node);
    FOURFOLD_TRY(const int64_t last, store_.last_seq(run_, name));
    streams_.push_back({name, -1, 0, EventSieve(host, last + 1)});
    Stream& stream = streams_.back();
    FOURFOLD_CHECK(open_to_append(file, stream.fd)); // what is no file is not replaced
    // A program that was killed between history and file left the file short or torn: it is written again.
    FOURFOLD_TRY(const std::vector<std::string> stored, write_as_stored(stream, node));
    ::close(stream.fd); // the rewritten file is another one
    stream.fd = -1;
    FOURFOLD_CHECK(open_to_append(file, stream.fd));
    stream.offset = stream.written;
    if (!stored.empty()) {
        const auto event = parse_json(stored.back(), "event");
        stream.sieve.set_ended(event && kind_of(*event) == EventKind::end);
    }
    return {};
}

Expected<Recorder::Taken> Recorder::take(int node, int64_t offset, const std::string& lines)
{
    Stream& stream = streams_[static_cast<std::size_t>(node)];
    stream.offset = offset + static_cast<int64_t>(lines.size());
    return store(node, stream.sieve.take(offset, lines));
}

void Recorder::skip(int node, int64_t offset, int64_t bytes)
{
    streams_[static_cast<std::size_t>(node)].sieve.skip(offset, bytes);
}

Expected<Recorder::Taken> Recorder::end(int node, const std::string& status, const std::string& why)
{
    return store(node, streams_[static_cast<std::size_t>(node)].sieve.end(status, why));
}

Expected<Recorder::Taken> Recorder::store(int node, EventSieve::Taken taken)
{
    Stream& stream = streams_[static_cast<std::size_t>(node)];
    std::vector<ParsedLine> parsed;
    std::string text;
    for (std::size_t i = 0; i < taken.lines.size(); ++i) {
        parsed.push_back({taken.lines[i], &taken.events[i]});
        text += taken.lines[i];
        text += '\n';
    }
    full_ = full_ || (most_gib_ > 0 && double(bytes_) + double(text.size()) > most_gib_ * kGib);
    if (!full_ && !parsed.empty()) {
        FOURFOLD_CHECK(store_.append_parsed(run_, stream.name, parsed));
        if (!write_fully(stream.fd, text))
            return file_problem("cannot be written", folder_ / stream_file(node));
        bytes_ += static_cast<int64_t>(text.size());
        stream.written += static_cast<int64_t>(text.size());
    }
    return Taken{std::move(taken.events), std::move(taken.notes)};
}

std::string Recorder::full_text() const
{
    if (!full_)
        return {};
    std::ostringstream gib;
    gib << most_gib_;
    return "more events than the target's events_gib (" + gib.str()
        + ") have come: the rest stays on the nodes; when the run has ended, `fourfold attach " + run_
        + " --all-events` fetches it";
}

Expected<void> Recorder::set_state(RunState state, const std::string& problem)
{
    FOURFOLD_CHECK(store_.set_state(run_, state, problem));
    if (!is_terminal(state))
        return {};
    for (std::size_t node = 0; node < streams_.size(); ++node) {
        Stream& stream = streams_[node];
        std::error_code error;
        const auto size = std::filesystem::file_size(folder_ / stream_file(static_cast<int>(node)), error);
        if (error || static_cast<int64_t>(size) != stream.written)
            (void)write_as_stored(stream, static_cast<int>(node)); // the history has them all the same
    }
    return {};
}

Expected<void> Recorder::write_file(const std::string& name, std::string_view content) const
{
    return write_file_atomically(folder_ / name, content);
}

} // namespace fourfold
