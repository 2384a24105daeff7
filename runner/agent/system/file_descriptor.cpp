// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/file_descriptor.h"

#include <fcntl.h>
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
    if (error == ENOSPC || error == EDQUOT)
        hint = "make room on that disk";
    else if (error == EACCES || error == EPERM || error == EROFS)
        hint = "choose a base folder that you may write";
    return {ProblemCode::io, what + ": " + std::strerror(error), hint, where.string()};
}

Expected<FileDescriptor> open_file(const std::filesystem::path& file, int flags)
{
    FileDescriptor fd(::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid())
        return errno_problem("cannot be opened", file);
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
    const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    std::string out;
    if (!fd.valid())
        return out;
    std::array<char, 65536> block{};
    while (out.size() < max_bytes) {
        const ssize_t got = ::read(fd.get(), block.data(), std::min(block.size(), max_bytes - out.size()));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        out.append(block.data(), static_cast<std::size_t>(got));
    }
    return out;
}

} // namespace fourfold
