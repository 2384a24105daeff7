// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/curve_runs.h"

#include "app/view/history/history_access.h"

#include <algorithm>

namespace fourfold::view {

CurveRuns::CurveRuns(std::filesystem::path history, std::function<void()> wake)
    : history_(std::move(history))
    , reader_(std::move(wake))
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
    read_.clear();
    std::vector<std::string> ids;
    for (const RunSummary& run : wanted_)
        ids.push_back(run.id);
    curves_.keep(ids);
    return true;
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
    reader_.start([this, id = next->id, file = history_](const std::stop_token&) -> Background::Done {
        const Expected<RunDetail> stored = stored_run(file, id);
        auto run = std::make_shared<Expected<CurveRun>>(
            stored ? Expected<CurveRun>(curve_run(*stored)) : Expected<CurveRun>(stored.error()));
        return [this, id, run] {
            read_.insert(id);
            const bool is_wanted = std::ranges::any_of(wanted_, [&id](const RunSummary& one) { return one.id == id; });
            if (!*run)
                problem_ = run->error().line();
            else if (is_wanted)
                curves_.add(*std::move(*run));
        };
    });
}

bool CurveRuns::deliver(std::string& problem)
{
    problem_.clear();
    if (!reader_.deliver())
        return false;
    problem = problem_;
    return true;
}

} // namespace fourfold::view
