// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/new_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace fourfold::trainer {

namespace {
constexpr std::size_t kAlignment = 4096; // of memory, places and lengths of what bypasses the cache
constexpr std::size_t kBlock = 4 << 20; // written at once; stays in a processor's caches while it is filled

Problem cannot(const std::string& path, const char* what)
{
    return {ProblemCode::io, std::string("cannot ") + what + " it: " + std::strerror(errno), "", path};
}
} // namespace

void NewFile::Free::operator()(std::byte* memory) const
{
    std::free(memory);
}

Expected<std::unique_ptr<NewFile>> NewFile::create(const std::filesystem::path& path, int64_t bytes)
{
    std::unique_ptr<NewFile> file(new NewFile);
    file->path_ = path.string();
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    file->descriptor_ = ::open(path.c_str(), flags | O_DIRECT, 0644);
    file->direct_ = file->descriptor_ >= 0;
    if (!file->direct_ && errno == EINVAL) { // the file system has no such writes, and may have made the file
        ::unlink(path.c_str());
        file->descriptor_ = ::open(path.c_str(), flags, 0644);
    }
    if (file->descriptor_ < 0)
        return cannot(file->path_, "create");
    file->block_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, kBlock)));
    if (!file->block_)
        return cannot(file->path_, "write");
    int failed = 0;
    do
        failed = ::fallocate(file->descriptor_, FALLOC_FL_KEEP_SIZE, 0, bytes);
    while (failed && errno == EINTR);
    if (failed && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) // not every file system can
        return cannot(file->path_, "write");
    return file;
}

NewFile::~NewFile()
{
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

bool NewFile::through_the_cache()
{
    const int flags = ::fcntl(descriptor_, F_GETFL);
    direct_ = false;
    return flags >= 0 && ::fcntl(descriptor_, F_SETFL, flags & ~O_DIRECT) == 0;
}

Expected<void> NewFile::flush()
{
    const std::byte* next = block_.get();
    for (std::size_t left = std::exchange(filled_, 0); left > 0;) {
        // The end of a file is rarely aligned, nor is what follows a write that was cut short.
        if (direct_ && (left % kAlignment != 0 || (next - block_.get()) % kAlignment != 0) && !through_the_cache())
            return cannot(path_, "write");
        const ssize_t done = ::write(descriptor_, next, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 && errno == EINVAL && direct_ && through_the_cache()) // another alignment
            continue;
        if (done <= 0)
            return cannot(path_, "write");
        next += done;
        left -= std::size_t(done);
    }
    return {};
}

Expected<void> NewFile::append(const void* bytes, std::size_t count)
{
    const auto* next = static_cast<const std::byte*>(bytes);
    while (count > 0) {
        const std::size_t now = std::min(count, kBlock - filled_);
        std::memcpy(block_.get() + filled_, next, now);
        next += now;
        count -= now;
        filled_ += now;
        if (filled_ == kBlock)
            FOURFOLD_CHECK(flush());
    }
    return {};
}

Expected<void> NewFile::finish()
{
    FOURFOLD_CHECK(flush());
    if (::fsync(descriptor_) != 0)
        return cannot(path_, "write");
    return {};
}

} // namespace fourfold::trainer
