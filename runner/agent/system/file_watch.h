// SPDX-License-Identifier: GPL-3.0-or-later
// Wakes a waiting poll() when a file of this node changes (inotify). Only ever a hint: changes that other computers
// make on a shared file system are not seen, so whoever waits looks by itself now and then.
#pragma once

#include "runner/agent/system/file_descriptor.h"

#include <filesystem>

namespace fourfold {

class FileWatch {
public:
    FileWatch();
    // Writes into a file, or for a folder what is renamed into it. False when it cannot be watched.
    bool add(const std::filesystem::path& place);
    // To poll for input; -1 where the kernel has no watches left.
    [[nodiscard]] int fd() const { return fd_.get(); }
    // Forgets what was seen so far; true when that was something.
    bool drain();

private:
    FileDescriptor fd_;
};

} // namespace fourfold
