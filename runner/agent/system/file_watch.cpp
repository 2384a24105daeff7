// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/system/file_watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace fourfold {

FileWatch::FileWatch()
    : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))
{
}

bool FileWatch::add(const std::filesystem::path& place)
{
    struct stat info { };
    if (!fd_.valid() || stat(place.c_str(), &info) != 0)
        return false;
    return inotify_add_watch(fd_.get(), place.c_str(), S_ISDIR(info.st_mode) ? IN_MOVED_TO : IN_MODIFY) >= 0;
}

bool FileWatch::drain()
{
    bool some = false;
    alignas(inotify_event) std::array<char, 8192> block{};
    while (fd_.valid() && read(fd_.get(), block.data(), block.size()) > 0)
        some = true;
    return some;
}

} // namespace fourfold
