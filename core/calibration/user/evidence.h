// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions that know what was measured: the shipped tables and the user's own history.
#pragma once

#include "core/history/store.h"
#include "core/predict/measured_layouts.h"
#include "core/search/search.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace fourfold {

// A plan of the user's history that ran.
struct OwnRun {
    MeasuredLayout layout;
    ResolvedPlan plan;
    double tps_per_gpu = 0; // mean of its runs
    // ln(predicted / measured) with stack and hardware as `neighbour` has them now; empty where nothing is predicted.
    [[nodiscard]] std::optional<double> error_as(const ResolvedPlan& neighbour) const;
};
using OwnRuns = std::vector<std::shared_ptr<const OwnRun>>;

// What ran according to a history. Each plan of it is read once; runs that were added or deleted since count at once,
// those that no GPU can have reached never. A history that is missing, damaged or of another version vouches for
// nothing. One that cannot be read, as while another program keeps it locked, is waited for once and asked again later.
// One thread each.
class HistoryEvidence {
public:
    explicit HistoryEvidence(std::filesystem::path file);
    // The latest 1,000 plans that ran with the plan's stack and model.
    OwnRuns latest(const ResolvedPlan& plan);
    // Those of them whose layout is the plan's own or a neighbour.
    OwnRuns near(const ResolvedPlan& plan);
    // Those of them that ran the plan's job, whatever their layout.
    OwnRuns of_job(const ResolvedPlan& plan);
    // Why what ran is not known; empty where it is, and where there is no history.
    [[nodiscard]] const std::optional<Problem>& trouble() const { return trouble_; }

private:
    std::filesystem::path file_;
    std::optional<HistoryStore> store_;
    std::optional<std::chrono::steady_clock::time_point> refused_; // when it could not be read
    std::optional<Problem> trouble_; // since then
    std::map<std::pair<int64_t, bool>, std::shared_ptr<const OwnRun>> known_; // by plan, on CPUs; null: unreadable
};

// Runs of a neighbour make a calibrated prediction "measured" where it is right about them. Where it is not, it is not
// called measured, whoever else ran that layout: its interval is widened to what it would be if it were as wrong here
// as about any of them, and a warning names the one that it is furthest off.
void weigh_own_runs(Prediction& prediction, const OwnRuns& near);

// predict(), and its evidence is "measured" where a shipped table or the user's history has a layout near it. A history
// that is there and cannot be read is a warning: with it the answer may be another one.
Prediction predict_with_evidence(const ResolvedPlan& plan);

// predict() with the times that own runs give it, for many plans of one model and stack, on any thread. The history is
// read now.
std::function<Prediction(const ResolvedPlan&)> predicting_beside_own_runs(const ResolvedPlan& plan);

// The evidence of many layouts of one job, as predict_with_evidence() would find it for each: what was measured of the
// job is gathered once, when the first layout asks. One thread each.
class JobEvidence {
public:
    // `plan`: any of the job's.
    explicit JobEvidence(ResolvedPlan plan);
    // `plan`: one of the job's that fits, whatever its layout and settings; `memory_device_gib`: predicted for it.
    Evidence of(const ResolvedPlan& plan, double memory_device_gib);
    // The factor of all times by which own runs shift predict_with_evidence()'s answer for one of the job's, of which
    // the model says `step_time_s` (or that it takes at least so long: then the product is a bound as well). 1: none.
    double stretch(const ResolvedPlan& plan, double step_time_s);

private:
    // What a run says of the job's stack and hardware: as OwnRun::error_as(), and what its interval allows.
    struct Said {
        std::optional<double> error;
        double half_width = 0;
    };
    // Whether the prediction of a row holds; empty: not asked yet.
    using Verdicts = std::vector<std::optional<bool>>;
    void gather();
    [[nodiscard]] std::vector<std::size_t> near(const ResolvedPlan& plan) const; // of own_, as many as are asked
    const Said& ask(std::size_t run, const ResolvedPlan& plan);

    ResolvedPlan job_;
    bool gathered_ = false;
    OwnRuns own_;
    std::vector<const MeasuredLayout*> shipped_; // of the tables
    std::vector<std::optional<Said>> own_said_;
    Verdicts shipped_right_;
};

// The layouts that the search finds have the times that predict_with_evidence() gives them, and are ordered by those.
void use_own_runs(SearchRequest& request);

} // namespace fourfold
