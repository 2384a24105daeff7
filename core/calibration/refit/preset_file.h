// SPDX-License-Identifier: GPL-3.0-or-later
// Writes fitted constants into a stack's preset file, leaving everything else as it stands.
#pragma once

#include "core/stack/stack.h"

#include <filesystem>

namespace fourfold {

// Constants of `fitted` that differ from those of `before`, into <presets>/stacks/<id>.json.
Expected<void> write_constants(const std::filesystem::path& presets, const Stack& before, const Stack& fitted);

} // namespace fourfold
