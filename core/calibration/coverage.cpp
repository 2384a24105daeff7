// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/coverage.h"
#include "core/calibration/widths.h"
#include "core/predict/interval.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace fourfold {

namespace {

struct Residual {
    std::string group;
    double error = 0; // ln(predicted / measured)
    double half_width = 0; // of the interval given
};

double share_inside(const std::vector<Residual>& residuals, const std::function<double(const Residual&)>& width)
{
    const auto inside = std::count_if(residuals.begin(), residuals.end(),
        [&](const Residual& residual) { return std::abs(residual.error) <= width(residual); });
    return residuals.empty() ? 0 : double(inside) / double(residuals.size());
}

void cross(Coverage& coverage, const std::vector<Residual>& residuals)
{
    std::map<std::string, double> widths;
    for (const Residual& residual : residuals) {
        if (widths.contains(residual.group))
            continue;
        std::vector<GroupedError> others;
        for (const Residual& other : residuals) {
            if (other.group != residual.group)
                others.push_back({other.group, other.error});
        }
        if (others.empty())
            return;
        widths[residual.group] = predictive_width(others);
    }
    if (residuals.empty())
        return;
    coverage.crossed = share_inside(residuals, [&](const Residual& residual) { return widths[residual.group]; });
    for (const Residual& residual : residuals)
        coverage.width += widths[residual.group] / double(residuals.size());
}

Coverage coverage_of(std::string name, const std::vector<Residual>& residuals, int without_interval)
{
    Coverage coverage;
    coverage.name = std::move(name);
    coverage.rows = int(residuals.size());
    coverage.without_interval = without_interval;
    for (const Residual& residual : residuals)
        coverage.shipped_width += residual.half_width / double(residuals.size());
    coverage.shipped = share_inside(residuals, [](const Residual& residual) { return residual.half_width; });
    cross(coverage, residuals);
    return coverage;
}

Coverage coverage_where(const std::string& name, const std::vector<const ScoredRow*>& rows,
    const std::function<bool(const ScoredRow&)>& belongs)
{
    std::vector<Residual> residuals;
    int without_interval = 0;
    for (const ScoredRow* row : rows) {
        const auto error = row->log_error();
        if (!error || row->row->excluded || !belongs(*row))
            continue;
        if (!row->interval)
            ++without_interval;
        else
            residuals.push_back({row->group, *error, std::log(row->interval->tps_per_gpu.high / *row->tps_per_gpu)});
    }
    return coverage_of(name, residuals, without_interval);
}

} // namespace

double conformal_width(std::vector<double> errors, double confidence)
{
    if (errors.empty())
        return 0;
    for (double& error : errors)
        error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    const double place = (double(errors.size()) + 1) * confidence - 1; // counted from 0
    const auto below = std::size_t(std::max(0.0, std::floor(place)));
    if (below + 1 >= errors.size())
        return errors.back();
    return errors[below] + (place - double(below)) * (errors[below + 1] - errors[below]);
}

std::vector<Coverage> time_coverage(const std::vector<const ScoredRow*>& rows)
{
    std::vector<Coverage> bands;
    for (const Band band : {Band::node, Band::tens, Band::hundreds}) {
        bands.push_back(coverage_where(
            std::string(name(band)), rows, [&](const ScoredRow& row) { return band_of(row.row->plan.gpus) == band; }));
        if (bands.back().rows + bands.back().without_interval == 0)
            bands.pop_back();
    }
    bands.push_back(coverage_where("all", rows, [](const ScoredRow&) { return true; }));
    return bands;
}

Coverage memory_coverage(const std::vector<const ScoredRow*>& rows)
{
    std::vector<Residual> residuals;
    int without_interval = 0;
    for (const ScoredRow* row : rows) {
        if (!row->memory_error_gib() || row->row->excluded)
            continue;
        const double error = std::log(*row->memory_gib / *row->row->memory_gib);
        if (!row->interval)
            ++without_interval;
        else
            residuals.push_back({row->group, error, std::log(row->interval->memory_gib.high / *row->memory_gib)});
    }
    return coverage_of("memory", residuals, without_interval);
}

} // namespace fourfold
