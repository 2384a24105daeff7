// SPDX-License-Identifier: GPL-3.0-or-later
// A model without a plan: one rank that holds all of it, in fp32.
#pragma once

#include "core/plan/plan.h"

#include <filesystem>

namespace fourfold::trainer {

// The folder of the checkpoint that is meant: that of a step, the newest step of a FOLDER of them, or a model of
// Hugging Face's.
std::filesystem::path checkpoint_folder(const std::filesystem::path& named);

// Of the model that the folder's config.json describes. Only what model and checkpoint ask of a plan is set.
Expected<ResolvedPlan> one_rank_plan(const std::filesystem::path& folder);

} // namespace fourfold::trainer
