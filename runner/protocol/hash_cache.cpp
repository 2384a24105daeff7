// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/hash_cache.h"

#include "core/base/input_file.h"
#include "core/base/json.h"
#include "core/base/sha256.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fourfold {

namespace {
int64_t nanoseconds(const timespec& time)
{
    return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

// What somebody else could have written would make any content pass for any other.
bool is_own(const struct stat& info)
{
    return S_ISREG(info.st_mode) && (info.st_uid == geteuid() || info.st_uid == 0)
        && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
} // namespace

HashCache::HashCache(std::filesystem::path file)
    : file_(std::move(file))
{
    read_saved();
}

void HashCache::read_saved()
{
    struct stat info { };
    if (stat(file_.c_str(), &info) != 0 || !is_own(info)
        || (nanoseconds(info.st_mtim) == read_ns_ && static_cast<int64_t>(info.st_ino) == read_inode_))
        return;
    read_ns_ = nanoseconds(info.st_mtim);
    read_inode_ = static_cast<int64_t>(info.st_ino);
    const auto json = read_json_file(file_, 16u << 20);
    if (!json)
        return;
    for (const Json& item : array_field(*json, "files")) {
        Entry entry{integer_field(item, "size"), integer_field(item, "inode"), integer_field(item, "mtime_ns"),
            integer_field(item, "ctime_ns"), text_field(item, "sha256")};
        if (is_sha256(entry.sha256))
            entries_.try_emplace(text_field(item, "path"), std::move(entry));
    }
}

HashCache::~HashCache()
{
    save();
}

Expected<std::string> HashCache::sha256(const std::filesystem::path& file)
{
    FOURFOLD_TRY(const FileDescriptor fd, open_regular(file));
    return sha256(fd.get(), file);
}

Expected<std::string> HashCache::sha256(int fd, const std::filesystem::path& file)
{
    struct stat info { };
    if (fstat(fd, &info) != 0)
        return Problem{ProblemCode::io, std::string("cannot be read: ") + std::strerror(errno), {}, file.string()};
    if (!S_ISREG(info.st_mode))
        return Problem{ProblemCode::bad_input, "is not a regular file", {}, file.string()};
    Entry now{
        info.st_size, static_cast<int64_t>(info.st_ino), nanoseconds(info.st_mtim), nanoseconds(info.st_ctim), {}};
    // Another process may have hashed it, or written it, since this one looked.
    for (const bool again : {false, true}) {
        if (again)
            read_saved();
        const auto known = entries_.find(file.string());
        if (known == entries_.end())
            continue;
        now.sha256 = known->second.sha256;
        if (now == known->second)
            return now.sha256;
        entries_.erase(known);
    }
    FOURFOLD_TRY(now.sha256, sha256_descriptor(fd, file));
    std::string hash = now.sha256;
    entries_[file.string()] = std::move(now);
    changed_ = true;
    return hash;
}

void HashCache::remember(const std::filesystem::path& file, const std::string& sha256)
{
    struct stat info { };
    if (stat(file.c_str(), &info) != 0)
        return;
    entries_[file.string()] = {
        info.st_size, static_cast<int64_t>(info.st_ino), nanoseconds(info.st_mtim), nanoseconds(info.st_ctim), sha256};
    changed_ = true;
}

void HashCache::save()
{
    if (!changed_)
        return;
    changed_ = false;
    read_saved();
    Json files = Json::array();
    for (const auto& [path, entry] : entries_) {
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored))
            continue;
        files.push_back({{"path", path}, {"size", entry.size}, {"inode", entry.inode}, {"mtime_ns", entry.mtime_ns},
            {"ctime_ns", entry.ctime_ns}, {"sha256", entry.sha256}});
    }
    std::error_code ignored;
    std::filesystem::create_directories(file_.parent_path(), ignored);
    // Losing the cache costs time, never correctness.
    (void)write_file_atomically(file_, to_wire({{"files", std::move(files)}}));
}

} // namespace fourfold
