// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/store.h"

#include "core/base/random_token.h"
#include "runner/agent/lock_holder.h"

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
} // namespace

Store::Store(std::filesystem::path base)
    : folder_(base / "store")
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
    const auto matches = [&](const std::filesystem::path& file) {
        std::error_code error;
        if (!std::filesystem::is_regular_file(file, error) || std::filesystem::file_size(file, error) != size || error)
            return false;
        const auto hash = hashes_.sha256(file);
        return hash && *hash == sha256;
    };
    const std::filesystem::path own = place(sha256);
    if (matches(own))
        return own;
    std::error_code ignored;
    std::filesystem::remove(own, ignored);
    for (const std::string& candidate : candidates) {
        if (!candidate.empty() && candidate[0] == '/' && matches(candidate))
            return candidate;
    }
    return {};
}

Expected<void> Store::verify(const std::filesystem::path& file, const std::string& sha256)
{
    FOURFOLD_TRY(const std::string hash, hashes_.sha256(file));
    if (hash != sha256)
        return Problem{ProblemCode::io, "its content has changed since it was stored (SHA-256 " + hash + ")",
            "start the run again: the file is sent anew", file.string()};
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
    FOURFOLD_TRY(incoming.file_, open_file(incoming.part_, O_RDWR | O_CREAT | O_APPEND));
    if (flock(incoming.file_.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return std::optional<Incoming>{};
        return errno_problem("cannot be locked", incoming.part_);
    }
    struct stat now {
    }, named{};
    if (fstat(incoming.file_.get(), &now) != 0)
        return errno_problem("cannot be read", incoming.part_);
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
