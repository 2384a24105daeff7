// SPDX-License-Identifier: GPL-3.0-or-later
// The preset folders: models/, gpus/, clusters/, stacks/, plans/, targets/ as JSON files named <id>.json.
#pragma once

#include "core/hardware/cluster.h"
#include "core/model/model_shape.h"
#include "core/stack/stack.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

class Presets {
public:
    // `folders` in order of precedence; default: preset_folders().
    explicit Presets(std::vector<std::filesystem::path> folders);
    Presets();

    // Each fails with not_found, the nearest ids as hint, or with the file's own error.
    [[nodiscard]] Expected<ModelShape> model(const std::string& id) const;
    [[nodiscard]] Expected<Gpu> gpu(const std::string& id) const;
    [[nodiscard]] Expected<Cluster> cluster(const std::string& id) const;
    // `written`: an id, or id@release.
    [[nodiscard]] Expected<Stack> stack(const std::string& written) const;
    // What a plan may write for `stack`: the ids, each followed by its releases where it has several.
    [[nodiscard]] std::vector<std::string> stack_choices() const;

    // Sorted ids of a kind ("models", "gpus", "clusters", "stacks", "plans", "targets").
    [[nodiscard]] std::vector<std::string> ids(const std::string& kind) const;
    // The file of a preset, for those that front ends read themselves (plans, targets).
    [[nodiscard]] Expected<std::filesystem::path> file(const std::string& kind, const std::string& id) const;

private:
    std::vector<std::filesystem::path> folders_;
};

} // namespace fourfold
