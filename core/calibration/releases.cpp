// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/releases.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace fourfold {

namespace {
constexpr double kScatter = 0.02; // published rows repeat within so much

std::string set_up_of(const MeasuredRow& row)
{
    Json plan = to_json(row.plan, PresetStyle::ids);
    plan.erase("name");
    plan["stack"] = row.plan.stack.id;
    std::vector<std::string> assumed = row.assumed;
    std::erase_if(
        assumed, [](const std::string& one) { return one.starts_with("stack=") || one.starts_with("release="); });
    return row.source + plan.dump() + joined(assumed, ";");
}

} // namespace

std::vector<std::string> slower_releases(const std::vector<MeasuredRow>& rows)
{
    std::map<std::string, std::vector<const MeasuredRow*>> set_ups;
    for (const MeasuredRow& row : rows) {
        if (!row.plan.stack.release.empty() && row.ran() && row.tps_per_gpu && !row.excluded)
            set_ups[set_up_of(row)].push_back(&row);
    }
    std::vector<std::string> lines;
    const auto release = [](const MeasuredRow* row) -> const std::string& { return row->plan.stack.release; };
    for (auto& [set_up, runs] : set_ups) {
        std::ranges::stable_sort(runs, is_earlier_release, release);
        for (std::size_t i = 1; i < runs.size(); ++i) {
            const MeasuredRow &before = *runs[i - 1], &now = *runs[i];
            const double change = *now.tps_per_gpu / *before.tps_per_gpu - 1;
            if (release(&before) != release(&now) && change < -kScatter)
                lines.push_back(text_of("release %s is slower than %s by %.0f %%: %s on %d %s (rows %s and %s)",
                    release(&now).c_str(), release(&before).c_str(), -100 * change, now.plan.model.name.c_str(),
                    now.plan.gpus, now.plan.cluster.gpu.name.c_str(), before.row.c_str(), now.row.c_str()));
        }
    }
    return lines;
}

std::vector<std::string> unknown_releases(const std::vector<MeasuredRow>& rows)
{
    std::set<std::string> lines;
    for (const MeasuredRow& row : rows)
        lines.insert(row.plan.stack.unknown_release());
    lines.erase("");
    return {lines.begin(), lines.end()};
}

} // namespace fourfold
