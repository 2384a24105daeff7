// SPDX-License-Identifier: GPL-3.0-or-later
// Trains a plan on one rank and on its mesh, as real processes, and says how far apart they are.
#pragma once

#include "core/plan/plan.h"
#include "tests/parity/cases.h"
#include "tests/parity/dumps.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace fourfold::testing {

// Runs parity-worker on every rank of the plan; `flags` are its options. `environment` as in Ranks. What the first rank
// that failed printed; empty: none did.
std::string run_ranks(const ResolvedPlan& plan, const std::filesystem::path& folder,
    const std::vector<std::string>& flags = {}, const std::map<std::string, std::string>& environment = {});

// What the ranks of one job wrote. `problem` names the first rank that failed and holds its log; empty: none did.
struct JobResult {
    std::vector<Dump> dumps; // beside the ranks
    std::vector<Dump> single; // of --both: in fp32, one step
    std::string problem;
};
JobResult run_job(const ResolvedPlan& plan, const std::filesystem::path& folder,
    const std::vector<std::string>& flags = {}, const std::map<std::string, std::string>& environment = {});

// Largest relative differences over all ranks, tensors and steps; infinite where something is missing.
struct Differences {
    double loss = 0, eval_loss = 0, grad_norm = 0, gradient = 0, weight = 0;
    std::string worst_tensor; // by its gradient
    std::string problem; // why there is nothing to compare; empty: there is
    double learned = 0; // last loss / first loss of the one rank
    int64_t overlapped = 0; // gradient reductions of rank 0 that began inside a backward pass
    ResolvedPlan mesh;
    double first_loss = INFINITY; // of the step that both begin with the same weights
    int64_t published_beside = 0; // see Dump, of rank 0
    int64_t replays = 0; // the same, of the rank with the fewest
    double single_loss = 0, single_gradient = 0; // of one step in fp32, after --both
};
// What is above its bound, in words; empty: nothing. fp64: losses of every step 1e-12, gradients of the first step and
// norms 1e-10, weights after the last step 1e-9. fp32, one step: loss 1e-6, gradients 1e-5.
std::string excess(const Differences& worst);
Differences compare(const std::vector<Dump>& dumps, const Dump& one);
// Both jobs of a case. A plan that breaks a rule of the planner or of the trainer is a problem.
Differences compare_with_one_rank(
    const Case& c, const std::vector<std::string>& one_flags, const std::vector<std::string>& mesh_flags);

// Of jobs whose time goes into their messages.
#ifdef FOURFOLD_EVERY_MESH
constexpr int kSteps = 10;
#else
constexpr int kSteps = 3; // the second one begins with weights that the first one moved, the third with moments as well
#endif
Case of_steps(Case c, int steps); // at least, where a ramp-up has to end

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b);

} // namespace fourfold::testing
