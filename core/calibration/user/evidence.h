// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions that know what was measured: the shipped tables and the user's own history.
#pragma once

#include "core/history/store.h"
#include "core/predict/measured_layouts.h"

#include <filesystem>
#include <map>
#include <optional>

namespace fourfold {

// What ran according to a history. Each plan of it is read once; runs that were added or deleted since count at once. A
// history that is missing, damaged or of another version vouches for nothing (those who show it say what is wrong with
// it). One thread each.
class HistoryEvidence {
public:
    explicit HistoryEvidence(std::filesystem::path file);
    // Whether the plan's layout or a neighbour is among the latest 1,000 plans that ran with its stack and model.
    bool vouches_for(const ResolvedPlan& plan);

private:
    std::filesystem::path file_;
    std::optional<HistoryStore> store_;
    std::map<int64_t, std::optional<MeasuredLayout>> known_; // by the plan's id in the history; empty: unreadable
};

// predict(), and its evidence is "measured" where a shipped table or the user's history has a layout near it.
Prediction predict_with_evidence(const ResolvedPlan& plan);

} // namespace fourfold
