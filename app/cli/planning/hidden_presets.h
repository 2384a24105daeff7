// SPDX-License-Identifier: GPL-3.0-or-later
// Presets of the user's that take the place of those that came with the program, for the commands whose answers say
// something of the latter.
#pragma once

#include "core/plan/resolve.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourfold {

// Kind ("models") and id of a preset.
using PresetName = std::pair<std::string, std::string>;

// Those that a plan names.
std::vector<PresetName> presets_of(const ResolvedPlan& plan);
// All that are known of these kinds.
std::vector<PresetName> presets_of(const std::vector<std::string>& kinds);

// One line that names those of the user's that hide another one; empty: none does. What hides nothing but a copy of
// itself is none, nor what a program of this project measured.
std::optional<std::string> hidden_presets_note(const std::vector<PresetName>& names);

} // namespace fourfold
