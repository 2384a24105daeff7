// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/export_folder.h"

#include "runner/trainer/checkpoint/index_files.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/publish.h"

#include "core/base/json.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;

constexpr char kFilledFrom[] = "model.partial"; // within the folder that is filled

Problem problem_of(ProblemCode code, const std::string& what, const std::string& cure, const fs::path& where)
{
    return {code, what, cure, where.string()};
}

fs::path without_slash(const fs::path& output)
{
    return output.has_filename() ? output : output.parent_path();
}

// As a save, an unfinished one, or one that was set aside calls it.
bool has_step_name(const fs::path& folder)
{
    const std::array<std::string, 4> endings{"", kPartial, kRemoved, kAside};
    return std::ranges::any_of(endings, [&](const std::string& ending) {
        const std::string name = folder.filename().string();
        return name.ends_with(ending) && step_of(name.substr(0, name.size() - ending.size()));
    });
}

Expected<void> check_outside(const fs::path& output, const fs::path& exported)
{
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(fs::absolute(output, error), error);
    for (fs::path at = whole; at.has_relative_path(); at = at.parent_path()) {
        const bool is_checkpoint = fs::exists(at / kStateFile, error) && fs::exists(at / index_name("model"), error);
        if (at == whole ? has_step_name(at) : has_step_name(at) || is_checkpoint)
            return problem_of(ProblemCode::bad_input,
                at == whole ? "is the name of a checkpoint, which runs would take it for"
                            : "lies in a checkpoint, which no save could replace then",
                "name an --output outside of checkpoints", output);
        if (fs::equivalent(at, exported, error))
            return problem_of(ProblemCode::bad_input, "lies in the folder that is exported",
                "name an --output outside of it", output);
    }
    return {};
}

Expected<void> check_free(const fs::path& output)
{
    std::error_code error;
    if (!fs::exists(fs::symlink_status(output, error)))
        return {};
    fs::directory_iterator entry(output, error);
    // At most what an earlier export left.
    while (!error && entry != fs::end(entry) && entry->path().filename() == kFilledFrom)
        entry.increment(error);
    if (!error && entry == fs::end(entry))
        return {};
    return problem_of(ProblemCode::bad_input, "exists and is not an empty folder",
        "name another --output, or remove it first if it is not needed", output);
}

// An export that was killed leaves these, and half-written ones.
bool is_of_an_export(const fs::directory_entry& entry)
{
    constexpr std::array kEndings{".safetensors", ".json", ".txt", ".model", ".jinja", ".tmp"};
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    return entry.symlink_status(ignored).type() == fs::file_type::regular
        && std::ranges::any_of(kEndings, [&](const char* ending) { return name.ends_with(ending); });
}

// The folder itself, locked where the file system knows locks of folders.
Expected<FileDescriptor> hold(const fs::path& partial, bool is_new)
{
    FileDescriptor held(::open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!held.valid())
        return problem_of(ProblemCode::io, std::string("cannot be opened: ") + std::strerror(errno), "", partial);
    const bool locked = ::flock(held.get(), LOCK_EX | LOCK_NB) == 0, is_held = !locked && errno == EWOULDBLOCK;
    struct stat now { };
    struct stat opened { };
    const bool moved = ::lstat(partial.c_str(), &now) != 0 || ::fstat(held.get(), &opened) != 0
        || now.st_ino != opened.st_ino || now.st_dev != opened.st_dev;
    if (moved || is_held)
        return problem_of(
            ProblemCode::refused, "another export writes it", "wait for its end, or name another --output", partial);
    if (is_new)
        return held;
    std::vector<fs::path> files;
    std::error_code error;
    bool all = locked; // where locks are unknown it may be somebody's who is at work
    for (const auto& entry : fs::directory_iterator(partial, error)) {
        all = all && is_of_an_export(entry);
        files.push_back(entry.path());
    }
    if (error || !all)
        return problem_of(ProblemCode::refused, "is in the way: an export writes there until it has ended",
            "name another --output, or move it away if nothing writes it", partial);
    for (const fs::path& file : files)
        fs::remove(file, error);
    return held;
}

Expected<void> put(const fs::path& from, const fs::path& to)
{
    std::error_code error;
    fs::rename(from, to, error);
    if (error)
        return problem_of(ProblemCode::io, "cannot be put in its place: " + error.message(), "", to);
    return {};
}
} // namespace

Expected<void> move_files(const fs::path& from, const fs::path& to, std::vector<std::string> names)
{
    constexpr const char* kConfig = "config.json";
    std::ranges::stable_partition(names, [](const std::string& name) { return name != kConfig; });
    std::error_code ignored;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (const auto placed = put(from / names[i], to / names[i]); !placed) {
            for (std::size_t moved = 0; moved < i; ++moved)
                fs::remove(to / names[moved], ignored);
            return placed.error();
        }
    }
    fs::remove(from, ignored);
    return {};
}

Expected<void> check_export_output(const fs::path& output, const fs::path& exported)
{
    const fs::path named = without_slash(output);
    FOURFOLD_CHECK(check_outside(named, exported));
    return check_free(named);
}

Expected<ExportFolder> ExportFolder::make(const fs::path& output)
{
    ExportFolder made;
    made.output_ = without_slash(output);
    std::error_code error;
    made.fills_ = fs::is_directory(made.output_, error);
    made.partial_ = made.fills_ ? made.output_ / kFilledFrom : fs::path(made.output_.string() + ".partial");
    if (const fs::path above = made.partial_.parent_path(); !above.empty())
        FOURFOLD_CHECK(make_folders(above));
    const bool is_new = ::mkdir(made.partial_.c_str(), 0777) == 0;
    if (!is_new && errno != EEXIST)
        return problem_of(ProblemCode::io, std::string("cannot be made: ") + std::strerror(errno), "", made.partial_);
    FOURFOLD_TRY(made.held_, hold(made.partial_, is_new));
    return made;
}

ExportFolder::~ExportFolder()
{
    std::error_code ignored;
    if (held_.valid())
        fs::remove_all(partial_, ignored);
}

Expected<void> ExportFolder::publish(const std::vector<std::string>& files)
{
    FOURFOLD_CHECK(fills_ ? move_files(partial_, output_, files) : put(partial_, output_));
    held_.close();
    return {};
}

} // namespace fourfold::trainer
