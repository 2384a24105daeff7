// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/compare/published.h"

#include "app/view/text.h"
#include "core/predict/measured_layouts.h"

#include <algorithm>
#include <map>

namespace fourfold::view {

namespace {
constexpr std::size_t kMostBeside = 4; // of one table

// Whether the job is about the model and GPU of a plan.
bool is_about(const TableJob& job, const ResolvedPlan& plan)
{
    return shape_key(job.plan.model) == shape_key(plan.model) && job.plan.cluster.gpu.id == plan.cluster.gpu.id;
}
} // namespace

Expected<MeasuredTable> read_table(const std::filesystem::path& csv, const Presets& presets)
{
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    return read_measured_table(csv, sources, presets);
}

std::vector<TableJob> jobs_of(const MeasuredTable& table)
{
    std::vector<TableJob> jobs;
    std::map<std::string, std::size_t> places;
    for (const MeasuredRow& row : table.rows) {
        if (row.plan.gpus == 0)
            continue;
        const ResolvedPlan& plan = row.plan;
        const std::string name = plan.model.name + ", " + plan.cluster.gpu.name + ", "
            + grouped(plan.training.global_batch) + " x " + grouped(double(plan.training.seq_len)) + ", "
            + to_text(plan.training.precision) + ", " + to_text(plan.training.sharding);
        const auto [place, is_new] = places.try_emplace(name, jobs.size());
        if (is_new)
            jobs.push_back({name, plan, 0, {}});
        TableJob& job = jobs[place->second];
        ++job.rows;
        if (!row.ran() || !row.tps_per_gpu || row.excluded)
            continue;
        const auto at = std::ranges::find(job.best, double(plan.gpus), &std::pair<double, double>::first);
        if (at == job.best.end())
            job.best.emplace_back(plan.gpus, *row.tps_per_gpu);
        else
            at->second = std::max(at->second, *row.tps_per_gpu);
    }
    for (TableJob& job : jobs)
        std::sort(job.best.begin(), job.best.end());
    std::stable_sort(jobs.begin(), jobs.end(), [](const TableJob& a, const TableJob& b) { return a.rows > b.rows; });
    return jobs;
}

std::vector<TableJob> jobs_beside(const MeasuredTable& table, const std::vector<const ResolvedPlan*>& plans)
{
    std::vector<TableJob> jobs = jobs_of(table);
    std::erase_if(jobs, [](const TableJob& job) { return job.best.empty(); });
    const auto is_compared = [&](const TableJob& job) {
        return std::ranges::any_of(plans, [&job](const ResolvedPlan* plan) { return is_about(job, *plan); });
    };
    if (std::ranges::any_of(jobs, is_compared))
        std::erase_if(jobs, [&](const TableJob& job) { return !is_compared(job); });
    if (jobs.size() > kMostBeside)
        jobs.resize(kMostBeside);
    return jobs;
}

} // namespace fourfold::view
