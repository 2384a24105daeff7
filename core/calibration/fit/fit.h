// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the constants of a stack to measured rows: robust least squares with a prior on every constant (maximum a
// posteriori). Two separate problems: step time, and memory.
//
//   time     r = ln(predicted / measured) / noise, soft-L1 loss
//   memory   the same of GiB; rows that ran or ran out of memory add a hinge at the GPU's capacity
//   prior    the distance of a constant from its prior over its width; constants that follow the overall speed share a
//            common part, so that a single row moves all of them together
//
// Needs the library Ceres Solver; only fourfold_fit does. Results do not depend on the number of threads.
#pragma once

#include "core/plan/plan.h"
#include "core/stack/fit_set.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

enum class Outcome { ran, out_of_memory };

// One measured row. The constants of plan.stack are replaced by those under trial.
struct FitRow {
    ResolvedPlan plan;
    std::string label; // for messages
    Outcome outcome = Outcome::ran;
    std::optional<double> step_time_s, memory_gib; // memory in the stack's convention
    double time_weight = 1, memory_weight = 1; // of the squared residual
};

enum class Quantity { time, memory };

// Where the priors lie, and where the result goes.
enum class FitScope {
    // Priors as in the preset; shared constants for the whole stack, the others under their GPU. For the fits that
    // ship.
    stack,
    // Priors at the stack's present values for the GPU; every constant under the GPUs of the rows, so that other GPUs
    // keep theirs. For a user's own measurements.
    gpu,
};

struct FitOptions {
    FitScope scope = FitScope::gpu;
    double time_noise = 0.03, memory_noise = 0.05; // of ln(predicted / measured)
    int threads = 0; // 0: all cores
    int iterations = 60;
    double tolerance = 1e-5; // relative change of the cost at which it ends
    std::vector<Quantity> quantities{Quantity::time, Quantity::memory}; // which problems are solved
    // In the scope of a GPU: take over no more than the rows can tell. Runs of one kind scatter; one row that is as far
    // off as those are says nothing of the constants.
    bool shrink = true;
    // Constants kept at a value and not fitted (ablations).
    std::vector<std::pair<std::string, double>> pinned;
};

// What became of one constant.
struct ConstantEstimate {
    std::string name, gpu; // gpu empty: for the whole stack
    Quantity quantity = Quantity::time;
    double before = 0, prior = 0, value = 0;
    // Standard deviations in the constant's measure (ln, or linear): before and after the measurements.
    double prior_width = 0, posterior_width = 0;
    bool linear = false;
    bool at_bound = false;
    bool influences = false; // any row changes with it
    // The measurements said more than the prior: its width fell clearly.
    [[nodiscard]] bool determined() const { return influences && posterior_width < 0.7 * prior_width; }
    [[nodiscard]] bool moved() const; // by more than a tenth of its prior's width
};

// Mean absolute errors over rows, relative; of throughput (measured step / predicted - 1) and memory.
struct FitError {
    int time_rows = 0, memory_rows = 0;
    double time = 0, time_bias = 0, memory = 0, memory_gib = 0;
    int cells = 0, right = 0; // fits or not, of rows that ran or ran out of memory
};

struct FitResult {
    Stack stack; // with the fitted constants
    std::vector<ConstantEstimate> constants;
    FitError before, after; // on the rows themselves
    // Of the step time that the rows asked for, how much was taken over: 0 where they are no further off than runs of
    // one kind scatter.
    double time_share = 1;
    double scatter = 0; // of step times, standard deviation of the logarithm
    int time_rows = 0, memory_rows = 0, unusable_rows = 0; // unusable: rows that no program can be built for
    int iterations = 0;
    bool converged = false;
    double milliseconds = 0;
};

// `base` is every row's stack before the fit. Fails with bad_input when no row can be used, and names why.
Expected<FitResult> fit_stack(
    const Stack& base, const FitSet& set, const std::vector<FitRow>& rows, const FitOptions& options = {});

// Errors of a stack on rows, without fitting.
FitError fit_error(const Stack& stack, const std::vector<FitRow>& rows);

// Predicted step time and memory of one row with a stack's constants; empty where no program can be built.
struct RowPrediction {
    std::optional<double> step_time_s, memory_gib, memory_device_gib;
};
RowPrediction predict_row(const Stack& stack, const FitRow& row);

} // namespace fourfold
