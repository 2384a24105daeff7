// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/published.h"

#include "app/models/shared/text.h"
#include "core/predict/measured_layouts.h"

#include <algorithm>
#include <map>

namespace fourfold::ui {

Expected<MeasuredTable> readTable(const std::filesystem::path& csv, const Presets& presets)
{
    FOURFOLD_TRY(const TableSources sources, TableSources::find());
    return read_measured_table(csv, sources, presets);
}

std::vector<TableJob> jobsOf(const MeasuredTable& table)
{
    std::vector<TableJob> jobs;
    std::map<QString, std::size_t> places;
    for (const MeasuredRow& row : table.rows) {
        if (row.plan.gpus == 0)
            continue;
        const ResolvedPlan& plan = row.plan;
        const QString name
            = QStringLiteral("%1, %2, %3 x %4, %5, %6")
                  .arg(fromUtf8(plan.model.name), fromUtf8(plan.cluster.gpu.name), grouped(plan.training.global_batch),
                      grouped(double(plan.training.seq_len)), fromUtf8(to_text(plan.training.precision)),
                      fromUtf8(to_text(plan.training.sharding)));
        const auto [place, isNew] = places.try_emplace(name, jobs.size());
        if (isNew)
            jobs.push_back({name, plan, 0, {}});
        TableJob& job = jobs[place->second];
        ++job.rows;
        if (!row.ran() || !row.tps_per_gpu || row.excluded)
            continue;
        const auto at = std::find_if(
            job.best.begin(), job.best.end(), [&](const QPointF& point) { return point.x() == plan.gpus; });
        if (at == job.best.end())
            job.best << QPointF(plan.gpus, *row.tps_per_gpu);
        else
            at->setY(std::max(at->y(), *row.tps_per_gpu));
    }
    for (TableJob& job : jobs)
        std::sort(job.best.begin(), job.best.end(), [](const QPointF& a, const QPointF& b) { return a.x() < b.x(); });
    std::stable_sort(jobs.begin(), jobs.end(), [](const TableJob& a, const TableJob& b) { return a.rows > b.rows; });
    return jobs;
}

bool sameJob(const TableJob& job, const ResolvedPlan& plan)
{
    return shape_key(job.plan.model) == shape_key(plan.model) && job.plan.cluster.gpu.id == plan.cluster.gpu.id;
}

} // namespace fourfold::ui
