// SPDX-License-Identifier: GPL-3.0-or-later
// All combinations of meshes, schedules, shardings, recomputation and models, and small sets of rows that cover them.
#pragma once

#include "tests/parity/cases.h"

namespace fourfold::testing {

// Rows such that every combination of `strength` settings (one of each of `strength` different factors) that a job of
// at most `most_ranks` ranks can have is in at least one. Settings that planner or trainer refuse are left out. The
// same rows on every call.
std::vector<Case> covering_array(int strength, int most_ranks);

// Every dimension alone at 2 and 4 and every pair of dimensions, and the four together on 16 ranks.
std::vector<Case> mesh_shapes();

// Plans drawn at random from what the planner's search enumerates for the tiny model on up to `most_ranks` GPUs, of
// those that planner and trainer accept.
std::vector<Case> drawn_cases(int count, unsigned seed, int most_ranks);

// Models, techniques and meshes drawn at random from everything that planner and trainer accept together: documents,
// optimizers, experts, prediction modules, offloading, sharded pipelines. The same on every call with a seed.
std::vector<Case> random_cases(int count, unsigned seed, int most_ranks);

} // namespace fourfold::testing
