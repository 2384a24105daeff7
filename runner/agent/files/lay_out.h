// SPDX-License-Identifier: GPL-3.0-or-later
// A run's files in its folder, as links: bin/libc10.so -> the store, or the place on this node with the same content.
#pragma once

#include "runner/agent/files/store.h"
#include "runner/agent/run/run_folder.h"
#include "runner/protocol/run_spec.h"

namespace fourfold {

// Verifies each against its hash. Links that are there already are made anew.
Expected<void> lay_out_files(Store& store, const RunFolder& folder, const RunSpec& spec);

} // namespace fourfold
