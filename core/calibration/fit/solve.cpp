// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/fit/solve.h"

#include <Eigen/Dense>
#include <ceres/ceres.h>
#include <ceres/normal_prior.h>

#include <cmath>

namespace fourfold {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Prices all rows once per point; the residual blocks read what it found. So the work can run on all cores while the
// sums of the solver keep one order.
class Evaluation : public ceres::EvaluationCallback {
public:
    Evaluation(const LeastSquares& problem, const std::vector<double>& x)
        : problem_(problem)
        , x_(x)
    {
    }
    void PrepareForEvaluation(bool with_derivatives, bool new_point) override
    {
        if (!new_point && (!with_derivatives || has_derivatives_))
            return;
        if (with_derivatives)
            problem_.derivatives(x_, residuals_, jacobian_);
        else
            problem_.residuals(x_, residuals_);
        has_derivatives_ = with_derivatives;
    }
    [[nodiscard]] double residual(std::size_t i) const { return residuals_[i]; }
    [[nodiscard]] const double* derivatives(std::size_t i) const { return &jacobian_[i * x_.size()]; }

private:
    const LeastSquares& problem_;
    const std::vector<double>& x_;
    std::vector<double> residuals_, jacobian_;
    bool has_derivatives_ = false;
};

class DataResidual : public ceres::CostFunction {
public:
    DataResidual(const Evaluation& evaluation, std::size_t index, int unknowns)
        : evaluation_(evaluation)
        , index_(index)
        , unknowns_(unknowns)
    {
        set_num_residuals(1);
        mutable_parameter_block_sizes()->push_back(unknowns);
    }
    bool Evaluate(double const* const*, double* residuals, double** jacobians) const override
    {
        residuals[0] = evaluation_.residual(index_);
        if (jacobians != nullptr && jacobians[0] != nullptr)
            std::copy_n(evaluation_.derivatives(index_), unknowns_, jacobians[0]);
        return std::isfinite(residuals[0]);
    }

private:
    const Evaluation& evaluation_;
    std::size_t index_;
    int unknowns_;
};

// S with S^T S = covariance^-1.
Matrix whitening(const std::vector<double>& covariance, Eigen::Index n)
{
    const Eigen::Map<const Matrix> c(covariance.data(), n, n);
    const Matrix lower = c.llt().matrixL();
    return lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(n, n));
}

void add_covariance(const LeastSquares& problem, const Matrix& white, LeastSquaresSolution& solution)
{
    const auto n = Eigen::Index(problem.start.size());
    std::vector<double> residuals, jacobian;
    problem.derivatives(solution.x, residuals, jacobian);
    Matrix information = Matrix::Zero(n, n);
    const double scale = problem.soft_l1_scale * problem.soft_l1_scale;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const Eigen::Map<const Eigen::VectorXd> row(&jacobian[i * std::size_t(n)], n);
        // Derivative of the loss: rows far off say little.
        const double weight = 1 / std::sqrt(1 + residuals[i] * residuals[i] / scale);
        information += weight * row * row.transpose();
    }
    for (Eigen::Index i = 0; i < n; ++i)
        solution.information.push_back(information(i, i));
    const Matrix covariance = (information + white.transpose() * white).llt().solve(Matrix::Identity(n, n));
    solution.covariance.assign(covariance.data(), covariance.data() + n * n);
}

} // namespace

Expected<LeastSquaresSolution> solve(const LeastSquares& problem)
{
    LeastSquaresSolution solution;
    solution.x = problem.start;
    const auto n = Eigen::Index(problem.start.size());
    if (n == 0) {
        solution.converged = true;
        return solution;
    }
    const Matrix white = whitening(problem.prior_covariance, n);
    if (!white.allFinite())
        return Problem{ProblemCode::bad_input, "the widths of the priors are no valid covariance", "", ""};

    Evaluation evaluation(problem, solution.x);
    ceres::Problem::Options options;
    options.evaluation_callback = &evaluation;
    ceres::Problem ceres_problem(options);
    double* x = solution.x.data();
    ceres_problem.AddParameterBlock(x, int(n));
    for (int i = 0; i < int(n); ++i) {
        ceres_problem.SetParameterLowerBound(x, i, problem.low[std::size_t(i)]);
        ceres_problem.SetParameterUpperBound(x, i, problem.high[std::size_t(i)]);
    }
    for (std::size_t i = 0; i < problem.residual_count; ++i)
        ceres_problem.AddResidualBlock(
            new DataResidual(evaluation, i, int(n)), new ceres::SoftLOneLoss(problem.soft_l1_scale), x);
    const Eigen::Map<const Eigen::VectorXd> middle(problem.prior.data(), n);
    ceres_problem.AddResidualBlock(new ceres::NormalPrior(Eigen::MatrixXd(white), middle), nullptr, x);

    ceres::Solver::Options settings;
    settings.linear_solver_type = ceres::DENSE_QR;
    settings.max_num_iterations = problem.iterations;
    settings.function_tolerance = problem.tolerance;
    settings.parameter_tolerance = 1e-6;
    settings.num_threads = 1;
    settings.logging_type = ceres::SILENT;
    ceres::Solver::Summary summary;
    ceres::Solve(settings, &ceres_problem, &summary);
    if (!summary.IsSolutionUsable())
        return Problem{ProblemCode::failed, "the fit found no solution: " + summary.message, "", ""};
    solution.iterations = int(summary.iterations.size());
    solution.converged = summary.termination_type == ceres::CONVERGENCE;
    add_covariance(problem, white, solution);
    return solution;
}

} // namespace fourfold
