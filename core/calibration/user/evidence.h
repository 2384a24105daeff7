// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions that know what was measured: the shipped tables and the user's own history.
#pragma once

#include "core/history/store.h"
#include "core/predict/measured_layouts.h"

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace fourfold {

// The layouts that ran according to a history. It is read anew where runs were added since; a history that is missing,
// damaged or of another version vouches for nothing (those who show it say what is wrong with it). One thread each.
class HistoryEvidence {
public:
    explicit HistoryEvidence(std::filesystem::path file);
    // Runs of the plan's stack and model, the latest 1,000 plans.
    const std::vector<MeasuredLayout>& layouts_like(const ResolvedPlan& plan);

private:
    std::filesystem::path file_;
    std::optional<HistoryStore> store_;
    std::map<int64_t, std::optional<MeasuredLayout>> known_; // by the plan's id in the history
    std::vector<MeasuredLayout> layouts_;
};

// predict(), and its evidence is "measured" where a shipped table or the user's history has a layout near it.
Prediction predict_with_evidence(const ResolvedPlan& plan);

} // namespace fourfold
