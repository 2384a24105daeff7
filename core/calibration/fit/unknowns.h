// SPDX-License-Identifier: GPL-3.0-or-later
// The unknowns of a fit: which constant of which GPU, its prior, and how the solver's numbers become constants.
#pragma once

#include "core/calibration/fit/fit.h"
#include "core/calibration/fit/solve.h"

#include <map>
#include <string>
#include <vector>

namespace fourfold {

struct Unknown {
    FittedConstant constant;
    std::string gpu; // empty: one value for all GPUs of the rows
    double middle = 0; // of its prior
    double before = 0; // the stack's value

    // The solver's number: ln(value / middle), or value - middle where linear.
    [[nodiscard]] double value(double x) const;
    [[nodiscard]] double x(double value) const;
};

class Unknowns {
public:
    Unknowns(const Stack& base, const FitSet& set, Quantity quantity, const std::vector<std::string>& gpus,
        const FitOptions& options);

    [[nodiscard]] const std::vector<Unknown>& list() const { return list_; }
    // Names in the order of the values of one GPU, and those values.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] std::vector<double> values(const std::string& gpu, const std::vector<double>& x) const;
    // Position in names() of unknown i for that GPU; -1 where it belongs to another.
    [[nodiscard]] int position(std::size_t unknown, const std::string& gpu) const;

    // Start, bounds and prior.
    [[nodiscard]] LeastSquares problem(const FitOptions& options, double overall_width) const;
    // Writes the constants where `scope` wants them.
    void store(const std::vector<double>& x, FitScope scope, const std::vector<std::string>& gpus, Stack& stack) const;

private:
    std::vector<Unknown> list_;
    std::vector<std::string> names_;
    std::map<std::string, std::vector<std::size_t>> of_gpu_; // unknown of each name
};

} // namespace fourfold
