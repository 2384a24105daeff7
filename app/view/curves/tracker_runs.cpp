// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/tracker_runs.h"

#include <algorithm>
#include <utility>

namespace fourfold::view {

TrackerRuns::TrackerRuns(std::function<void()> wake)
    : reader_(std::move(wake))
{
}

Expected<std::size_t> TrackerRuns::open(const std::filesystem::path& path)
{
    FOURFOLD_TRY(std::vector<TrackedPlace> places, tracked_runs(path));
    const std::size_t count = places.size();
    for (TrackedPlace& place : places) {
        if (!has(TrackerCurve::id_of(place)))
            open_.push_back({std::move(place)});
    }
    if (std::ranges::find(paths_, path) == paths_.end())
        paths_.push_back(path);
    return count;
}

void TrackerRuns::close(const std::string& id)
{
    std::erase_if(open_, [&id](const Open& one) { return TrackerCurve::id_of(one.place) == id; });
    std::erase_if(paths_, [this](const std::filesystem::path& path) { // of which nothing is open any more
        return std::ranges::none_of(open_, [&path](const Open& one) {
            const auto [end, rest]
                = std::mismatch(path.begin(), path.end(), one.place.path.begin(), one.place.path.end());
            return end == path.end() || one.place.path == path.parent_path();
        });
    });
}

bool TrackerRuns::has(const std::string& id) const
{
    return std::ranges::any_of(open_, [&id](const Open& one) { return TrackerCurve::id_of(one.place) == id; });
}

std::vector<std::string> TrackerRuns::ids() const
{
    std::vector<std::string> ids;
    for (const Open& one : open_)
        ids.push_back(TrackerCurve::id_of(one.place));
    return ids;
}

void TrackerRuns::read()
{
    if (open_.empty() || reader_.is_running())
        return;
    std::vector<TrackedPlace> places;
    for (const Open& one : open_)
        places.push_back(one.place);
    reader_.start(
        [this, places = std::move(places), reading = reading_](const std::stop_token& stop) -> Background::Done {
            std::map<std::string, TrackerCurve>& curves = reading->curves;
            std::erase_if(curves, [&places](const auto& curve) {
                return std::ranges::none_of(
                    places, [&curve](const TrackedPlace& place) { return TrackerCurve::id_of(place) == curve.first; });
            });
            auto news = std::make_shared<News>();
            for (const TrackedPlace& place : places) {
                if (stop.stop_requested())
                    break;
                const std::string id = TrackerCurve::id_of(place);
                const auto [curve, is_new] = curves.try_emplace(id, place);
                const Expected<bool> read = curve->second.read();
                if (!read)
                    news->problems.emplace_back(id, read.error().line());
                else if (*read || is_new)
                    news->curves.push_back(curve->second.curve());
            }
            return [this, news] { news_ = news; };
        });
}

bool TrackerRuns::deliver(RunCurves& curves, std::string& problem)
{
    if (!reader_.deliver() || !news_)
        return false;
    const std::shared_ptr<News> news = std::exchange(news_, nullptr);
    bool changed = false;
    for (CurveRun& curve : news->curves) {
        if (!has(curve.id))
            continue; // closed meanwhile
        curves.add(std::move(curve));
        changed = true;
    }
    for (const auto& [id, line] : news->problems) {
        const auto open
            = std::ranges::find_if(open_, [&id](const Open& one) { return TrackerCurve::id_of(one.place) == id; });
        if (open == open_.end() || std::exchange(open->has_failed, true))
            continue;
        problem = line;
        changed = true;
    }
    return changed;
}

} // namespace fourfold::view
