// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search_words.h"

#include "app/models/text.h"

#include <QCoreApplication>

#include <algorithm>

namespace fourfold::ui {

namespace {
QString tr(const char* text)
{
    return QCoreApplication::translate("Search", text);
}

// What kept layouts out, when nothing was found: the constraint that none met, the memory, or the most frequent rule.
QString obstacle(const SearchResult& result)
{
    for (const ConstraintOutcome& constraint : result.constraints) {
        if (constraint.judged > 0 && constraint.held == 0)
            return tr("no layout meets \u201c%1\u201d; the nearest misses it by %2")
                .arg(fromUtf8(constraint.text), grouped(constraint.nearest_miss, constraint.nearest_miss < 10 ? 2 : 0));
    }
    if (result.smallest_unfit) {
        return tr("none fits into memory; the smallest needs %1 GiB on a GPU")
            .arg(gib(result.smallest_unfit->figures.memory_device_gib));
    }
    if (!result.rejections.empty())
        return fromUtf8(result.rejections.front().example);
    return tr("the axes hold no combination for this number of GPUs");
}
} // namespace

std::vector<std::pair<QString, QString>> objectiveChoices()
{
    return {{QStringLiteral("tps_per_gpu"), tr("Tokens/s per GPU")}, {QStringLiteral("step_time_s"), tr("Step time")},
        {QStringLiteral("tokens_per_second"), tr("Tokens/s of the job")}, {QStringLiteral("mfu"), tr("MFU")},
        {QStringLiteral("memory_gib"), tr("Least memory")}, {QStringLiteral("gpus"), tr("Fewest GPUs")}};
}

QString searchProgressText(const SearchCounts& counts)
{
    return tr("%1 tried, %2 evaluated").arg(grouped(double(counts.enumerated)), grouped(double(counts.evaluated)));
}

QString searchOutcomeText(const SearchResult& result)
{
    const SearchCounts& counts = result.counts;
    const QString end = result.cancelled ? tr("cancelled after %1").arg(duration(result.seconds))
                                         : tr("in %1").arg(duration(result.seconds));
    if (counts.evaluated + counts.bounded == 0)
        return tr("Nothing found %1: %2").arg(end, obstacle(result));
    return tr("%1 of %2 layouts fit, %3 on the Pareto front, %4")
        .arg(grouped(double(counts.evaluated + counts.bounded)), grouped(double(counts.enumerated)),
            grouped(double(result.pareto.size())), end);
}

} // namespace fourfold::ui
