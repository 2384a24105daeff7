// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/prediction/timeline_rulers.h"

#include "app/view/text.h"

#include <algorithm>
#include <cmath>

namespace fourfold::view {

void toggle_mark(std::vector<double>& marks, double time, double near)
{
    const auto there = std::ranges::find_if(marks, [&](double mark) { return std::abs(mark - time) <= near; });
    if (there != marks.end())
        marks.erase(there);
    else
        marks.insert(std::ranges::upper_bound(marks, time), time);
}

std::string shares_text(const TimelineScene& scene, double begin, double end)
{
    const TimelineScene::Shares shares = scene.shares(begin, std::min(end, scene.length()));
    const double all = (end - begin) * scene.rows();
    if (!(all > 0))
        return {};
    std::string words;
    for (std::size_t kind = 0; kind < kBarKinds; ++kind) {
        if (shares.busy[kind] > 0)
            words += std::string(name(static_cast<BarKind>(kind))) + " " + percent(shares.busy[kind] / all) + " %, ";
    }
    return words + "idle " + percent(shares.idle / all) + " %";
}

std::string measured_text(const TimelineScene& scene, double begin, double end)
{
    return duration(end - begin) + " from " + duration(begin) + " on: " + shares_text(scene, begin, end);
}

} // namespace fourfold::view
