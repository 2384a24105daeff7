// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/fit/fit.h"
#include "core/base/parallel.h"
#include "core/calibration/fit/priced_row.h"
#include "core/calibration/fit/unknowns.h"
#include "core/predict/fit.h"
#include "core/predict/interval.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace fourfold {
namespace {

constexpr double kDifference = 1e-3; // of the solver's number, for derivatives: above the rounding of any price
// What ran does fit; what is said to have run out of memory may have failed for another cause.
constexpr double kProofOfFit = 3;
constexpr double kUnpriced = 10; // residual of ln where a trial gives no price: far, but finite

using Rows = std::vector<PricedRow>;

// What one row adds to the data residuals at given values of its constants.
class RowResiduals {
public:
    RowResiduals(Quantity quantity, const FitOptions& options)
        : quantity_(quantity)
        , options_(options)
    {
    }
    [[nodiscard]] bool uses(const FitRow& row) const
    {
        if (quantity_ == Quantity::time)
            return row.outcome == Outcome::ran && row.step_time_s && row.time_weight > 0;
        return row.memory_weight > 0;
    }
    [[nodiscard]] double at(PricedRow& row, const std::vector<double>& values) const
    {
        return quantity_ == Quantity::time ? time(row, values) : memory(row, values);
    }

private:
    [[nodiscard]] double time(PricedRow& row, const std::vector<double>& values) const
    {
        const double seconds = row.step_time_s(values);
        const double error = seconds > 0 ? std::log(seconds / *row.row().step_time_s) : kUnpriced;
        return std::sqrt(row.row().time_weight) * error / options_.time_noise;
    }
    // A printed figure is an equation; without one, that a row ran or did not says on which side of the capacity it is.
    [[nodiscard]] double memory(PricedRow& row, const std::vector<double>& values) const
    {
        const PricedRow::Memory memory = row.memory(values);
        double error = 0;
        if (row.row().outcome == Outcome::ran && row.row().memory_gib)
            error = memory.gib > 0 ? std::log(memory.gib / *row.row().memory_gib) : kUnpriced;
        else if (memory.device_gib > 0 && row.capacity_gib() > 0) {
            const double over = std::log(memory.device_gib / row.capacity_gib());
            const double wrong = row.row().outcome == Outcome::ran ? over : -over;
            // Smooth hinge: a row just on the right side still leans away from the limit.
            const double softness = options_.memory_noise;
            error = wrong > 20 * softness ? wrong : softness * std::log1p(std::exp(wrong / softness));
            if (row.row().outcome == Outcome::ran)
                error *= kProofOfFit;
        }
        return std::sqrt(row.row().memory_weight) * error / options_.memory_noise;
    }

    Quantity quantity_;
    const FitOptions& options_;
};

// Residuals and derivatives over all rows, shared out to threads.
class Pricer {
public:
    Pricer(Rows& rows, std::vector<std::size_t> used, const Unknowns& unknowns, RowResiduals residual, int threads)
        : rows_(rows)
        , used_(std::move(used))
        , unknowns_(unknowns)
        , residual_(residual)
        , threads_(threads)
    {
    }
    void residuals(const std::vector<double>& x, std::vector<double>& out) const
    {
        out.resize(used_.size());
        const auto values = values_at(x);
        for_each_parallel(used_.size(), threads_, [&](std::size_t i) {
            PricedRow& row = rows_[used_[i]];
            out[i] = residual_.at(row, values.at(row.gpu()));
        });
    }
    void derivatives(const std::vector<double>& x, std::vector<double>& out, std::vector<double>& jacobian) const
    {
        const std::size_t n = x.size();
        out.resize(used_.size());
        jacobian.assign(used_.size() * n, 0);
        const auto values = values_at(x);
        for_each_parallel(used_.size(), threads_, [&](std::size_t i) {
            PricedRow& row = rows_[used_[i]];
            std::vector<double> trial = values.at(row.gpu());
            out[i] = residual_.at(row, trial);
            for (std::size_t j = 0; j < n; ++j) {
                const int position = unknowns_.position(j, row.gpu());
                if (position < 0)
                    continue;
                const Unknown& unknown = unknowns_.list()[j];
                double step = kDifference * (unknown.constant.linear ? unknown.constant.width : 1);
                if (unknown.x(unknown.constant.high) - x[j] < step)
                    step = -step;
                const double held = trial[std::size_t(position)];
                trial[std::size_t(position)] = unknown.value(x[j] + step);
                if (trial[std::size_t(position)] != held)
                    jacobian[i * n + j] = (residual_.at(row, trial) - out[i]) / step;
                trial[std::size_t(position)] = held;
            }
        });
    }

private:
    [[nodiscard]] std::map<std::string, std::vector<double>> values_at(const std::vector<double>& x) const
    {
        std::map<std::string, std::vector<double>> values;
        for (std::size_t i : used_) {
            const std::string& gpu = rows_[i].gpu();
            if (!values.contains(gpu))
                values[gpu] = unknowns_.values(gpu, x);
        }
        return values;
    }

    Rows& rows_;
    std::vector<std::size_t> used_;
    const Unknowns& unknowns_;
    RowResiduals residual_;
    int threads_;
};

// Standard deviation of ln(predicted / measured) that rows like this one have, whatever the constants. A row of a kind
// that was never measured says less of all others.
double scatter_of(const FitRow& row, const Stack& stack)
{
    const Constants constants(stack, row.plan.cluster.gpu.id);
    const std::array bands{Constant::interval_node, Constant::interval_tens, Constant::interval_hundreds};
    ResolvedPlan plan = row.plan;
    plan.stack = stack;
    const double experts = plan.model.experts ? constants[Constant::interval_experts] : 0;
    return std::hypot(constants[bands[static_cast<std::size_t>(band_of(row.plan.gpus))]] / kHalfOf90,
        experts / kHalfOf90, unmeasured_deviation(plan));
}

Expected<void> fit_quantity(Quantity quantity, const Stack& base, const FitSet& set, Rows& rows,
    const std::vector<std::string>& gpus, const FitOptions& options, FitResult& result)
{
    const Unknowns unknowns(base, set, quantity, gpus, options);
    const RowResiduals residual(quantity, options);
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (residual.uses(rows[i].row()))
            used.push_back(i);
    }
    (quantity == Quantity::time ? result.time_rows : result.memory_rows) = int(used.size());
    if (used.empty() || unknowns.list().empty())
        return {};
    for_each_parallel(
        used.size(), options.threads, [&](std::size_t i) { rows[used[i]].try_constants(unknowns.names()); });
    const Pricer pricer(rows, used, unknowns, residual, options.threads);
    LeastSquares problem = unknowns.problem(options, set.overall_width);
    problem.residual_count = used.size();
    problem.residuals = [&](const auto& x, auto& out) { pricer.residuals(x, out); };
    problem.derivatives = [&](const auto& x, auto& out, auto& jacobian) { pricer.derivatives(x, out, jacobian); };
    FOURFOLD_TRY(LeastSquaresSolution solution, solve(problem));
    constexpr std::size_t kFew = 3; // from so many on rows show more than how far off they are
    if (quantity == Quantity::time && options.scope == FitScope::gpu && options.shrink && used.size() < kFew) {
        std::vector<double> residuals;
        pricer.residuals(problem.start, residuals);
        double squares = 0;
        for (std::size_t i = 0; i < used.size(); ++i) {
            const double scatter = scatter_of(rows[used[i]].row(), base);
            const double error = residuals[i] * options.time_noise / scatter;
            squares += error * error;
            result.scatter = std::max(result.scatter, scatter);
        }
        result.time_share = share_beyond_scatter(squares);
        for (std::size_t i = 0; i < solution.x.size(); ++i)
            solution.x[i] = problem.start[i] + result.time_share * (solution.x[i] - problem.start[i]);
    }

    const std::size_t n = unknowns.list().size();
    for (std::size_t i = 0; i < n; ++i) {
        const Unknown& unknown = unknowns.list()[i];
        ConstantEstimate estimate;
        estimate.name = unknown.constant.name;
        estimate.gpu = unknown.gpu;
        estimate.quantity = quantity;
        estimate.before = unknown.before;
        estimate.prior = unknown.middle;
        estimate.value = unknown.value(solution.x[i]);
        estimate.prior_width = std::sqrt(problem.prior_covariance[i * n + i]);
        estimate.posterior_width = std::sqrt(std::max(0.0, solution.covariance[i * n + i]));
        estimate.linear = unknown.constant.linear;
        const double range = problem.high[i] - problem.low[i];
        estimate.at_bound = std::min(solution.x[i] - problem.low[i], problem.high[i] - solution.x[i]) < 1e-3 * range;
        estimate.influences = solution.information[i] > 0;
        result.constants.push_back(estimate);
    }
    unknowns.store(solution.x, options.scope, gpus, result.stack);
    result.iterations += solution.iterations;
    result.converged = result.converged && solution.converged;
    return {};
}

std::vector<std::string> gpus_of(const Rows& rows, std::vector<std::string> gpus)
{
    for (const PricedRow& row : rows)
        gpus.push_back(row.gpu());
    std::sort(gpus.begin(), gpus.end());
    gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
    return gpus;
}

} // namespace

bool ConstantEstimate::moved() const
{
    const double from = linear ? before : std::log(std::max(before, 1e-300));
    const double to = linear ? value : std::log(std::max(value, 1e-300));
    return std::abs(to - from) > 0.1 * prior_width;
}

Expected<FitResult> fit_stack(
    const Stack& base, const FitSet& set, const std::vector<FitRow>& rows, const FitOptions& options)
{
    const auto started = std::chrono::steady_clock::now();
    Stack start = base;
    for (const auto& [name, value] : options.pinned) {
        start.constants[name] = value;
        for (auto& [gpu, constants] : start.gpu_constants)
            constants.erase(name);
    }
    for (const FitRow& row : rows) {
        const auto domain = start.measured.find(row.plan.cluster.gpu.id);
        if (domain != start.measured.end() && !domain->second.kernels.empty())
            domain->second.kernels.insert(row.plan.training.attention);
    }
    FitResult result;
    result.stack = start;
    result.converged = true;
    Rows priced;
    std::string why;
    for (const FitRow& row : rows) {
        auto made = PricedRow::make(row, start);
        if (made) {
            priced.push_back(*std::move(made));
            continue;
        }
        ++result.unusable_rows;
        if (why.empty())
            why = made.error().line();
    }
    if (priced.empty())
        return Problem{ProblemCode::bad_input, "no measured row can be used" + (why.empty() ? "" : ": " + why),
            "calibration needs at least one run with its step time or memory", ""};
    // A GPU of the set that no row has keeps its priors: rows left out must not show in the constants.
    const std::vector<std::string> gpus
        = gpus_of(priced, options.scope == FitScope::stack ? set.gpus : std::vector<std::string>());
    result.before = fit_error(base, rows);
    for (const Quantity quantity : options.quantities)
        FOURFOLD_CHECK(fit_quantity(quantity, start, set, priced, gpus, options, result));
    // A GPU with measurements is a calibrated one, also where every constant stayed what it was.
    for (const std::string& gpu : gpus)
        result.stack.gpu_constants[gpu];
    result.after = fit_error(result.stack, rows);
    result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    return result;
}

RowPrediction predict_row(const Stack& stack, const FitRow& row)
{
    RowPrediction prediction;
    auto priced = PricedRow::make(row, stack);
    if (!priced)
        return prediction;
    const double seconds = priced->step_time_s({});
    if (seconds > 0)
        prediction.step_time_s = seconds;
    const PricedRow::Memory memory = priced->memory({});
    prediction.memory_gib = memory.gib;
    prediction.memory_device_gib = memory.device_gib;
    return prediction;
}

FitError fit_error(const Stack& stack, const std::vector<FitRow>& rows)
{
    std::vector<RowPrediction> predictions(rows.size());
    for_each_parallel(rows.size(), 0, [&](std::size_t i) { predictions[i] = predict_row(stack, rows[i]); });
    FitError error;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const FitRow& row = rows[i];
        const RowPrediction& predicted = predictions[i];
        if (predicted.memory_device_gib) {
            const bool fits = judge_fit(*predicted.memory_device_gib, row.plan.cluster.gpu.memory_gib) != Fit::no;
            ++error.cells;
            error.right += fits == (row.outcome == Outcome::ran) ? 1 : 0;
        }
        if (row.outcome != Outcome::ran)
            continue;
        if (row.step_time_s && predicted.step_time_s) {
            const double off = *row.step_time_s / *predicted.step_time_s - 1;
            ++error.time_rows;
            error.time += std::abs(off);
            error.time_bias += off;
        }
        if (row.memory_gib && predicted.memory_gib) {
            ++error.memory_rows;
            error.memory += std::abs(*predicted.memory_gib / *row.memory_gib - 1);
            error.memory_gib += std::abs(*predicted.memory_gib - *row.memory_gib);
        }
    }
    error.time /= std::max(1, error.time_rows);
    error.time_bias /= std::max(1, error.time_rows);
    error.memory /= std::max(1, error.memory_rows);
    error.memory_gib /= std::max(1, error.memory_rows);
    return error;
}

} // namespace fourfold
