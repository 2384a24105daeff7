// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dataset/appended_file.h"

#include "core/base/input_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace fourfold {

namespace {
Problem problem(const std::filesystem::path& file, const std::string& what, int error)
{
    return {ProblemCode::io, what + ": " + std::strerror(error),
        error == ENOSPC || error == EDQUOT ? "free some space, then run the same command again: it goes on from here"
                                           : "",
        file.string()};
}
} // namespace

Expected<AppendedFile> AppendedFile::open(const std::filesystem::path& file, std::int64_t size)
{
    AppendedFile opened;
    opened.file_ = file;
    opened.size_ = size;
    opened.descriptor_
        = FileDescriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!opened.descriptor_.valid())
        return problem(file, "cannot be written", errno);
    FOURFOLD_CHECK(check_regular(opened.descriptor_.get(), file));
    if (::flock(opened.descriptor_.get(), LOCK_EX | LOCK_NB) != 0)
        return Problem{ProblemCode::refused, "another program is writing it",
            "wait for its end, or choose another output", file.string()};
    struct stat now { };
    if (::fstat(opened.descriptor_.get(), &now) != 0)
        return problem(file, "cannot be looked at", errno);
    if (now.st_size < size)
        return Problem{ProblemCode::conflict,
            "has " + std::to_string(now.st_size) + " bytes, but " + std::to_string(size) + " were written",
            "remove its folder to begin anew", file.string()};
    if (::ftruncate(opened.descriptor_.get(), size) != 0 || ::lseek(opened.descriptor_.get(), size, SEEK_SET) < 0)
        return problem(file, "cannot be cut to what is whole", errno);
    return opened;
}

Expected<void> AppendedFile::append(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return problem(file_, "cannot be written", written < 0 ? errno : EIO);
        bytes.remove_prefix(std::size_t(written));
        size_ += written;
    }
    return {};
}

Expected<void> AppendedFile::sync()
{
    return ::fsync(descriptor_.get()) == 0 ? Expected<void>() : problem(file_, "cannot be made durable", errno);
}

} // namespace fourfold
