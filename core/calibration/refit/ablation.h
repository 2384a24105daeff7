// SPDX-License-Identifier: GPL-3.0-or-later
// What each term of the model is worth on a body of measurements: the term switched off, everything else fitted again.
#pragma once

#include "core/calibration/refit/corpus.h"

#include <filesystem>

namespace fourfold {

// Prints the table; appends it as Markdown to `report` where that is given.
Expected<void> ablate(const Corpus& corpus, const FitSet& set, const Stack& full, const FitOptions& options,
    const std::filesystem::path& report);

} // namespace fourfold
