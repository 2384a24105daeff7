// SPDX-License-Identifier: GPL-3.0-or-later
// Whether programs and libraries can be loaded on this node, without running them: asked of the node's own dynamic
// loader.
#pragma once

#include "core/base/json.h"
#include "runner/agent/ranks/prelude.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <string>

namespace fourfold {

// The laid-out trainer with the libraries of the run folder: fails when one is missing or wants a newer C library. A
// container has its own loader: nothing is looked at.
Expected<void> check_trainer_loads(const RunSpec& spec, const std::filesystem::path& folder, const Environment& before);
// What the loader complains about in a library list ("not found"), as one line; empty when nothing.
std::string loader_complaint(const std::string& output);

// Findings about the node's own NCCL: where it is, its version, whether it loads (for programs that bring none).
Json nccl_checks();

} // namespace fourfold
