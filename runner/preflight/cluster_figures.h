// SPDX-License-Identifier: GPL-3.0-or-later
// What a probe measured, as a cluster preset of the user's own that the planner uses.
#pragma once

#include "core/base/json.h"
#include "runner/preflight/probe.h"

#include <filesystem>
#include <string>

namespace fourfold {

// Fails where the names alone make it impossible: to be known before minutes are spent on measuring.
Expected<void> check_cluster_id(const std::string& id, const std::string& like = {});
// A cluster object (core/hardware). Nodes without GPUs: cores with their measured memory bandwidth and matrix speed,
// and the measured links. With GPUs: GPU and links within a node of the preset `like`, which must be named, and the
// measured links between nodes. `source` says what was measured how. `id` of letters, digits, '.', '-' and '_'.
Expected<Json> cluster_preset(const ProbeReport& report, const std::string& id, const std::string& like = {});
// Writes it to the user's presets; an existing file is replaced only when it came from a probe as well.
Expected<std::filesystem::path> save_cluster(
    const ProbeReport& report, const std::string& id, const std::string& like = {});

} // namespace fourfold
