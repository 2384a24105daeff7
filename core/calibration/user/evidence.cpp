// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/evidence.h"

#include "core/calibration/published_layouts.h"

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

bool HistoryEvidence::vouches_for(const ResolvedPlan& plan)
{
    std::error_code error;
    if (!store_ && std::filesystem::exists(file_, error)) {
        if (auto opened = HistoryStore::open(file_, StoreMode::read_only))
            store_ = *std::move(opened);
    }
    if (!store_)
        return false;
    const std::string& stack = plan.stack.base ? plan.stack.base->id : plan.stack.id;
    const auto plans = store_->measured_plans(stack, plan.model.name, kLatestPlans);
    return plans && std::any_of(plans->begin(), plans->end(), [&](int64_t id) {
        const auto [place, is_new] = known_.try_emplace(id);
        if (is_new) {
            const auto document = store_->plan(id);
            const auto measured = document ? read_resolved(*document, "history") : Expected<ResolvedPlan>(Problem());
            if (measured)
                place->second = measured_layout(*measured);
        }
        return place->second && is_near(*place->second, plan);
    });
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
