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

std::map<int, std::filesystem::path> step_folders(const std::filesystem::path& folder)
{
    std::map<int, std::filesystem::path> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(kPrefix))
            continue;
        const int steps = std::atoi(name.c_str() + kPrefix.size());
        if (step_name(steps) == name && std::filesystem::exists(entry.path() / "trainer.json"))
            found[steps] = entry.path();
    }
    return found;
}

std::string stage_file(const std::string& kind, int stage, int stages)
{
    char text[64];
    std::snprintf(text, sizeof text, "-%05d-of-%05d.safetensors", stage + 1, stages);
    return kind + text;
}

bool stored_here(const Shard& shard, int pp_rank)
{
    return shard.replication != Replication::ends || pp_rank == 0;
}

} // namespace fourfold::trainer
