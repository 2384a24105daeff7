// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/ranks/rank_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>

namespace fourfold {

namespace {

std::filesystem::path tail_file(const std::filesystem::path& file, int index)
{
    return file.string() + ".tail" + std::to_string(index);
}

} // namespace

Expected<RankLog> RankLog::open(const std::filesystem::path& file, const LogLimits& limits)
{
    RankLog log;
    log.file_ = file;
    log.limits_ = limits;
    FOURFOLD_TRY(log.log_, open_file(file, O_WRONLY | O_CREAT | O_APPEND));
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno_problem("no pipe for a rank's output", file);
    log.in_ = FileDescriptor(ends[0]);
    log.out_ = FileDescriptor(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, 1 << 20); // a rank that prints much rarely waits for us
    return log;
}

void RankLog::take(std::string_view bytes)
{
    const uint64_t room = bytes_ < limits_.head ? limits_.head - bytes_ : 0;
    const auto head = static_cast<std::size_t>(std::min<uint64_t>(room, bytes.size()));
    bytes_ += bytes.size();
    // A full disk loses output, never the run: the supervisor looks after the events.
    if (head > 0)
        (void)write_fully(log_.get(), bytes.substr(0, head));
    bytes.remove_prefix(head);
    if (bytes.empty())
        return;
    if (!tail_.valid() || tail_bytes_ >= limits_.tail) {
        tail_index_ = 1 - tail_index_;
        tail_bytes_ = 0;
        if (auto opened = open_file(tail_file(file_, tail_index_), O_WRONLY | O_CREAT | O_TRUNC))
            tail_ = std::move(*opened);
    }
    tail_bytes_ += bytes.size();
    if (tail_.valid())
        (void)write_fully(tail_.get(), bytes);
}

bool RankLog::poll()
{
    std::array<char, 65536> block{};
    std::size_t taken = 0;
    while (in_.valid() && taken < (1u << 20)) {
        const ssize_t got = read(in_.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            in_.close();
        if (got <= 0)
            break;
        take({block.data(), static_cast<std::size_t>(got)});
        taken += static_cast<std::size_t>(got);
    }
    return taken > 0;
}

void RankLog::close()
{
    while (poll()) { }
    in_.close();
    log_.close();
    tail_.close();
    if (overflowed())
        put_together(file_, tail_index_);
}

void RankLog::put_together(const std::filesystem::path& file, std::optional<int> last)
{
    struct stat info[2]{};
    bool there[2];
    for (const int i : {0, 1})
        there[i] = lstat(tail_file(file, i).c_str(), &info[i]) == 0 && S_ISREG(info[i].st_mode);
    if (!there[0] && !there[1])
        return;
    const auto log = open_file(file, O_WRONLY | O_APPEND);
    if (!log)
        return;
    (void)write_fully(log->get(), "\n[... a part is left out here ...]\n");
    // Times of files are as coarse as the kernel's clock ticks, and a fast writer fills both within one: then the one
    // that is still being filled is the shorter one.
    if (!last) {
        const auto age
            = [&](int i) { return std::tuple(info[i].st_mtim.tv_sec, info[i].st_mtim.tv_nsec, -info[i].st_size); };
        last = there[1] && (!there[0] || age(1) > age(0)) ? 1 : 0;
    }
    for (const int i : {1 - *last, *last}) {
        if (!there[i])
            continue;
        (void)write_fully(log->get(), slurp(tail_file(file, i), 64u << 20));
        unlink(tail_file(file, i).c_str());
    }
}

} // namespace fourfold
