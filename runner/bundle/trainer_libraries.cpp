// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/bundle/trainer_libraries.h"

#include "core/base/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace fourfold {

namespace fs = std::filesystem;

namespace {

constexpr char kVariable[] = "FOURFOLD_LIBTORCH";

bool holds_libtorch(const fs::path& torch)
{
    std::error_code error;
    return fs::is_regular_file(torch / "lib/libtorch_cpu.so", error);
}

// LibTorch's own folder, those of the CUDA wheels beside it, and of an installed toolkit.
std::vector<fs::path> library_folders(const fs::path& torch)
{
    std::vector<fs::path> out{torch / "lib"};
    std::error_code error;
    for (fs::directory_iterator entry(torch / "../nvidia", error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (fs::is_directory(entry->path() / "lib", ignored))
            out.push_back(entry->path() / "lib");
    }
    for (const char* toolkit :
        std::initializer_list<const char*>{std::getenv("CUDA_HOME"), std::getenv("CUDA_PATH"), "/usr/local/cuda"}) {
        if (toolkit && fs::is_directory(fs::path(toolkit) / "lib64", error))
            out.push_back(fs::path(toolkit) / "lib64");
    }
    return out;
}

Expected<TrainerLibraries> libraries_with(const fs::path& trainer, const fs::path& torch)
{
    FOURFOLD_TRY(auto libraries, shared_libraries(trainer, library_folders(torch)));
    return TrainerLibraries{std::move(libraries), false};
}

// What the loader misses, with the way to get it.
Problem missing(Problem problem, const fs::path& trainer)
{
    const bool cuda = trainer.filename().string().ends_with("-cuda");
    problem.hint = std::string("get LibTorch " FOURFOLD_TORCH_VERSION " with: fourfold libtorch get")
        + (cuda ? " --cuda, beside a CUDA 13 toolkit" : "") + "; or set " + kVariable + " to its folder";
    return problem;
}

} // namespace

fs::path cached_libtorch()
{
    return cache_folder() / "libtorch-" FOURFOLD_TORCH_VERSION / "torch";
}

std::optional<fs::path> builders_libtorch(const fs::path& named)
{
    std::error_code error;
    const fs::path torch = fs::canonical(named, error), library = fs::canonical(named / "lib/libtorch_cpu.so", error);
    struct stat program { };
    if (error || !named.is_absolute() || library.parent_path() != torch / "lib"
        || stat("/proc/self/exe", &program) != 0)
        return {};
    const fs::path beside = torch.parent_path(); // with nvidia/, see library_folders()
    bool above = false;
    for (fs::path place = library;; place = place.parent_path()) {
        struct stat info { };
        if (lstat(place.c_str(), &info) != 0
            || (info.st_uid != geteuid() && info.st_uid != program.st_uid && info.st_uid != 0)
            || ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !(above && (info.st_mode & S_ISVTX) != 0)))
            return {};
        above = above || place == beside; // in a sticky folder (/tmp) only owners move what is theirs
        if (place == place.root_path())
            return torch;
    }
}

Expected<TrainerLibraries> trainer_libraries(const fs::path& trainer)
{
    if (const char* named = std::getenv(kVariable); named && *named) {
        if (!holds_libtorch(named))
            return Problem{ProblemCode::not_found, "holds no lib/libtorch_cpu.so",
                std::string("set ") + kVariable + " to a folder of LibTorch " FOURFOLD_TORCH_VERSION ", or unset it",
                named};
        return libraries_with(trainer, fs::absolute(named));
    }
    auto alone = shared_libraries(trainer);
    if (alone)
        return TrainerLibraries{std::move(*alone), true};
    Problem problem = alone.error();
    std::error_code error;
    if (problem.code != ProblemCode::not_found || !fs::exists(trainer, error))
        return problem;
    std::vector<fs::path> places;
    if (holds_libtorch(cached_libtorch()))
        places.push_back(cached_libtorch());
    if (const auto torch = builders_libtorch(FOURFOLD_BUILT_WITH))
        places.push_back(*torch);
    for (const fs::path& torch : places) {
        auto found = libraries_with(trainer, torch);
        if (found)
            return found;
        problem = found.error();
    }
    return missing(std::move(problem), trainer);
}

} // namespace fourfold
