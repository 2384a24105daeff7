// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/trusted_path.h"

#include "runner/agent/system/file_descriptor.h"
#include "runner/protocol/distrust.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <sstream>

namespace fourfold {

namespace {

constexpr int kMostLinks = 40; // as the kernel's own limit
constexpr int kLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;

// In a user name space whoever is not mapped looks like one user, and so may this process itself.
bool own_files_are_known()
{
    constexpr std::size_t kMost = 1 << 16;
    if (std::to_string(geteuid()) + "\n" != slurp("/proc/sys/kernel/overflowuid", kMost))
        return true;
    std::istringstream map(slurp("/proc/self/uid_map", kMost));
    std::uint64_t inside = 1, outside = 1, count = 0;
    map >> inside >> outside >> count;
    return inside == 0 && outside == 0 && count == UINT32_MAX; // no such name space
}

bool is_ours(const struct stat& info)
{
    return info.st_uid == 0 || (info.st_uid == geteuid() && own_files_are_known());
}

// One way from a folder to a place below it, or anywhere where links lead.
class Walk {
public:
    Walk(FileDescriptor folder, std::filesystem::path at, const GroupFolders& group_writable)
        : folder_(std::move(folder))
        , at_(std::move(at))
        , group_writable_(group_writable)
    {
    }

    // The folder, or with `want_file` the file, at the end of `way`.
    Expected<FileDescriptor> go(std::string way, bool make, bool want_file)
    {
        for (;;) {
            FOURFOLD_CHECK(check_folder());
            way.erase(0, std::min(way.find_first_not_of('/'), way.size()));
            const std::string name = way.substr(0, way.find('/'));
            way.erase(0, name.size());
            if (name.empty()) {
                if (want_file)
                    return Problem{ProblemCode::bad_input, "is not a regular file", {}, at_.string()};
                return std::move(folder_);
            }
            FileDescriptor next(openat(folder_.get(), name.c_str(), kLook | O_DIRECTORY));
            if (!next.valid() && errno == ENOENT && make) {
                if (mkdirat(folder_.get(), name.c_str(), 0700) != 0 && errno != EEXIST)
                    return errno_problem("the folder cannot be made", at_ / name);
                next = FileDescriptor(openat(folder_.get(), name.c_str(), kLook | O_DIRECTORY));
            }
            if (next.valid()) {
                folder_ = std::move(next);
                at_ = name == ".." ? at_.parent_path() : name == "." ? at_ : at_ / name;
                continue;
            }
            if (errno != ENOTDIR && errno != ELOOP)
                return errno_problem("cannot be used", at_ / name);
            const FileDescriptor entry(openat(folder_.get(), name.c_str(), kLook));
            struct stat info { };
            if (!entry.valid() || fstat(entry.get(), &info) != 0)
                return errno_problem("cannot be used", at_ / name);
            if (!is_ours(info))
                return distrust("owner", (at_ / name).string());
            if (S_ISLNK(info.st_mode)) {
                FOURFOLD_CHECK(follow(entry, name, way));
                continue;
            }
            if (!want_file || way.find_first_not_of('/') != std::string::npos)
                return distrust("kind", (at_ / name).string());
            return open_regular(entry, info, at_ / name);
        }
    }

private:
    Expected<void> check_folder() const
    {
        struct stat info { };
        if (fstat(folder_.get(), &info) != 0)
            return errno_problem("cannot be looked at", at_);
        if (!is_ours(info))
            return distrust(at_ == "/" ? "root" : "owner", at_.string());
        if ((info.st_mode & S_ISVTX) != 0 || (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
            return {};
        if ((info.st_mode & S_IWOTH) != 0)
            return distrust("others", at_.string());
        const bool named
            = std::find(group_writable_.begin(), group_writable_.end(), at_.string()) != group_writable_.end();
        return named ? Expected<void>() : distrust("group", at_.string());
    }

    Expected<void> follow(const FileDescriptor& link, const std::string& name, std::string& way)
    {
        std::array<char, 4096> text{};
        const ssize_t size = readlinkat(link.get(), "", text.data(), text.size());
        if (size <= 0 || static_cast<std::size_t>(size) == text.size() || ++links_ > kMostLinks)
            return Problem{ProblemCode::io, "this link cannot be followed", {}, (at_ / name).string()};
        way.insert(0, std::string(text.data(), static_cast<std::size_t>(size)));
        if (way[0] != '/')
            return {};
        folder_ = FileDescriptor(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        at_ = "/";
        return {};
    }

    static Expected<FileDescriptor> open_regular(
        const FileDescriptor& entry, const struct stat& info, const std::filesystem::path& place)
    {
        if (!S_ISREG(info.st_mode))
            return Problem{ProblemCode::bad_input, "is not a regular file", {}, place.string()};
        if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
            return distrust("others", place.string());
        // Of the descriptor that was looked at, not of its name.
        FileDescriptor file(open(("/proc/self/fd/" + std::to_string(entry.get())).c_str(), O_RDONLY | O_CLOEXEC));
        if (!file.valid())
            return errno_problem("cannot be opened", place);
        return file;
    }

    FileDescriptor folder_;
    std::filesystem::path at_; // where that is, without links
    const GroupFolders& group_writable_;
    int links_ = 0;
};

Expected<FileDescriptor> from_root(
    const std::filesystem::path& place, const GroupFolders& group_writable, bool make, bool want_file)
{
    FileDescriptor root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.valid())
        return errno_problem("cannot be opened", "/");
    return Walk(std::move(root), "/", group_writable).go(place.string(), make, want_file);
}

} // namespace

Expected<FileDescriptor> open_trusted_folder(
    const std::filesystem::path& folder, const GroupFolders& group_writable, bool make)
{
    return from_root(folder, group_writable, make, false);
}

Expected<void> make_trusted_folders(const std::filesystem::path& folder, const std::filesystem::path& relative)
{
    FileDescriptor begin(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!begin.valid())
        return errno_problem("cannot be opened", folder);
    const auto made = Walk(std::move(begin), folder, {}).go(relative.string(), true, false);
    return made ? Expected<void>() : made.error();
}

Expected<FileDescriptor> open_trusted_file(const std::filesystem::path& file, const GroupFolders& group_writable)
{
    return from_root(file, group_writable, false, true);
}

} // namespace fourfold
