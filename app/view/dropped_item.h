// SPDX-License-Identifier: GPL-3.0-or-later
// What a file or folder is that somebody gives: dropped on the window, chosen there, named at a terminal. Judged by
// what it holds and not by its name.
#pragma once

#include "core/base/expected.h"

#include <filesystem>

namespace fourfold::view {

enum class DroppedKind {
    plan, // a plan file
    project, // a project's folder, or one with plans
    model, // a Hugging Face config.json, or the folder that holds one
    run, // a run's folder, or an exported run
    measurements, // a table of measurements (CSV)
    trace, // of a step: torch.profiler's, or one that Fourfold wrote; may be packed
    tracker, // a file or folder of TensorBoard or Weights & Biases
};

struct DroppedItem {
    DroppedKind kind = DroppedKind::plan;
    std::filesystem::path file; // the one to read; a run's folder itself
};
// Fails with what was expected instead.
Expected<DroppedItem> classify(const std::filesystem::path& path);

} // namespace fourfold::view
