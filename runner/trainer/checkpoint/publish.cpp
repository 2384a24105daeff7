// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/publish.h"

#include "core/base/input_file.h"
#include "core/base/json_member.h"
#include "core/base/text.h"
#include "runner/trainer/checkpoint/checksums.h"
#include "runner/trainer/checkpoint/names.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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

// The first entry that is none of a checkpoint's files.
std::optional<std::string> foreign_entry(const fs::path& folder)
{
    const std::string own[]{kStateFile, kChecksumFile, "config.json", index_name("model"), index_name("optimizer")};
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        const bool tensors
            = (name.starts_with("model-") || name.starts_with("optimizer-")) && name.ends_with(".safetensors");
        // A killed write leaves its temporary file.
        const bool temporary = name.starts_with('.') && name.ends_with(".tmp");
        const bool named = tensors || temporary || std::ranges::find(own, name) != std::end(own);
        if (!named || entry.symlink_status(ignored).type() != fs::file_type::regular)
            return name;
    }
    return std::nullopt;
}

Problem not_ours(const fs::path& folder, const std::string& what)
{
    return {ProblemCode::refused, what + ", so the checkpoint of that step does not replace it",
        "move it away, or choose another run.checkpoint.path", folder.string()};
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

// A whole checkpoint that may not have its name gets one that no save empties: it may be all that a run has left. Where
// that fails it keeps the one that it has.
fs::path set_aside(const fs::path& partial, const fs::path& target)
{
    std::error_code error;
    fs::path aside;
    for (int i = 1; aside.empty() || fs::exists(fs::symlink_status(aside, error)); ++i)
        aside = target.string() + kAside + (i > 1 ? std::string("-").append(std::to_string(i)) : "");
    fs::rename(partial, aside, error);
    return error ? partial : aside;
}
} // namespace

Expected<void> check_only_ours(const fs::path& folder)
{
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(folder, ignored)))
        return {};
    if (!fs::is_directory(folder, ignored))
        return not_ours(folder, "is not a folder");
    if (const auto entry = foreign_entry(folder))
        return not_ours(folder, "holds " + in_quotes(*entry) + ", which is none of a checkpoint's files");
    return {};
}

Expected<void> check_replaceable(const fs::path& step)
{
    FOURFOLD_CHECK(check_only_ours(step));
    std::error_code ignored;
    const auto has = [&](const char* file) { return fs::exists(step / file, ignored); };
    if (fs::exists(step, ignored) && !fs::is_empty(step, ignored) && !has(kStateFile) && !has(kChecksumFile))
        return not_ours(step, std::string("has no ") + kStateFile + ": it is no checkpoint of this trainer");
    return {};
}

Expected<void> check_steps(const fs::path& folder, int first, int last, int every)
{
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const auto step = step_of(entry.path());
        if (step && *step > first && (*step == last || (*step < last && *step % every == 0)))
            FOURFOLD_CHECK(check_replaceable(entry.path()));
    }
    return {};
}

Expected<FileDescriptor> hold_folder(const fs::path& folder, const SaverName& name, double patience_s)
{
    constexpr double kLeaseOfTheDead = 100; // seconds
    const std::chrono::duration<double> patience(std::min(kLeaseOfTheDead, patience_s));
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    const fs::path file = folder / kLockFile;
    constexpr int kHow = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    FileDescriptor held(::open(file.c_str(), O_RDWR | O_CREAT | kHow, 0644));
    if (held.valid())
        ::fchmod(held.get(), 0644); // whatever the umask: another user who saves here has to see it held
    else if (errno == EACCES)
        held = FileDescriptor(::open(file.c_str(), O_RDONLY | kHow)); // another user's
    if (!held.valid() && errno == EACCES && fs::exists(fs::symlink_status(file, ignored)))
        return Problem{ProblemCode::refused,
            "belongs to another user and cannot be opened, so whether that one's run saves into this folder is not "
            "known",
            "remove it if no run saves there, or choose another run.checkpoint.path", file.string()};
    if (!held.valid() || !check_regular(held.get(), file))
        return FileDescriptor();
    const auto begin = std::chrono::steady_clock::now();
    bool looked = false;
    while (::flock(held.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return FileDescriptor();
        const auto json = read_json_file(file, 4096);
        const auto other = [&](const char* key) {
            return printable(member_or(json ? *json : Json(), key, std::string("(unknown)")), 100);
        };
        // A file server keeps the locks of a host that died for a while. And who has just taken the lock has yet to
        // write its name over that of the run before.
        const bool is_named = std::exchange(looked, true);
        const bool may_be_dead = other("host") != name.host;
        if (!is_named) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            continue;
        }
        if (may_be_dead && std::chrono::steady_clock::now() - begin < patience) {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            continue;
        }
        return Problem{ProblemCode::refused,
            "run " + other("run") + " on " + other("host")
                + " saves into this folder: two runs would take each other's checkpoints apart",
            "choose another run.checkpoint.path, or wait for that run's end", folder.string()};
    }
    const std::string text = Json{{"run", name.run}, {"host", name.host}}.dump();
    if (::ftruncate(held.get(), 0) == 0) // who it is, is for people
        [[maybe_unused]]
        const auto written = ::write(held.get(), text.data(), text.size());
    return held;
}

Expected<void> publish_step(const fs::path& partial, const fs::path& target)
{
    if (auto kept = check_replaceable(target); !kept) {
        Problem problem = std::move(kept).error();
        problem.hint = "what was saved is whole in " + set_aside(partial, target).string()
            + ": move the other away and rename it";
        return problem;
    }
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

std::vector<fs::path> set_others_aside(const fs::path& folder, const std::function<bool(int step)>& own)
{
    std::vector<fs::path> aside;
    std::error_code ignored;
    for (const auto& [step, path] : step_folders(folder)) {
        if (own(step) || fs::is_empty(path, ignored) || !check_replaceable(path))
            continue;
        if (const fs::path kept = set_aside(path, path); kept != path)
            aside.push_back(kept);
    }
    return aside;
}

void remove_oldest(const fs::path& folder, int steps, int keep)
{
    auto kept = step_folders(folder);
    kept.erase(kept.upper_bound(steps), kept.end());
    std::erase_if(kept, [](const auto& step) { return !check_replaceable(step.second); });
    for (; int(kept.size()) > std::max(1, keep); kept.erase(kept.begin()))
        remove_step(kept.begin()->second);
    std::error_code ignored;
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const auto step = step_of(entry.path().stem());
        const std::string rest = entry.path().extension().string();
        if (step && *step <= steps && (rest == kPartial || rest == kRemoved) && !foreign_entry(entry.path()))
            left.push_back(entry.path());
    }
    for (const fs::path& path : left)
        fs::remove_all(path, ignored);
}

} // namespace fourfold::trainer
