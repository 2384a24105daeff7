// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/files/store.h"

#include "core/base/input_file.h"
#include "core/base/random_token.h"
#include "runner/agent/system/lock_holder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fourfold {

namespace {
constexpr uint64_t kLargeFile = 1u << 20;
constexpr uint64_t kDiskBytes = 8u << 20; // handed to the disk at a time
constexpr uint64_t kSpareRoom = 100u << 20; // for the run's own files

// finish() takes the right to write away before the file has its name: who opens it meanwhile is refused unless root,
// and a process that died in between leaves it so. Nothing = another session is at it.
Expected<std::optional<FileDescriptor>> open_part(const std::filesystem::path& part)
{
    FileDescriptor file(open(part.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.valid())
        return std::optional<FileDescriptor>(std::move(file));
    const bool refused = errno == EACCES;
    const Problem problem = errno_problem("cannot be opened", part);
    const FileDescriptor unwritable(open(part.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    const bool gone = !unwritable.valid() && errno == ENOENT; // it has its name now
    if (!refused || (!unwritable.valid() && !gone) || access(part.parent_path().c_str(), W_OK) != 0)
        return problem;
    // A lock that is refused is the finishing session's; NFS refuses it for a file that is open to be read only.
    if (gone || flock(unwritable.get(), LOCK_EX | LOCK_NB) != 0)
        return std::optional<FileDescriptor>{};
    struct stat now {
    }, named{};
    if (fstat(unwritable.get(), &now) != 0 || stat(part.c_str(), &named) != 0 || named.st_ino != now.st_ino)
        return std::optional<FileDescriptor>{};
    if (!S_ISREG(now.st_mode) || fchmod(unwritable.get(), 0600) != 0)
        return problem;
    FOURFOLD_TRY(FileDescriptor writable, open_file(part, O_RDWR | O_APPEND));
    return std::optional<FileDescriptor>(std::move(writable));
}
} // namespace

Store::Store(std::filesystem::path base, GroupFolders group_writable)
    : folder_(base / "store")
    , group_writable_(std::move(group_writable))
    , hashes_(base / "hashes.json")
{
    mkdir(folder_.c_str(), 0700);
}

std::filesystem::path Store::place(const std::string& sha256) const
{
    return folder_ / sha256;
}

std::filesystem::path Store::part(const std::string& sha256) const
{
    return folder_ / (sha256 + ".part");
}

std::optional<std::filesystem::path> Store::find(
    const std::string& sha256, uint64_t size, const std::vector<std::string>& candidates)
{
    const std::filesystem::path own = place(sha256);
    if (const auto file = open_trusted_file(own, group_writable_); file && holds(*file, own, sha256, size))
        return own;
    std::error_code ignored;
    std::filesystem::remove(own, ignored);
    for (const std::string& candidate : candidates) {
        if (!candidate.starts_with('/'))
            continue;
        if (const auto file = open_trusted_file(candidate, group_writable_);
            file && holds(*file, candidate, sha256, size))
            return candidate;
    }
    return {};
}

std::optional<std::filesystem::path> Store::copy(
    const std::string& sha256, uint64_t size, const std::vector<std::string>& candidates)
{
    for (const std::string& candidate : candidates) {
        if (candidate.starts_with('/') && copy_one(candidate, sha256, size))
            return place(sha256);
    }
    return {};
}

bool Store::holds(
    const FileDescriptor& file, const std::filesystem::path& name, const std::string& sha256, uint64_t size)
{
    struct stat info { };
    if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) != size)
        return false;
    const auto hash = hashes_.sha256(file.get(), name);
    return hash && *hash == sha256;
}

// Whoever owns the file may change it later, but not the copy, whose content is hashed while it is written.
bool Store::copy_one(const std::filesystem::path& file, const std::string& sha256, uint64_t size)
{
    const auto from = open_regular(file);
    std::error_code error;
    if (!from || !holds(*from, file, sha256, size)
        || std::filesystem::space(folder_, error).available < size + kSpareRoom || error)
        return false;
    auto incoming = begin(sha256, size);
    if (!incoming || !*incoming)
        return false;
    std::string block(1u << 20, '\0');
    while ((*incoming)->offset() < size) {
        const ssize_t got = pread(from->get(), block.data(), block.size(), static_cast<off_t>((*incoming)->offset()));
        if (got <= 0 || !(*incoming)->append({block.data(), static_cast<std::size_t>(got)}))
            return false;
    }
    return finish(std::move(**incoming)).has_value();
}

Expected<void> Store::verify(const std::filesystem::path& file, const std::string& sha256)
{
    FOURFOLD_TRY(const FileDescriptor opened, open_trusted_file(file, group_writable_));
    FOURFOLD_TRY(const std::string hash, hashes_.sha256(opened.get(), file));
    if (hash != sha256)
        return Problem{ProblemCode::io, "its content has changed since it was stored (SHA-256 " + hash + ")",
            "start the run again: the file is sent again", file.string()};
    return {};
}

Expected<std::optional<Incoming>> Store::begin(const std::string& sha256, uint64_t size, bool beside)
{
    Incoming incoming;
    incoming.part_ = part(sha256);
    if (beside) {
        incoming.part_ = folder_ / (sha256 + "." + random_token(4) + ".part");
        std::error_code ignored; // what cannot be copied is sent
        std::filesystem::copy_file(part(sha256), incoming.part_, ignored);
    }
    incoming.sha256_ = sha256;
    incoming.size_ = size;
    FOURFOLD_TRY(auto opened, open_part(incoming.part_));
    if (!opened)
        return std::optional<Incoming>{};
    incoming.file_ = std::move(*opened);
    if (flock(incoming.file_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return std::optional<Incoming>{};
        return errno_problem("cannot be locked", incoming.part_);
    }
    struct stat now {
    }, named{};
    if (fstat(incoming.file_.get(), &now) != 0)
        return errno_problem("cannot be read", incoming.part_);
    if (!S_ISREG(now.st_mode))
        return Problem{ProblemCode::io, "is not a regular file", "remove it", incoming.part_.string()};
    // Another session may have finished and renamed the file between our open and our lock.
    if (stat(incoming.part_.c_str(), &named) != 0 || named.st_ino != now.st_ino)
        return std::optional<Incoming>{};
    if (static_cast<uint64_t>(now.st_size) > size && ftruncate(incoming.file_.get(), 0) != 0)
        return errno_problem("cannot be shortened", incoming.part_);
    const uint64_t there = static_cast<uint64_t>(now.st_size) > size ? 0 : static_cast<uint64_t>(now.st_size);
    std::string block(1u << 18, '\0');
    while (incoming.offset_ < there) {
        const ssize_t got = pread(incoming.file_.get(), block.data(),
            std::min<uint64_t>(block.size(), there - incoming.offset_), static_cast<off_t>(incoming.offset_));
        if (got <= 0)
            return errno_problem("cannot be read", incoming.part_);
        incoming.hash_.add({block.data(), static_cast<std::size_t>(got)});
        incoming.offset_ += static_cast<uint64_t>(got);
    }
    incoming.handed_ = incoming.offset_;
    return std::optional<Incoming>(std::move(incoming));
}

Expected<void> Incoming::append(std::string_view bytes)
{
    if (offset_ + bytes.size() > size_)
        return Problem{ProblemCode::network, "more bytes arrived than the file has", "start again", part_.string()};
    if (!write_fully(file_.get(), bytes))
        return errno_problem("cannot be written", part_);
    offset_ += bytes.size();
    hash_.add(bytes);
    // The disk begins while more arrives, so that the fsync() at the end has little left to wait for.
    if (offset_ - handed_ >= kDiskBytes) {
        (void)sync_file_range(
            file_.get(), static_cast<off_t>(handed_), static_cast<off_t>(offset_ - handed_), SYNC_FILE_RANGE_WRITE);
        handed_ = offset_;
    }
    return {};
}

void Incoming::let_go()
{
    flock(file_.get(), LOCK_UN);
}

bool Incoming::take_back()
{
    struct stat now {
    }, named{};
    return flock(file_.get(), LOCK_EX | LOCK_NB) == 0 && fstat(file_.get(), &now) == 0
        && static_cast<uint64_t>(now.st_size) == offset_ && stat(part_.c_str(), &named) == 0
        && named.st_ino == now.st_ino;
}

Store::Rival Store::rival(const std::string& sha256) const
{
    struct stat info { };
    if (stat(part(sha256).c_str(), &info) != 0)
        return {};
    return {static_cast<uint64_t>(info.st_size), lock_holder(part(sha256))};
}

Expected<void> Store::finish(Incoming incoming)
{
    if (incoming.offset_ != incoming.size_)
        return Problem{ProblemCode::network,
            "only " + std::to_string(incoming.offset_) + " of " + std::to_string(incoming.size_) + " bytes arrived",
            "start again: it is continued from there", incoming.part_.string()};
    const std::string hash = incoming.hash_.hex();
    if (hash != incoming.sha256_) {
        std::error_code ignored;
        std::filesystem::remove(incoming.part_, ignored);
        return Problem{ProblemCode::io, "arrived with another content (SHA-256 " + hash + ")",
            "start again: it is sent from its beginning", incoming.part_.string()};
    }
    if (fchmod(incoming.file_.get(), 0500) != 0 || fsync(incoming.file_.get()) != 0
        || rename(incoming.part_.c_str(), place(incoming.sha256_).c_str()) != 0)
        return errno_problem("cannot be put into the store", place(incoming.sha256_));
    hashes_.remember(place(incoming.sha256_), incoming.sha256_);
    if (incoming.size_ > kLargeFile)
        hashes_.save(); // other sessions need not read it again
    return {};
}

} // namespace fourfold
