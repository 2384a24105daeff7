// SPDX-License-Identifier: GPL-3.0-or-later
// An owned file descriptor, and reads and writes that finish what they begin.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace fourfold {

class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd)
        : fd_(fd)
    {
    }
    FileDescriptor(FileDescriptor&& other) noexcept
        : fd_(std::exchange(other.fd_, -1))
    {
    }
    FileDescriptor& operator=(FileDescriptor&& other) noexcept
    {
        if (this != &other) {
            close();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~FileDescriptor() { close(); }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool valid() const { return fd_ >= 0; }
    void close();

private:
    int fd_ = -1;
};

// A Problem (io) with the text of errno.
Problem errno_problem(const std::string& what, const std::filesystem::path& where);
// Opens with O_CLOEXEC | O_NOFOLLOW and mode 0600.
Expected<FileDescriptor> open_file(const std::filesystem::path& file, int flags);
// False with errno set when not everything could be written.
bool write_fully(int fd, std::string_view bytes);
// Reads a small file of /proc or of ours; empty when it cannot be read.
std::string slurp(const std::filesystem::path& file, std::size_t max_bytes = 1u << 20);

} // namespace fourfold
