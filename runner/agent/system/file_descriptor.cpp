// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/file_descriptor.h"

#include "core/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fourfold {

Problem errno_problem(const std::string& what, const std::filesystem::path& where)
{
    const int error = errno;
    std::string hint;
    std::string why = std::strerror(error);
    struct statvfs disk { };
    if (error == ENOSPC || error == EDQUOT)
        hint = "make room on that disk";
    if (error == EMFILE)
        hint = "raise the limit of open files, as with `ulimit -n 1024`";
    if (error == EFBIG)
        hint = "raise the limit of a file's size, as with `ulimit -f unlimited`";
    if (error == ENOSPC && (statvfs(where.c_str(), &disk) == 0 || statvfs(where.parent_path().c_str(), &disk) == 0)
        && disk.f_files > 0 && disk.f_favail == 0) {
        why = "No inodes left on device";
        hint = "remove files on that disk: it has room for no further one, whatever its size";
    } else if (error == EACCES || error == EPERM || error == EROFS)
        hint = "choose a base folder that you may write";
    return {ProblemCode::io, what + ": " + why, hint, where.string()};
}

Expected<FileDescriptor> open_file(const std::filesystem::path& file, int flags)
{
    FileDescriptor fd(::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
    if (!fd.valid()) {
        Problem problem = errno_problem("cannot be opened", file);
        if (struct stat info{}; lstat(file.c_str(), &info) == 0 && !kind_of_file(info.st_mode).empty())
            problem.message = "is " + kind_of_file(info.st_mode) + ", expected a file";
        return problem;
    }
    if (auto regular = check_regular(fd.get(), file); !regular) {
        regular.error().code = ProblemCode::io;
        return regular.error();
    }
    return fd;
}

bool write_fully(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

std::string slurp(const std::filesystem::path& file, std::size_t max_bytes)
{
    const auto fd = open_regular(file);
    std::string out;
    if (!fd)
        return out;
    std::array<char, 65536> block{};
    while (out.size() < max_bytes) {
        const ssize_t got = ::read(fd->get(), block.data(), std::min(block.size(), max_bytes - out.size()));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        out.append(block.data(), static_cast<std::size_t>(got));
    }
    return out;
}

} // namespace fourfold
