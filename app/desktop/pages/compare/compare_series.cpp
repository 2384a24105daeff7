// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/compare_series.h"

#include "app/models/compare/compare_origin.h"
#include "app/models/shared/text.h"
#include "app/view/compare/scaling.h"

#include <utility>

namespace fourfold::ui {

std::size_t CompareSeries::add(const MeasuredTable& table, const std::vector<CompareEntry>& compared)
{
    std::vector<const ResolvedPlan*> plans;
    for (const CompareEntry& entry : compared) {
        if (entry.plan())
            plans.push_back(entry.plan());
    }
    const std::vector<view::TableJob> jobs = view::jobs_beside(table, plans);
    for (const view::TableJob& job : jobs)
        take(curveOf(view::series_of(table, job)), originOfSeries({std::filesystem::absolute(table.file), job.name}));
    return jobs.size();
}

void CompareSeries::remove(std::size_t index)
{
    m_curves.erase(m_curves.begin() + static_cast<std::ptrdiff_t>(index));
    m_origins.removeAt(static_cast<qsizetype>(index));
}

void CompareSeries::clear()
{
    m_curves.clear();
    m_origins.clear();
    m_kept.clear();
}

bool CompareSeries::readKept(const Presets& presets)
{
    const QStringList kept = std::exchange(m_kept, {});
    for (const QString& origin : kept) {
        const auto [file, name] = seriesOf(origin);
        const Expected<MeasuredTable> table = view::read_table(file, presets);
        if (!table)
            continue;
        for (const view::TableJob& job : view::jobs_of(*table)) {
            if (job.name == name && !job.best.empty())
                take(curveOf(view::series_of(*table, job)), origin);
        }
    }
    return !kept.isEmpty();
}

void CompareSeries::take(const CurveSeries& curve, const QString& origin)
{
    if (m_origins.contains(origin))
        return;
    m_curves.push_back(curve);
    m_origins << origin;
}

} // namespace fourfold::ui
