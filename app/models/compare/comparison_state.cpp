// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/compare/comparison_state.h"

#include "app/models/compare/compare_origin.h"
#include "app/models/shared/text.h"

#include <QStringList>

namespace fourfold::ui::compared {

namespace {
std::vector<std::filesystem::path> pathsOf(const QVariant& texts)
{
    std::vector<std::filesystem::path> paths;
    for (const QString& text : texts.toStringList())
        paths.emplace_back(text.toStdString());
    return paths;
}

QStringList textsOf(const std::vector<std::filesystem::path>& paths)
{
    QStringList texts;
    for (const std::filesystem::path& path : paths)
        texts << exactText(path.string());
    return texts;
}
} // namespace

Json toJson(const QVariantMap& comparison, const std::filesystem::path& folder)
{
    view::KeptComparison kept;
    if (comparison.contains(kPlans))
        kept.plans = pathsOf(comparison.value(kPlans));
    kept.left_out = pathsOf(comparison.value(kLeftOut));
    for (const QString& origin : comparison.value(kAdded).toStringList())
        kept.entries.push_back(origin.toStdString());
    for (const QString& origin : comparison.value(kSeries).toStringList())
        kept.series.push_back(seriesOf(origin));
    kept.reference = comparison.value(kReference).toString().toStdString();
    kept.differences_only = comparison.value(kDifferences).toBool();
    return view::to_json(kept, folder);
}

QVariantMap fromJson(const Json& json, const std::filesystem::path& folder)
{
    if (!json.is_object())
        return {};
    const view::KeptComparison kept = view::kept_comparison(json, folder);
    QStringList added, series;
    for (const std::string& origin : kept.entries)
        added << exactText(origin);
    for (const view::SeriesOrigin& origin : kept.series)
        series << originOfSeries(origin);
    QVariantMap comparison{{kAdded, added}, {kSeries, series}, {kLeftOut, textsOf(kept.left_out)},
        {kReference, exactText(kept.reference)}, {kDifferences, kept.differences_only}};
    if (kept.plans)
        comparison.insert(kPlans, textsOf(*kept.plans));
    return comparison;
}

} // namespace fourfold::ui::compared
