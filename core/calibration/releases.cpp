// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/releases.h"
#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

namespace fourfold {

namespace {
constexpr double kScatter = 0.02; // published rows repeat within so much

std::vector<long> numbers_of(const std::string& release)
{
    std::vector<long> numbers;
    for (const char* at = release.c_str(); *at != 0;) {
        if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
            ++at;
            continue;
        }
        char* end = nullptr;
        numbers.push_back(std::strtol(at, &end, 10));
        at = end;
    }
    return numbers;
}

std::string set_up_of(const MeasuredRow& row)
{
    Json plan = to_json(row.plan, PresetStyle::ids);
    plan.erase("name");
    return row.source + plan.dump() + joined(row.assumed, ";");
}

} // namespace

bool is_earlier_release(const std::string& a, const std::string& b)
{
    return numbers_of(a) < numbers_of(b);
}

std::vector<std::string> slower_releases(const std::vector<MeasuredRow>& rows, const TableSources& sources)
{
    std::map<std::string, std::vector<const MeasuredRow*>> set_ups;
    for (const MeasuredRow& row : rows) {
        const TableSource* source = sources.source(row.source);
        if (source != nullptr && source->tables_are_releases && row.ran() && row.tps_per_gpu && !row.excluded)
            set_ups[set_up_of(row)].push_back(&row);
    }
    std::vector<std::string> lines;
    for (auto& [set_up, runs] : set_ups) {
        std::stable_sort(runs.begin(), runs.end(),
            [](const MeasuredRow* a, const MeasuredRow* b) { return is_earlier_release(a->table, b->table); });
        for (std::size_t i = 1; i < runs.size(); ++i) {
            const MeasuredRow &before = *runs[i - 1], &now = *runs[i];
            const double change = *now.tps_per_gpu / *before.tps_per_gpu - 1;
            if (before.table != now.table && change < -kScatter)
                lines.push_back(text_of("release %s is slower than %s by %.0f %%: %s on %d %s (rows %s and %s)",
                    now.table.c_str(), before.table.c_str(), -100 * change, now.plan.model.name.c_str(), now.plan.gpus,
                    now.plan.cluster.gpu.name.c_str(), before.row.c_str(), now.row.c_str()));
        }
    }
    return lines;
}

} // namespace fourfold
