// SPDX-License-Identifier: GPL-3.0-or-later
// Robust least squares with bounds and a Gaussian prior, over residuals that a callback computes. The only file that
// knows the solver library.
#pragma once

#include "core/base/expected.h"

#include <functional>
#include <vector>

namespace fourfold {

struct LeastSquares {
    std::vector<double> start, low, high; // unknowns, and their bounds
    // All data residuals at x, in units of their noise. Called from one thread; must be a pure function of x.
    std::function<void(const std::vector<double>& x, std::vector<double>& residuals)> residuals;
    // The same with one row of derivatives a residual (row-major, residuals x unknowns).
    std::function<void(const std::vector<double>& x, std::vector<double>& residuals, std::vector<double>& jacobian)>
        derivatives;
    std::size_t residual_count = 0;
    double soft_l1_scale = 1; // residuals beyond this count linearly, not squared
    std::vector<double> prior; // middle of the prior
    std::vector<double> prior_covariance; // row-major
    int iterations = 60;
    double tolerance = 1e-5; // relative change of the cost at which it ends
};

struct LeastSquaresSolution {
    std::vector<double> x;
    std::vector<double> covariance; // row-major: posterior, with robust weights
    std::vector<double> information; // diagonal of J^T W J: what the data alone say of each unknown
    int iterations = 0;
    bool converged = false;
};

Expected<LeastSquaresSolution> solve(const LeastSquares& problem);

} // namespace fourfold
