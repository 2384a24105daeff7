// SPDX-License-Identifier: GPL-3.0-or-later
// Plans small enough to train in a test, and their data.
#pragma once

#include "core/plan/plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::testing {

// Two layers, 4 heads over 2 key/value heads, a vocabulary of 61 (so that tp pads it), Llama 3 rotary scaling, 8
// sequences of 16 tokens a step, ten steps. `assignments` as in --set ("layout.tp=2"). Data: `tokens`, a file of
// write_tokens(). Throws std::runtime_error where the plan does not resolve.
ResolvedPlan tiny_plan(const std::filesystem::path& tokens, const std::vector<std::string>& assignments = {});
// A file of 4000 little-endian 16-bit tokens below 61, with some order in them that can be learned.
std::filesystem::path write_tokens(const std::filesystem::path& folder);
// Writes the plan as the trainer reads it.
std::filesystem::path write_plan(const ResolvedPlan& plan, const std::filesystem::path& folder);
// The plan that a user gets as the example, with absolute data paths.
ResolvedPlan example_plan(const std::vector<std::string>& assignments = {});

} // namespace fourfold::testing
