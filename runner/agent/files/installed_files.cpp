// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/files/installed_files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace fourfold {

namespace {

constexpr std::size_t kMostFolders = 512;
constexpr uint64_t kSmall = 1u << 20; // sent sooner than looked for

// Where packages of Python lie below a prefix, and libraries within them.
constexpr std::array<const char*, 3> kPackages{
    "/lib/python3*/site-packages", "/lib/python3*/dist-packages", "/lib64/python3*/site-packages"};
constexpr std::array<const char*, 3> kInPackages{"/torch/lib", "/nvidia/*/lib", "/nvidia/lib"};

std::vector<std::string> prefixes(const std::string& home)
{
    std::vector<std::string> out;
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        if (const char* value = std::getenv(name); value && value[0] == '/')
            out.emplace_back(value);
    }
    if (!home.empty()) {
        for (const char* place : {"/.local", "/*", "/.venv", "/*/.venv", "/miniconda3/envs/*", "/anaconda3/envs/*",
                 "/miniforge3/envs/*", "/.conda/envs/*", "/.pyenv/versions/*"})
            out.push_back(home + place);
    }
    for (const char* place : {"/usr/local", "/usr", "/opt/*", "/opt/*/*", "/opt/conda/envs/*"})
        out.emplace_back(place);
    return out;
}

std::vector<std::string> patterns()
{
    const char* home_variable = std::getenv("HOME");
    const std::string home = home_variable && home_variable[0] == '/' ? home_variable : "";
    std::vector<std::string> out;
    std::istringstream own(std::getenv("LD_LIBRARY_PATH") ? std::getenv("LD_LIBRARY_PATH") : "");
    for (std::string folder; std::getline(own, folder, ':');) {
        if (folder.starts_with('/'))
            out.push_back(folder);
    }
    if (!home.empty()) {
        out.push_back(home + "/.cache/fourfold/*/torch/lib");
        out.push_back(home + "/.cache/fourfold/*/nvidia/*/lib");
        out.push_back(home + "/libtorch/lib");
    }
    for (const std::string& prefix : prefixes(home)) {
        for (const char* packages : kPackages) {
            for (const char* inside : kInPackages)
                out.push_back(prefix + packages + inside);
        }
    }
    for (const char* place : {"/opt/libtorch/lib", "/usr/local/libtorch/lib", "/usr/local/cuda*/lib64",
             "/usr/local/cuda*/targets/x86_64-linux/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"})
        out.emplace_back(place);
    return out;
}

bool matches(std::string_view name, std::string_view pattern)
{
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos)
        return name == pattern;
    if (!name.starts_with(pattern.substr(0, star)))
        return false;
    const std::string_view rest = pattern.substr(star + 1);
    for (std::size_t begin = star; begin <= name.size(); ++begin) {
        if (matches(name.substr(begin), rest))
            return true;
    }
    return false;
}

} // namespace

std::vector<std::filesystem::path> folders_like(const std::string& pattern, std::size_t most)
{
    std::vector<std::filesystem::path> found{"/"};
    for (const auto& part : std::filesystem::path(pattern).relative_path()) {
        std::vector<std::filesystem::path> next;
        std::error_code error;
        for (const auto& folder : found) {
            if (part.string().find('*') == std::string::npos) {
                if (std::filesystem::is_directory(folder / part, error))
                    next.push_back(folder / part);
                continue;
            }
            for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
                 entry.increment(error)) {
                if (next.size() < most && matches(entry->path().filename().string(), part.string())
                    && entry->is_directory(error))
                    next.push_back(entry->path());
                error.clear();
            }
        }
        std::sort(next.begin(), next.end());
        found = std::move(next);
    }
    return found;
}

std::vector<std::string> InstalledFiles::find(const std::string& name, std::optional<uint64_t> size)
{
    std::vector<std::string> out;
    if ((size && *size < kSmall) || name.empty() || name.find('/') != std::string::npos)
        return out;
    if (!looked_) {
        looked_ = true;
        for (const std::string& pattern : patterns()) {
            for (auto& folder : folders_like(pattern, kMostFolders)) {
                if (folders_.size() < kMostFolders
                    && std::find(folders_.begin(), folders_.end(), folder) == folders_.end())
                    folders_.push_back(std::move(folder));
            }
        }
    }
    for (const auto& folder : folders_) {
        std::error_code error;
        const auto file = folder / name;
        if (std::filesystem::is_regular_file(file, error)
            && (!size || std::filesystem::file_size(file, error) == *size))
            out.push_back(file.string());
    }
    return out;
}

} // namespace fourfold
