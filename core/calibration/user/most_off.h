// SPDX-License-Identifier: GPL-3.0-or-later
// Fills the history's "most off": each stored trace is compared once with what its plan predicts.
#pragma once

#include "core/base/expected.h"

#include <filesystem>
#include <stop_token>

namespace fourfold {

// Every run whose trace was not compared yet, newest first. Returns how many were; may be stopped between two runs.
Expected<int> compare_traces(const std::filesystem::path& history, const std::stop_token& stop = {});

} // namespace fourfold
