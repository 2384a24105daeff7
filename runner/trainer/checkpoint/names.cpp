// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/names.h"

#include <cstdio>
#include <cstdlib>

namespace fourfold::trainer {

namespace {
constexpr std::string_view kPrefix = "step-";
}

std::string step_name(int steps)
{
    char text[32];
    std::snprintf(text, sizeof text, "step-%08d", steps);
    return text;
}

std::optional<int> step_of(const std::filesystem::path& folder)
{
    const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    if (!name.starts_with(kPrefix))
        return std::nullopt;
    const int steps = std::atoi(name.c_str() + kPrefix.size());
    return step_name(steps) == name ? std::optional(steps) : std::nullopt;
}

std::map<int, std::filesystem::path> step_folders(const std::filesystem::path& folder)
{
    std::map<int, std::filesystem::path> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (const auto steps = step_of(entry.path()); steps && entry.is_directory(ignored))
            found[*steps] = entry.path();
    return found;
}

std::string index_name(const std::string& kind)
{
    return kind + ".safetensors.index.json";
}

std::string part_file(const std::string& kind, int part, int parts)
{
    char text[64];
    std::snprintf(text, sizeof text, "-%05d-of-%05d.safetensors", part + 1, parts);
    return kind + text;
}

bool is_plain_name(const std::string& file)
{
    return !file.empty() && file[0] != '.' && file.find('/') == std::string::npos;
}

} // namespace fourfold::trainer
