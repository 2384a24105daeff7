// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/fit/unknowns.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cmath>

namespace fourfold {
namespace {

double default_of(const std::string& name)
{
    for (const ConstantInfo& constant : kConstantTable) {
        if (constant.name == name)
            return constant.prior;
    }
    return 0;
}

// A constant is a share, a ratio or a time: a fit that leaves more than this behind the comma tells noise.
double rounded(double value)
{
    if (value == 0 || !std::isfinite(value))
        return 0;
    const double scale = std::pow(10.0, 4 - std::ceil(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}

} // namespace

double Unknown::value(double x) const
{
    const double value = constant.linear ? middle + x : middle * std::exp(x);
    return std::clamp(value, constant.low, constant.high);
}

double Unknown::x(double value) const
{
    const double held = std::clamp(value, constant.low, constant.high);
    return constant.linear ? held - middle : std::log(held / middle);
}

Unknowns::Unknowns(const Stack& base, const FitSet& set, Quantity quantity, const std::vector<std::string>& gpus,
    const FitOptions& options)
{
    const auto add = [&](const FittedConstant& constant, const std::string& gpu) {
        Unknown unknown{constant, gpu, constant.prior, 0};
        const std::string& known_by = gpu.empty() ? gpus.front() : gpu;
        unknown.before = base.constant(constant.name, known_by, default_of(constant.name));
        if (options.scope == FitScope::gpu)
            unknown.middle = std::clamp(unknown.before, constant.low, constant.high);
        list_.push_back(unknown);
    };
    const auto add_all = [&](const std::vector<FittedConstant>& constants, bool shared) {
        for (const FittedConstant& constant : constants) {
            const bool pinned = std::any_of(options.pinned.begin(), options.pinned.end(),
                [&](const auto& pin) { return pin.first == constant.name; });
            if (pinned)
                continue;
            names_.push_back(constant.name);
            if (shared) {
                for (const std::string& gpu : gpus)
                    of_gpu_[gpu].push_back(list_.size());
                add(constant, "");
            } else {
                for (const std::string& gpu : gpus) {
                    of_gpu_[gpu].push_back(list_.size());
                    add(constant, gpu);
                }
            }
        }
    };
    if (quantity == Quantity::time) {
        add_all(set.shared, true);
        add_all(set.per_gpu, false);
    } else {
        add_all(set.memory, true);
    }
}

std::vector<double> Unknowns::values(const std::string& gpu, const std::vector<double>& x) const
{
    std::vector<double> values;
    for (std::size_t unknown : of_gpu_.at(gpu))
        values.push_back(list_[unknown].value(x[unknown]));
    return values;
}

int Unknowns::position(std::size_t unknown, const std::string& gpu) const
{
    const auto& own = of_gpu_.at(gpu);
    const auto at = std::find(own.begin(), own.end(), unknown);
    return at == own.end() ? -1 : int(at - own.begin());
}

LeastSquares Unknowns::problem(const FitOptions& options, double overall_width) const
{
    LeastSquares problem;
    const std::size_t n = list_.size();
    problem.iterations = options.iterations;
    problem.tolerance = options.tolerance;
    problem.prior.assign(n, 0);
    problem.prior_covariance.assign(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        const Unknown& unknown = list_[i];
        problem.low.push_back(unknown.x(unknown.constant.low));
        problem.high.push_back(unknown.x(unknown.constant.high));
        problem.start.push_back(unknown.x(unknown.before));
        problem.prior_covariance[i * n + i] += unknown.constant.width * unknown.constant.width;
        for (std::size_t j = 0; j < n; ++j) {
            const Unknown& other = list_[j];
            // The overall speed of the software on one GPU; GPUs have theirs independently.
            if (unknown.gpu != other.gpu || unknown.constant.linear || other.constant.linear)
                continue;
            problem.prior_covariance[i * n + j]
                += unknown.constant.overall * other.constant.overall * overall_width * overall_width;
        }
    }
    return problem;
}

void Unknowns::store(
    const std::vector<double>& x, FitScope scope, const std::vector<std::string>& gpus, Stack& stack) const
{
    for (std::size_t i = 0; i < list_.size(); ++i) {
        const Unknown& unknown = list_[i];
        const double value = rounded(unknown.value(x[i]));
        if (unknown.gpu.empty() && scope == FitScope::stack && !unknown.constant.stays) {
            stack.constants[unknown.constant.name] = value;
            continue;
        }
        for (const std::string& gpu : gpus) {
            if (unknown.gpu.empty() || unknown.gpu == gpu)
                stack.gpu_constants[gpu][unknown.constant.name] = value;
        }
    }
}

} // namespace fourfold
