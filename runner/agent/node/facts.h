// SPDX-License-Identifier: GPL-3.0-or-later
// What this node is: system, cores, memory, GPUs, free disk. Reads /proc and asks nvidia-smi where there is one.
#pragma once

#include "core/base/json.h"

#include <filesystem>

namespace fourfold {

// The body of the answer to `hello`. `base` is Fourfold's folder on this node.
Json node_facts(const std::filesystem::path& base);

} // namespace fourfold
