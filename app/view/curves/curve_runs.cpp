// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/curve_runs.h"

#include "app/view/curves/expected_curves.h"
#include "app/view/history/history_access.h"

#include <algorithm>
#include <utility>

namespace fourfold::view {

CurveRuns::CurveRuns(std::filesystem::path history, std::function<void()> wake)
    : history_(std::move(history))
    , reader_(wake)
    , trackers_(std::move(wake))
{
}

bool CurveRuns::choose(const std::vector<RunSummary>& runs)
{
    const std::vector<RunSummary> wanted(
        runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, runs.size())));
    const auto is_same = [](const RunSummary& a, const RunSummary& b) { return a.id == b.id && a.steps == b.steps; };
    if (std::ranges::equal(wanted, wanted_, is_same))
        return false;
    wanted_ = wanted;
    ++choice_;
    read_.clear();
    std::vector<std::string> ids;
    for (const RunSummary& run : wanted_)
        ids.push_back(run.id);
    std::erase_if(expected_, [&ids](const auto& run) { return std::ranges::find(ids, run.first) == ids.end(); });
    keep();
    std::erase_if(missed_, [&ids](const auto& run) { return std::ranges::find(ids, run.first) == ids.end(); });
    return true;
}

// What is chosen, with what its recipes expect, and what trackers have.
void CurveRuns::keep()
{
    std::vector<std::string> kept = trackers_.ids();
    for (const RunSummary& run : wanted_)
        kept.push_back(run.id);
    for (const auto& [run, curves] : expected_)
        kept.insert(kept.end(), curves.begin(), curves.end());
    curves_.keep(kept);
}

void CurveRuns::close_tracker(const std::string& id)
{
    trackers_.close(id);
    keep();
}

void CurveRuns::read()
{
    if (reader_.is_running())
        return;
    const auto next = std::ranges::find_if(wanted_, [this](const RunSummary& run) {
        const std::optional<std::size_t> steps = curves_.steps_of(run.id);
        return !read_.contains(run.id) && (!steps || *steps < static_cast<std::size_t>(std::max(0, run.steps)));
    });
    if (next == wanted_.end())
        return;
    reading_ = next->id;
    reader_.start([this, id = next->id, choice = choice_, file = history_](const std::stop_token&) -> Background::Done {
        const Expected<RunDetail> stored = stored_run(file, id);
        auto run = std::make_shared<Expected<CurveRun>>(
            stored ? Expected<CurveRun>(curve_run(*stored)) : Expected<CurveRun>(stored.error()));
        auto expected = std::make_shared<std::vector<CurveRun>>();
        if (stored)
            *expected = expected_curves(*stored, presets_);
        return [this, id, choice, run, expected] {
            reading_.clear();
            if (choice == choice_) // a later choice knows of more steps, or wants none of it
                read_.insert(id);
            const std::vector<Json> missed = std::exchange(missed_[id], {});
            missed_.erase(id);
            if (std::ranges::none_of(wanted_, [&id](const RunSummary& one) { return one.id == id; }))
                return;
            if (!*run) {
                problem_ = run->error().line();
                return;
            }
            curves_.add(*std::move(*run));
            for (const Json& event : missed)
                curves_.append(id, event);
            std::vector<std::string>& ids = expected_[id];
            ids.clear();
            for (CurveRun& curve : *expected) {
                ids.push_back(curve.id);
                curves_.add(std::move(curve));
            }
        };
    });
}

bool CurveRuns::append(const std::string& run, const Json& event)
{
    const bool is_wanted = std::ranges::any_of(wanted_, [&run](const RunSummary& one) { return one.id == run; });
    if (is_wanted && (run == reading_ || (!curves_.steps_of(run) && !read_.contains(run))))
        missed_[run].push_back(event);
    return curves_.append(run, event);
}

bool CurveRuns::deliver(std::string& problem)
{
    problem_.clear();
    const bool of_history = reader_.deliver();
    if (of_history)
        problem = problem_;
    return trackers_.deliver(curves_, problem) || of_history;
}

} // namespace fourfold::view
