// SPDX-License-Identifier: GPL-3.0-or-later
// A calibration as a preset of the user's own, in config_folder()/presets.
#pragma once

#include "core/calibration/user/calibrate.h"

#include <filesystem>
#include <optional>
#include <string>

namespace fourfold {

// "<stack>-calibrated" or "<cluster>-calibrated".
std::string default_preset_id(const Calibration& calibration);
// What a plan writes to use the calibration that is saved under `id`: the id, of a stack's release "id@release".
std::string name_in_plans(const Calibration& calibration, const std::string& id);

// Whether a calibration of that stack, or of that cluster for it, can be saved under `id` (empty: the default): it is
// asked before minutes are spent on a fit. Fails as save_preset() would.
Expected<void> check_preset_id(
    const std::optional<std::string>& cluster, const std::string& stack, const std::string& id);

// The preset file's content: the base preset's with the fitted constants, where they come from, and `base` with the
// SHA-256 of the base preset's file, so that a later change of what ships is noticed.
Expected<Json> preset_of(const Calibration& calibration, const std::string& id, const Presets& presets);

// Writes it under `id` (empty: the default) and returns the file. Fails on an id that cannot be a file name, on one
// that names a preset that ships (plans would silently mean something else), and on one of a preset made by hand.
Expected<std::filesystem::path> save_preset(
    const Calibration& calibration, const std::string& id, const Presets& presets);

} // namespace fourfold
