// SPDX-License-Identifier: GPL-3.0-or-later
// What `calibrate` is worth with few measurements: the generic stack, which has seen none of them, calibrated on one
// row of each table and on ten rows of each set; the other rows are scored.
#pragma once

#include "core/calibration/refit/corpus.h"

#include <filesystem>

namespace fourfold {

Expected<void> fit_few_rows(
    const Corpus& corpus, const Presets& presets, int threads, const std::filesystem::path& report);

} // namespace fourfold
