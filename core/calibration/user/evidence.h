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

// What ran according to a history. Each plan of it is read once; runs that were added or deleted since count at once. A
// history that is missing, damaged or of another version vouches for nothing (those who show it say what is wrong with
// it). One thread each.
class HistoryEvidence {
public:
    explicit HistoryEvidence(std::filesystem::path file);
    // Whether the plan's layout or a neighbour is among the latest 1,000 plans that ran with its stack and model.
    bool vouches_for(const ResolvedPlan& plan);
    // Those of them that ran the plan's job, whatever their layout.
    std::vector<MeasuredLayout> of_job(const ResolvedPlan& plan);

private:
    std::vector<const MeasuredLayout*> latest(const ResolvedPlan& plan);

    std::filesystem::path file_;
    std::optional<HistoryStore> store_;
    std::map<int64_t, std::optional<MeasuredLayout>> known_; // by the plan's id in the history; empty: unreadable
};

// predict(), and its evidence is "measured" where a shipped table or the user's history has a layout near it.
Prediction predict_with_evidence(const ResolvedPlan& plan);

// The evidence of many layouts of one job, as predict_with_evidence() would find it for each: what was measured of the
// job is gathered once, when the first layout asks. One thread each.
class JobEvidence {
public:
    // `plan`: any of the job's.
    explicit JobEvidence(ResolvedPlan plan);
    // `plan`: one of the job's that fits, whatever its layout and settings; `memory_device_gib`: predicted for it.
    Evidence of(const ResolvedPlan& plan, double memory_device_gib);

private:
    ResolvedPlan job_;
    std::optional<std::vector<MeasuredLayout>> measured_;
};

} // namespace fourfold
