// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 of files, remembered by path, size, inode, modification and change time, so that gigabytes are hashed once.
// The change time makes a forged modification time useless.
#pragma once

#include "core/base/expected.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace fourfold {

class HashCache {
public:
    // A missing or unreadable file is an empty cache; the cache is never needed for correctness.
    explicit HashCache(std::filesystem::path file);
    HashCache(const HashCache&) = delete;
    HashCache& operator=(const HashCache&) = delete;
    ~HashCache(); // saves what was added

    // Hash of a regular file (links are followed).
    Expected<std::string> sha256(const std::filesystem::path& file);
    // Of the file that is open, whatever is at its path by now.
    Expected<std::string> sha256(int fd, const std::filesystem::path& file);
    // The hash of a file that was computed while it was written.
    void remember(const std::filesystem::path& file, const std::string& sha256);
    void save();

private:
    struct Entry {
        int64_t size = 0, inode = 0, mtime_ns = 0, ctime_ns = 0;
        std::string sha256;
        bool operator==(const Entry&) const = default;
    };
    std::filesystem::path file_;
    // What other processes have saved since; entries of this one are kept.
    void read_saved();

    std::map<std::string, Entry> entries_;
    int64_t read_ns_ = 0, read_inode_ = 0; // of the file that was read
    bool changed_ = false;
};

} // namespace fourfold
