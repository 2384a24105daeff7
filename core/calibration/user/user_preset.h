// SPDX-License-Identifier: GPL-3.0-or-later
// A calibration as a preset of the user's own, in config_folder()/presets.
#pragma once

#include "core/calibration/user/calibrate.h"

#include <filesystem>
#include <string>

namespace fourfold {

// "<stack>-calibrated" or "<cluster>-calibrated".
std::string default_preset_id(const Calibration& calibration);

// The preset file's content: the base preset's with the fitted constants, where they come from, and `base` with the
// SHA-256 of the base preset's file, so that a later change of what ships is noticed.
Expected<Json> preset_of(const Calibration& calibration, const std::string& id, const Presets& presets);

// Writes it under `id` (empty: the default) and returns the file. Fails on an id that cannot be a file name, and on one
// that names a preset that ships: plans would silently mean something else.
Expected<std::filesystem::path> save_preset(
    const Calibration& calibration, const std::string& id, const Presets& presets);

} // namespace fourfold
