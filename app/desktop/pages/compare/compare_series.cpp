// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop/pages/compare/compare_series.h"

#include "app/models/compare/compare_origin.h"
#include "app/models/compare/published.h"
#include "app/models/shared/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace fourfold::ui {

namespace {
constexpr std::size_t kMostSeries = 4; // of one table

CurveSeries curveOf(const QString& table, const TableJob& job)
{
    return {QCoreApplication::translate("Compare", "%2, best measured (%1)").arg(table, job.name), job.best, true};
}
} // namespace

std::size_t CompareSeries::add(const MeasuredTable& table, const std::vector<CompareEntry>& compared)
{
    std::vector<TableJob> jobs = jobsOf(table);
    std::erase_if(jobs, [](const TableJob& job) { return job.best.isEmpty(); });
    const auto isCompared = [&](const TableJob& job) {
        return std::any_of(compared.begin(), compared.end(),
            [&](const CompareEntry& entry) { return entry.plan() && sameJob(job, *entry.plan()); });
    };
    if (std::any_of(jobs.begin(), jobs.end(), isCompared))
        std::erase_if(jobs, [&](const TableJob& job) { return !isCompared(job); });
    if (jobs.size() > kMostSeries)
        jobs.resize(kMostSeries);
    for (const TableJob& job : jobs)
        take(curveOf(fromUtf8(table.name), job), originOfSeries(table, job.name));
    return jobs.size();
}

void CompareSeries::remove(std::size_t index)
{
    m_curves.erase(m_curves.begin() + static_cast<std::ptrdiff_t>(index));
    m_origins.removeAt(static_cast<qsizetype>(index));
}

bool CompareSeries::readKept(const Presets& presets)
{
    const QStringList kept = std::exchange(m_kept, {});
    for (const QString& origin : kept) {
        const auto [file, name] = seriesOf(origin);
        const Expected<MeasuredTable> table = readTable(file, presets);
        if (!table)
            continue;
        for (const TableJob& job : jobsOf(*table)) {
            if (job.name == name && !job.best.isEmpty())
                take(curveOf(fromUtf8(table->name), job), origin);
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
