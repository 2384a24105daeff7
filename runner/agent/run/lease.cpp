// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/run/lease.h"

#include "runner/agent/system/file_descriptor.h"
#include "runner/agent/system/processes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace fourfold {

namespace {
constexpr double kMostBetweenLooks = 0.5; // seconds that count at most as one look at the lease
} // namespace

Lease::Lease(std::filesystem::path file, double limit_s)
    : file_(std::move(file))
    , limit_s_(limit_s)
    , looked_(monotonic_seconds())
{
}

void Lease::renew()
{
    unfollowed_s_ = 0;
}

bool Lease::is_over()
{
    const double now = monotonic_seconds();
    // Where this process itself stood still (a suspended or overloaded computer), so did whoever follows the run.
    unfollowed_s_ += std::min(now - looked_, kMostBetweenLooks);
    looked_ = now;
    struct stat info { };
    if (limit_s_ > 0 && stat(file_.c_str(), &info) == 0) {
        // Only that it changed counts, not to what: the node's clock may jump.
        const int64_t time = int64_t(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec;
        if (std::exchange(file_time_ns_, time) != time)
            renew();
    }
    return limit_s_ > 0 && unfollowed_s_ > limit_s_;
}

void touch_lease(const std::filesystem::path& file)
{
    if (const auto fd = open_file(file, O_WRONLY | O_CREAT))
        (void)futimens(fd->get(), nullptr);
}

} // namespace fourfold
