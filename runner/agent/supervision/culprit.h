// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a node's ranks a failure began with, as far as the node can tell.
#pragma once

#include "runner/agent/run/event_merge.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <vector>

namespace fourfold {

// What speaks against a rank, strongest first: when a rank dies, its peers fail in their collectives a moment later;
// one that reports its own failure does so before the others are told to leave.
enum class Evidence {
    signal, // ended it
    own, // it reported a failure of its own
    exit, // it ended with an exit status, without a word
    lost_rank, // it reported that it misses another rank
    told, // it left because another rank told it why
};

struct RankExit {
    RankPlace place;
    int wait_status = 0;
};

struct Culprit {
    RankPlace place;
    Evidence evidence = Evidence::exit;
    std::string kind; // "oom", "fail", "hang", "bad_input"
    std::string message; // empty: its exit says all that is known
    bool has_event = false; // its `error` event is among the events
    int wait_status = 0; // of one that ended
};

// `exits`, in their order and not empty, are the ranks that ended badly; others may still run and have told why
// already.
Culprit find_culprit(const std::vector<RankPlace>& ranks, const std::vector<RankExit>& exits, const EventMerge& events,
    const std::filesystem::path& folder);

// What a rank says about its failure: by an event or, where it could not be written, by its page of shared memory.
std::optional<RankError> failure_of(int rank, const EventMerge& events, const std::filesystem::path& folder);

} // namespace fourfold
