// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/search_words.h"

#include "app/models/shared/text.h"

#include <cmath>

namespace fourfold::ui {

std::vector<std::pair<QString, QString>> objectiveChoices()
{
    return {{QStringLiteral("tps_per_gpu"), tr("Tokens/s per GPU")}, {QStringLiteral("step_time_s"), tr("Step time")},
        {QStringLiteral("tokens_per_second"), tr("Tokens/s of the job")}, {QStringLiteral("mfu"), tr("MFU")},
        {QStringLiteral("memory_gib"), tr("Least memory")}, {QStringLiteral("gpus"), tr("Fewest GPUs")},
        {QStringLiteral("days"), tr("Days to train")}, {QStringLiteral("cost"), tr("GPU-hours to train")},
        {QStringLiteral("energy_mwh"), tr("Energy to train")}};
}

QString searchProgressText(const SearchCounts& counts, std::optional<double> secondsLeft)
{
    const QString done
        = tr("%1 tried, %2 evaluated").arg(grouped(double(counts.enumerated)), grouped(double(counts.evaluated)));
    return secondsLeft ? tr("%1, about %2 left").arg(done, roughDuration(std::ceil(*secondsLeft))) : done;
}

QString searchOutcomeText(const SearchResult& result)
{
    const SearchCounts& counts = result.counts;
    const QString end = result.cancelled ? tr("cancelled after %1").arg(duration(result.seconds))
                                         : tr("in %1").arg(duration(result.seconds));
    if (counts.evaluated + counts.bounded == 0)
        return tr("Nothing found %1").arg(end);
    return tr("%1 of %2 layouts fit, %3 on the Pareto front, %4")
        .arg(grouped(double(counts.evaluated + counts.bounded)), grouped(double(counts.enumerated)),
            grouped(double(result.pareto.size())), end);
}

} // namespace fourfold::ui
