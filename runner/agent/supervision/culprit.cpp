// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/culprit.h"

#include "runner/agent/supervision/diagnosis.h"

#include <sys/wait.h>

#include <algorithm>
#include <limits>

namespace fourfold {

namespace {

Evidence evidence_of(FailureOrigin origin)
{
    switch (origin) {
    case FailureOrigin::lost_rank:
        return Evidence::lost_rank;
    case FailureOrigin::told:
        return Evidence::told;
    default:
        return Evidence::own;
    }
}

} // namespace

std::optional<RankError> failure_of(int rank, const EventMerge& events, const std::filesystem::path& folder)
{
    if (auto error = events.error_of(rank))
        return error;
    const auto failure = read_failure(folder, rank);
    if (!failure)
        return {};
    return RankError{failure->kind, failure->message, failure->origin, std::numeric_limits<int64_t>::max()};
}

Culprit find_culprit(const std::vector<RankPlace>& ranks, const std::vector<RankExit>& exits, const EventMerge& events,
    const std::filesystem::path& folder)
{
    struct Suspect {
        Culprit culprit;
        int64_t order = 0;
    };
    std::vector<Suspect> suspects;
    for (std::size_t i = 0; i < exits.size(); ++i) {
        if (!failure_of(exits[i].place.rank, events, folder))
            suspects.push_back({{exits[i].place, WIFSIGNALED(exits[i].wait_status) ? Evidence::signal : Evidence::exit,
                                    std::string(name(RunState::fail)), "", false, exits[i].wait_status},
                int64_t(i)});
    }
    for (const RankPlace& place : ranks) {
        if (const auto failure = failure_of(place.rank, events, folder))
            suspects.push_back({{place, evidence_of(failure->origin), failure->kind, failure->message,
                                    events.error_of(place.rank).has_value(), 0},
                failure->order});
    }
    return std::min_element(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
        return std::pair(a.culprit.evidence, a.order) < std::pair(b.culprit.evidence, b.order);
    })->culprit;
}

} // namespace fourfold
