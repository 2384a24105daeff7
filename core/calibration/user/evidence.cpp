// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/evidence.h"

#include "core/calibration/published_layouts.h"
#include "core/predict/interval.h"

#include <algorithm>

namespace fourfold {

namespace {

constexpr int kLatestPlans = 1000;

// The user's history as this thread last saw it; programs that move the data folder (tests do) get another.
HistoryEvidence& own_history()
{
    thread_local std::optional<std::pair<std::filesystem::path, HistoryEvidence>> known;
    const std::filesystem::path file = HistoryStore::default_file();
    if (!known || known->first != file)
        known.emplace(file, HistoryEvidence(file));
    return known->second;
}

} // namespace

HistoryEvidence::HistoryEvidence(std::filesystem::path file)
    : file_(std::move(file))
{
}

std::vector<const MeasuredLayout*> HistoryEvidence::latest(const ResolvedPlan& plan)
{
    std::error_code error;
    if (!store_ && std::filesystem::exists(file_, error)) {
        if (auto opened = HistoryStore::open(file_, StoreMode::read_only))
            store_ = *std::move(opened);
    }
    if (!store_)
        return {};
    const std::string& stack = plan.stack.base ? plan.stack.base->id : plan.stack.id;
    const auto plans = store_->measured_plans(stack, plan.model.name, kLatestPlans);
    std::vector<const MeasuredLayout*> layouts;
    for (const int64_t id : plans ? *plans : std::vector<int64_t>()) {
        const auto [place, is_new] = known_.try_emplace(id);
        if (is_new) {
            const auto document = store_->plan(id);
            const auto measured = document ? read_resolved(*document, "history") : Expected<ResolvedPlan>(Problem());
            if (measured)
                place->second = measured_layout(*measured);
        }
        if (place->second)
            layouts.push_back(&*place->second);
    }
    return layouts;
}

bool HistoryEvidence::vouches_for(const ResolvedPlan& plan)
{
    const auto layouts = latest(plan);
    return std::any_of(
        layouts.begin(), layouts.end(), [&](const MeasuredLayout* measured) { return is_near(*measured, plan); });
}

std::vector<MeasuredLayout> HistoryEvidence::of_job(const ResolvedPlan& plan)
{
    std::vector<MeasuredLayout> layouts;
    for (const MeasuredLayout* measured : latest(plan)) {
        if (is_same_job(*measured, plan))
            layouts.push_back(*measured);
    }
    return layouts;
}

JobEvidence::JobEvidence(ResolvedPlan plan)
    : job_(std::move(plan))
{
}

Evidence JobEvidence::of(const ResolvedPlan& plan, double memory_device_gib)
{
    const double capacity = plan.cluster.gpu.memory_gib;
    const Evidence evidence = evidence_for(plan, capacity > 0 ? memory_device_gib / capacity : 0);
    if (evidence != Evidence::calibrated)
        return evidence; // a neighbour does not vouch for what was never measured
    if (!measured_) {
        measured_ = own_history().of_job(job_);
        for (const MeasuredLayout& measured : shipped_layouts()) {
            if (is_same_job(measured, job_))
                measured_->push_back(measured);
        }
    }
    const bool near = std::any_of(
        measured_->begin(), measured_->end(), [&](const MeasuredLayout& measured) { return is_near(measured, plan); });
    return near ? Evidence::measured : evidence;
}

Prediction predict_with_evidence(const ResolvedPlan& plan)
{
    Prediction prediction = predict(plan);
    weigh_measurements(prediction, shipped_layouts());
    if (may_be_measured(prediction) && own_history().vouches_for(plan))
        prediction.evidence = Evidence::measured;
    return prediction;
}

} // namespace fourfold
