// SPDX-License-Identifier: GPL-3.0-or-later
// rank<r>.progress in the run folder: one page of memory that a rank shares with its agent, so that the agent knows the
// rank's last collective even when the rank can no longer answer. Written before and after each operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace fourfold {

// What the page says. `group_number` counts the operations of this rank within one group from 1.
struct RankProgress {
    uint64_t number = 0; // counts this rank's operations from 1; 0 = none yet
    uint64_t group_number = 0;
    bool inside = false; // the operation has not finished
    double since_s = 0; // CLOCK_MONOTONIC of the last change
    std::string operation; // "all_reduce of 4096 bytes in group tp (ranks 0 1)"
    std::string group; // "tp ranks 0 1": equal on the ranks that take part in it
};

// The layout of the file. A reader takes what it copied when `version` was even and the same before and after.
struct ProgressPage {
    static constexpr uint64_t kMagic = 0x3165676170646634; // "4fdpage1"
    uint64_t magic;
    std::atomic<uint64_t> version;
    uint64_t number, group_number, inside;
    double since_s;
    char operation[200];
    char group[200];
};
static_assert(sizeof(ProgressPage) <= 4096 && std::atomic<uint64_t>::is_always_lock_free);

inline double progress_clock()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Used by one thread at a time. Where the file cannot be made, writing does nothing: a run does not depend on it.
class ProgressWriter {
public:
    explicit ProgressWriter(const std::string& file)
    {
        const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return;
        if (::ftruncate(fd, 4096) == 0) {
            void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (at != MAP_FAILED)
                page_ = static_cast<ProgressPage*>(at);
        }
        ::close(fd);
        if (page_)
            page_->magic = ProgressPage::kMagic;
    }
    ProgressWriter(const ProgressWriter&) = delete;
    ProgressWriter& operator=(const ProgressWriter&) = delete;
    ~ProgressWriter()
    {
        if (page_)
            ::munmap(page_, 4096);
    }

    void begin(uint64_t number, uint64_t group_number, const std::string& operation, const std::string& group)
    {
        if (!page_)
            return;
        const uint64_t version = page_->version.fetch_add(1, std::memory_order_acq_rel);
        page_->number = number;
        page_->group_number = group_number;
        page_->inside = 1;
        page_->since_s = progress_clock();
        copy(page_->operation, operation);
        copy(page_->group, group);
        page_->version.store(version + 2, std::memory_order_release);
    }
    void end()
    {
        if (!page_)
            return;
        const uint64_t version = page_->version.fetch_add(1, std::memory_order_acq_rel);
        page_->inside = 0;
        page_->since_s = progress_clock();
        page_->version.store(version + 2, std::memory_order_release);
    }

private:
    static void copy(char (&to)[200], const std::string& from)
    {
        const std::size_t size = from.size() < sizeof to ? from.size() : sizeof to - 1;
        std::memcpy(to, from.data(), size);
        to[size] = '\0';
    }

    ProgressPage* page_ = nullptr;
};

} // namespace fourfold
