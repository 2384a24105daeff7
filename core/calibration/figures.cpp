// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourfold {

namespace {
double mean_of(const std::vector<double>& values)
{
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}
} // namespace

ErrorFigures error_figures(const std::vector<double>& errors)
{
    ErrorFigures figures;
    figures.rows = int(errors.size());
    if (errors.empty())
        return figures;
    std::vector<double> sizes;
    for (const double error : errors)
        sizes.push_back(std::abs(error));
    std::sort(sizes.begin(), sizes.end());
    const std::size_t n = sizes.size();
    figures.mape = mean_of(sizes);
    figures.median = (sizes[(n - 1) / 2] + sizes[n / 2]) / 2;
    figures.max = sizes.back();
    figures.bias = mean_of(errors);
    const auto share = [&](double limit) {
        return double(std::upper_bound(sizes.begin(), sizes.end(), limit) - sizes.begin()) / double(n);
    };
    figures.within_5 = share(0.05);
    figures.within_10 = share(0.10);
    return figures;
}

MemoryFigures memory_figures(const std::vector<const ScoredRow*>& rows)
{
    std::vector<double> sizes, errors, relative;
    for (const ScoredRow* row : rows) {
        const auto error = row->memory_error_gib();
        if (!error)
            continue;
        errors.push_back(*error);
        sizes.push_back(std::abs(*error));
        relative.push_back(std::abs(*error) / *row->row->memory_gib);
    }
    MemoryFigures figures;
    figures.rows = int(errors.size());
    figures.mae_gib = mean_of(sizes);
    figures.max_gib = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    figures.bias_gib = mean_of(errors);
    figures.mape = mean_of(relative);
    return figures;
}

namespace {
void count(Verdicts& verdicts, bool predicted, bool crashed)
{
    ++verdicts.cells;
    verdicts.crashed += crashed ? 1 : 0;
    verdicts.right += predicted == crashed ? 1 : 0;
    verdicts.false_alarms += predicted && !crashed ? 1 : 0;
    verdicts.missed += !predicted && crashed ? 1 : 0;
}

// Memory alone; a failure or hang is no verdict on memory.
Verdicts memory_verdicts(const std::vector<const ScoredRow*>& rows)
{
    Verdicts out;
    for (const ScoredRow* row : rows) {
        if (row->memory_unknown)
            ++out.unknown;
        else if (row->memory_device_gib && (row->row->ran() || row->row->status == CellStatus::oom))
            count(out, row->out_of_memory, !row->row->ran());
    }
    return out;
}
} // namespace

Verdicts verdicts(const std::vector<const ScoredRow*>& rows)
{
    Verdicts out;
    for (const ScoredRow* row : rows) {
        if (row->memory_unknown && !row->crash)
            ++out.unknown;
        else
            count(out, row->crash || row->out_of_memory, row->row->crashed());
    }
    return out;
}

Figures figures_of(const std::string& name, const std::vector<const ScoredRow*>& rows)
{
    Figures figures;
    figures.name = name;
    std::vector<double> errors, all_errors;
    std::vector<const ScoredRow*> kept;
    for (const ScoredRow* row : rows) {
        if (!row->row->excluded)
            kept.push_back(row);
        if (!row->row->ran())
            continue;
        const auto error = row->error();
        if (!error) {
            ++figures.unpredicted;
            continue;
        }
        all_errors.push_back(*error);
        if (!row->row->excluded)
            errors.push_back(*error);
    }
    figures.throughput = error_figures(errors);
    figures.with_anomalies = error_figures(all_errors);
    figures.memory = memory_figures(kept);
    figures.fits = memory_verdicts(kept);
    figures.runs = verdicts(kept);
    figures.ranking = ranking_figures(kept);
    figures.planner = planner_figures(kept);
    return figures;
}

} // namespace fourfold
