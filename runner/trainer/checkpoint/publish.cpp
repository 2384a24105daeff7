// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/publish.h"

#include "runner/trainer/checkpoint/names.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;

// Names of a folder are on the disk only after this.
Expected<void> sync_folder(const fs::path& folder)
{
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool done = descriptor >= 0 && (::fsync(descriptor) == 0 || errno == EINVAL); // some shared file systems
    const int error = errno;
    if (descriptor >= 0)
        ::close(descriptor);
    if (done)
        return {};
    return Problem{ProblemCode::io, std::string("cannot write it: ") + std::strerror(error), "", folder.string()};
}

// Under a name that no reader looks for: a folder that is removed in part is no checkpoint any more.
void remove_step(const fs::path& folder)
{
    const fs::path doomed = folder.string() + kRemoved;
    std::error_code ignored;
    fs::remove_all(doomed, ignored);
    fs::rename(folder, doomed, ignored);
    fs::remove_all(doomed, ignored);
}
} // namespace

Expected<void> publish_step(const fs::path& partial, const fs::path& target)
{
    FOURFOLD_CHECK(sync_folder(partial));
    std::error_code error;
    if (fs::symlink_status(target, error).type() == fs::file_type::not_found) {
        fs::rename(partial, target, error);
    } else if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
        fs::remove_all(partial, error);
        error.clear();
    } else { // not every file system can exchange
        remove_step(target);
        fs::rename(partial, target, error);
    }
    if (error)
        return Problem{ProblemCode::io, "cannot rename it: " + error.message(), "", partial.string()};
    return sync_folder(target.parent_path());
}

void remove_oldest(const fs::path& folder, int steps, int keep)
{
    auto kept = step_folders(folder);
    kept.erase(kept.upper_bound(steps), kept.end());
    for (; int(kept.size()) > std::max(1, keep); kept.erase(kept.begin()))
        remove_step(kept.begin()->second);
    std::error_code ignored;
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const auto step = step_of(entry.path().stem());
        const std::string rest = entry.path().extension().string();
        if (step && *step <= steps && (rest == kPartial || rest == kRemoved))
            left.push_back(entry.path());
    }
    for (const fs::path& path : left)
        fs::remove_all(path, ignored);
}

} // namespace fourfold::trainer
