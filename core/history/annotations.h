// SPDX-License-Identifier: GPL-3.0-or-later
// What is said about stored runs afterwards: tags, notes, the term most off; deleting, bringing back, purging. `run`
// and `runs` are whole ids; one that the history does not hold is a `not_found` Problem.
#pragma once

#include "core/history/store.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold {

// What a person says about a run. Tags are words of at most 64 bytes without commas and control characters; a note is
// text of at most 64 KiB.
Expected<void> check_tags(const std::vector<std::string>& tags);
Expected<void> check_note(const std::string& note);
Expected<void> set_tags(HistoryStore& store, const std::string& run, const std::vector<std::string>& tags);
// Adds some and takes others away, and returns what the run has then. Between reading and writing nobody else writes,
// so that of what several programs add at the same time nothing is lost.
Expected<std::vector<std::string>> change_tags(HistoryStore& store, const std::string& run,
    const std::vector<std::string>& add, const std::vector<std::string>& remove);
Expected<void> set_note(HistoryStore& store, const std::string& run, const std::string& note);

// Runs with a trace that was not compared yet, and what came of comparing: nothing is said of a trace of no use.
Expected<std::vector<std::string>> most_off_due(const HistoryStore& store);
Expected<void> set_most_off(HistoryStore& store, const std::string& run, const std::optional<MostOff>& term);

// Hides runs from list() and from "last", or brings them back: all or none. How many of them were not so before.
Expected<std::size_t> set_deleted(HistoryStore& store, const std::vector<std::string>& runs, bool deleted);
// Removes deleted runs that do not go on (nothing could reach those by their ids any more) for good, with their steps
// and events; `runs` empty: all deleted ones. Returns their ids, for their folders; not those that no program of ours
// wrote and that could lead out of the folder of runs.
Expected<std::vector<std::string>> purge(HistoryStore& store, const std::vector<std::string>& runs = {});

} // namespace fourfold
