// SPDX-License-Identifier: GPL-3.0-or-later
// Libraries that a node has of its own: LibTorch and NVIDIA's libraries of Python packages, CUDA toolkits, the system.
// What is found counts only when its SHA-256 is the wanted one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// Looks for the folders once, when it is first asked.
class InstalledFiles {
public:
    // Files of this name and size (of any size without one), the likeliest first. Small ones are not looked for.
    std::vector<std::string> find(const std::string& name, std::optional<uint64_t> size);

private:
    std::vector<std::filesystem::path> folders_;
    bool looked_ = false;
};

// The folders that a pattern with `*` as whole or part of a name stands for; at most `most`.
std::vector<std::filesystem::path> folders_like(const std::string& pattern, std::size_t most);

} // namespace fourfold
