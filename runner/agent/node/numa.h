// SPDX-License-Identifier: GPL-3.0-or-later
// Which cores a rank is bound to: those of its GPU's NUMA node.
#pragma once

#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold {

// Cores for `place` by spec.numa, out of `usable`; empty = leave it alone (no such node, or nothing in common).
// `root` stands in for "/" in tests. `visible_devices` is the value of CUDA_VISIBLE_DEVICES, empty when it is not set.
std::vector<int> cores_of_rank(const RunSpec& spec, const RankPlace& place, const std::vector<int>& usable,
    const std::string& visible_devices, const std::filesystem::path& root = "/");

// "0-3,8" -> 0 1 2 3 8
std::vector<int> parse_core_list(const std::string& text);
// Cores that this process may use.
std::vector<int> usable_cores();
// Binds the calling thread (before exec); false when the kernel refuses.
bool bind_to_cores(const std::vector<int>& cores);

} // namespace fourfold
