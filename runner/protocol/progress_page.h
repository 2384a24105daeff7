// SPDX-License-Identifier: GPL-3.0-or-later
// rank<r>.progress in the run folder: one page of memory that a rank shares with its agent, so that the agent knows the
// rank's last collective even when the rank can no longer answer, and why it failed even when the disk is full.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <signal.h>
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

// Where the cause of a failure is that a rank reports: in itself, in a rank that it misses, in one that told it.
enum class FailureOrigin : uint64_t { none, own, lost_rank, told };
inline constexpr const char* kFailureOrigins[] = {"", "own", "lost_rank", "told"}; // as in `error` events

inline FailureOrigin failure_origin(std::string_view text) // `own` where it does not say
{
    return text == "lost_rank" ? FailureOrigin::lost_rank : text == "told" ? FailureOrigin::told : FailureOrigin::own;
}

struct RankFailure {
    FailureOrigin origin = FailureOrigin::none;
    std::string kind; // as in `error` events
    std::string message;
};

// The layout of the file. A reader takes what it copied when `version` was even and the same before and after; of the
// failure, when its origin is set, which is done last and once.
struct ProgressPage {
    static constexpr uint64_t kMagic = 0x3265676170646634; // "4fdpage2"
    uint64_t magic;
    std::atomic<uint64_t> version;
    uint64_t number, group_number, inside;
    double since_s;
    char operation[200];
    char group[200];
    std::atomic<uint64_t> failure_origin;
    char failure_kind[16];
    char failure_message[1024];
};
static_assert(sizeof(ProgressPage) <= 4096 && std::atomic<uint64_t>::is_always_lock_free);

inline double progress_clock()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Begins with an empty page. begin() and end() are used by one thread at a time, fail() once by any. Where the file
// cannot be made, writing does nothing, and where somebody cuts it short, the page is this process's alone from then
// on: a run does not depend on it. One writer per process is kept so, the last that was made.
class ProgressWriter {
public:
    explicit ProgressWriter(const std::string& file)
    {
        const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return;
        // Real blocks: a page of a file with holes is a SIGBUS when the disk is full.
        if (::posix_fallocate(fd, 0, 4096) == 0) {
            void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (at != MAP_FAILED)
                page_ = static_cast<ProgressPage*>(at);
        }
        ::close(fd);
        if (!page_)
            return;
        outlast_a_cut(page_);
        page_->magic = ProgressPage::kMagic;
    }
    ProgressWriter(const ProgressWriter&) = delete;
    ProgressWriter& operator=(const ProgressWriter&) = delete;
    ~ProgressWriter()
    {
        if (!page_)
            return;
        ProgressPage* own = page_;
        kept().compare_exchange_strong(own, nullptr);
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
    void fail(const RankFailure& failure)
    {
        if (!page_)
            return;
        copy(page_->failure_kind, failure.kind);
        copy(page_->failure_message, failure.message);
        page_->failure_origin.store(static_cast<uint64_t>(failure.origin), std::memory_order_release);
    }

private:
    static std::atomic<ProgressPage*>& kept()
    {
        static std::atomic<ProgressPage*> page{nullptr};
        return page;
    }
    // A write to a page whose file became shorter is a SIGBUS: memory takes the page's place, and the write is made
    // again. Every other SIGBUS ends the process as it would have.
    static void outlast_a_cut(ProgressPage* page)
    {
        kept() = page;
        struct sigaction action { };
        action.sa_flags = SA_SIGINFO;
        action.sa_sigaction = [](int, siginfo_t* info, void*) {
            char* const at = reinterpret_cast<char*>(kept().load());
            const char* const fault = static_cast<const char*>(info->si_addr);
            if (at && fault >= at && fault < at + 4096
                && ::mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at)
                return;
            ::signal(SIGBUS, SIG_DFL); // and the same once more
        };
        ::sigaction(SIGBUS, &action, nullptr);
    }

    template <std::size_t N>
    static void copy(char (&to)[N], const std::string& from)
    {
        const std::size_t size = from.size() < sizeof to ? from.size() : sizeof to - 1;
        std::memcpy(to, from.data(), size);
        to[size] = '\0';
    }

    ProgressPage* page_ = nullptr;
};

} // namespace fourfold
