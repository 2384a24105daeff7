// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/figures.h"
#include "core/plan/plan_constants.h"
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

// A layout that a person could pick. Sources print some settings more than once: those are one layout, and yield the
// mean of what they measured.
struct Choice {
    const ScoredRow* row = nullptr; // the first of them
    double yield = 0; // measured TPS/GPU; a crash yields nothing
    int rows = 0;
};

std::vector<Choice> choices_of(const Job& job)
{
    std::map<std::string, Choice> by_layout;
    for (const ScoredRow* row : job) {
        Choice& choice = by_layout[layout_hash(row->row->plan)];
        if (choice.row == nullptr)
            choice.row = row;
        choice.yield = (choice.yield * choice.rows + measured(row)) / (choice.rows + 1);
        ++choice.rows;
    }
    std::vector<Choice> choices;
    for (const auto& [hash, choice] : by_layout)
        choices.push_back(choice);
    std::sort(choices.begin(), choices.end(),
        [](const Choice& a, const Choice& b) { return a.row->row->line < b.row->row->line; });
    return choices;
}

double best_of(const std::vector<Choice>& choices)
{
    double best = 0;
    for (const Choice& choice : choices)
        best = std::max(best, choice.yield);
    return best;
}

const Choice& first_pick(const std::vector<Choice>& choices)
{
    std::vector<RankCandidate> candidates;
    for (const auto& [row, yield, rows] : choices)
        candidates.push_back({row->tps_per_gpu.value_or(0) * expected_of_pick(row->deviation), row->risk,
            row->memory_device_gib.value_or(0), !row->crash && !row->out_of_memory && row->tps_per_gpu.has_value()});
    const ResolvedPlan& plan = choices.front().row->row->plan;
    const Constants constants = constants_of(plan);
    return choices[rank_candidates(candidates, constants[Constant::tie_width]).front().index];
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
        const std::vector<Choice> choices = choices_of(job);
        if (choices.size() < 2)
            continue;
        const double best = best_of(choices);
        const Choice& fastest = *std::max_element(choices.begin(), choices.end(),
            [](const Choice& a, const Choice& b) { return *a.row->tps_per_gpu < *b.row->tps_per_gpu; });
        regrets.push_back(1 - fastest.yield / best);
        first_regrets.push_back(1 - first_pick(choices).yield / best);
        figures.exact += fastest.yield == best ? 1 : 0;
        if (choices.size() < 3)
            continue;
        std::vector<double> predictions, measurements;
        for (const Choice& choice : choices) {
            predictions.push_back(*choice.row->tps_per_gpu);
            measurements.push_back(choice.yield);
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
        std::vector<Choice> cells; // a setting that ran once and crashed once is two of them
        for (const ScoredRow* row : job)
            cells.push_back({row, measured(row), 1});
        const double best = best_of(cells);
        if (cells.size() < 2 || !(best > 0))
            continue;
        const Choice& pick = first_pick(cells);
        figures.crashed_picks += pick.row->row->ran() ? 0 : 1;
        regrets.push_back(1 - pick.yield / best);
    }
    figures.groups = int(regrets.size());
    const Summary regret = summary(regrets);
    figures.regret_mean = regret.mean;
    figures.regret_median = regret.median;
    figures.regret_max = regret.most;
    return figures;
}

} // namespace fourfold
