// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/evidence.h"

#include "core/calibration/published_layouts.h"

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

const std::vector<MeasuredLayout>& HistoryEvidence::layouts_like(const ResolvedPlan& plan)
{
    layouts_.clear();
    std::error_code error;
    if (!store_ && std::filesystem::exists(file_, error)) {
        if (auto opened = HistoryStore::open(file_, StoreMode::read_only))
            store_ = *std::move(opened);
    }
    if (!store_)
        return layouts_;
    const std::string& stack = plan.stack.base ? plan.stack.base->id : plan.stack.id;
    const auto plans = store_->measured_plans(stack, plan.model.name, kLatestPlans);
    for (const int64_t id : plans ? *plans : std::vector<int64_t>()) {
        const auto [place, is_new] = known_.try_emplace(id);
        if (is_new) {
            const auto document = store_->plan(id);
            const auto measured = document ? read_resolved(*document, "history") : Expected<ResolvedPlan>(Problem());
            if (measured)
                place->second = measured_layout(*measured);
        }
        if (place->second)
            layouts_.push_back(*place->second);
    }
    return layouts_;
}

Prediction predict_with_evidence(const ResolvedPlan& plan)
{
    Prediction prediction = predict(plan);
    weigh_measurements(prediction, shipped_layouts());
    if (prediction.evidence == Evidence::calibrated)
        weigh_measurements(prediction, own_history().layouts_like(plan));
    return prediction;
}

} // namespace fourfold
