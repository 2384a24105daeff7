// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/figures.h"
#include "core/predict/rank.h"
#include "core/stack/constants.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace fourfold {

namespace {

using Job = std::vector<const ScoredRow*>;

// What a person would compare: layouts for one and the same job.
std::string job_key(const MeasuredRow& row)
{
    const ResolvedPlan& plan = row.plan;
    std::string key = row.source + "|" + row.table + "|" + plan.stack.id;
    for (const int64_t part : {plan.model.hidden, int64_t(plan.model.layers), int64_t(plan.training.seq_len),
             int64_t(plan.gpus), int64_t(plan.training.global_batch)})
        key.append("|").append(std::to_string(part));
    return key;
}

double measured(const ScoredRow* row)
{
    return row->row->tps_per_gpu.value_or(0);
}

double best_of(const Job& job)
{
    double best = 0;
    for (const ScoredRow* row : job)
        best = std::max(best, measured(row));
    return best;
}

const ScoredRow* first_pick(const Job& job)
{
    std::vector<RankCandidate> candidates;
    for (const ScoredRow* row : job)
        candidates.push_back({row->tps_per_gpu.value_or(0), row->risk, row->memory_device_gib.value_or(0),
            !row->crash && !row->out_of_memory && row->tps_per_gpu.has_value()});
    const ResolvedPlan& plan = job.front()->row->plan;
    const Constants constants(plan.stack, plan.cluster.gpu.id);
    return job[rank_candidates(candidates, constants[Constant::tie_width]).front().index];
}

std::vector<double> mean_ranks(const std::vector<double>& values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]])
            ++last;
        for (std::size_t i = first; i <= last; ++i)
            ranks[order[i]] = double(first + last) / 2;
        first = last + 1;
    }
    return ranks;
}

struct Summary {
    double mean = 0, median = 0, least = 0, most = 0;
};
Summary summary(std::vector<double> values)
{
    if (values.empty())
        return {};
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return {std::accumulate(values.begin(), values.end(), 0.0) / double(n), (values[(n - 1) / 2] + values[n / 2]) / 2,
        values.front(), values.back()};
}

} // namespace

std::map<std::string, Job> jobs_of(const std::vector<const ScoredRow*>& rows)
{
    std::map<std::string, Job> jobs;
    for (const ScoredRow* row : rows)
        jobs[job_key(*row->row)].push_back(row);
    return jobs;
}

double error_of_differences(const std::vector<const ScoredRow*>& rows)
{
    std::vector<double> differences;
    for (const auto& [key, job] : jobs_of(rows)) {
        std::vector<double> errors;
        for (const ScoredRow* row : job) {
            if (const auto error = row->row->ran() ? row->log_error() : std::nullopt)
                errors.push_back(*error);
        }
        for (std::size_t i = 0; i < errors.size(); ++i) {
            for (std::size_t j = i + 1; j < errors.size(); ++j)
                differences.push_back(std::abs(errors[i] - errors[j]));
        }
    }
    constexpr double kNormal = 1.4826; // standard deviation over median size of a normal distribution
    return kNormal * summary(std::move(differences)).median;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b)
{
    const std::size_t n = std::min(a.size(), b.size());
    if (n < 2)
        return 0;
    const std::vector<double> x = mean_ranks(a), y = mean_ranks(b);
    const double middle = double(n - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < n; ++i) {
        xy += (x[i] - middle) * (y[i] - middle);
        xx += (x[i] - middle) * (x[i] - middle);
        yy += (y[i] - middle) * (y[i] - middle);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

RankingFigures ranking_figures(const std::vector<const ScoredRow*>& rows)
{
    std::vector<const ScoredRow*> ran;
    for (const ScoredRow* row : rows) {
        if (row->row->ran() && row->tps_per_gpu)
            ran.push_back(row);
    }
    RankingFigures figures;
    std::vector<double> correlations, regrets, first_regrets;
    for (const auto& [key, job] : jobs_of(ran)) {
        if (job.size() < 2)
            continue;
        const double best = best_of(job);
        const ScoredRow* fastest = *std::max_element(job.begin(), job.end(),
            [](const ScoredRow* a, const ScoredRow* b) { return *a->tps_per_gpu < *b->tps_per_gpu; });
        regrets.push_back(1 - measured(fastest) / best);
        first_regrets.push_back(1 - measured(first_pick(job)) / best);
        figures.exact += measured(fastest) == best ? 1 : 0;
        if (job.size() < 3)
            continue;
        std::vector<double> predictions, measurements;
        for (const ScoredRow* row : job) {
            predictions.push_back(*row->tps_per_gpu);
            measurements.push_back(measured(row));
        }
        correlations.push_back(spearman(predictions, measurements));
    }
    figures.groups = int(regrets.size());
    figures.long_groups = int(correlations.size());
    const Summary correlation = summary(correlations), regret = summary(regrets), first = summary(first_regrets);
    figures.spearman_mean = correlation.mean;
    figures.spearman_median = correlation.median;
    figures.spearman_min = correlation.least;
    figures.regret_mean = regret.mean;
    figures.regret_max = regret.most;
    figures.first_regret_mean = first.mean;
    figures.first_regret_max = first.most;
    return figures;
}

PlannerFigures planner_figures(const std::vector<const ScoredRow*>& rows)
{
    PlannerFigures figures;
    std::vector<double> regrets;
    for (const auto& [key, job] : jobs_of(rows)) {
        const double best = best_of(job);
        if (job.size() < 2 || !(best > 0))
            continue;
        const ScoredRow* pick = first_pick(job);
        const bool crashed = !pick->row->ran();
        figures.crashed_picks += crashed ? 1 : 0;
        regrets.push_back(crashed ? 1 : 1 - measured(pick) / best);
    }
    figures.groups = int(regrets.size());
    const Summary regret = summary(regrets);
    figures.regret_mean = regret.mean;
    figures.regret_median = regret.median;
    figures.regret_max = regret.most;
    return figures;
}

} // namespace fourfold
