// SPDX-License-Identifier: GPL-3.0-or-later
// What ran according to a history.
#include "core/calibration/measured_table.h"
#include "core/calibration/user/evidence.h"

namespace fourfold {

namespace {
constexpr int kLatestPlans = 1000;
constexpr std::chrono::seconds kAskedAgainAfter{30}; // a locked history takes seconds of waiting for each look
} // namespace

HistoryEvidence::HistoryEvidence(std::filesystem::path file)
    : file_(std::move(file))
{
}

OwnRuns HistoryEvidence::latest(const ResolvedPlan& plan)
{
    const auto now = std::chrono::steady_clock::now();
    if (refused_ && now - *refused_ < kAskedAgainAfter)
        return {};
    refused_.reset();
    trouble_.reset();
    const auto refuse = [this](const Problem& why) {
        refused_ = std::chrono::steady_clock::now();
        trouble_ = why;
    };
    std::error_code error;
    if (!store_ && std::filesystem::exists(file_, error)) {
        if (auto opened = HistoryStore::open(file_, StoreMode::read_only))
            store_ = *std::move(opened);
        else
            refuse(opened.error());
    }
    if (!store_)
        return {};
    const std::string& stack = plan.stack.base ? plan.stack.base->id : plan.stack.id;
    const auto plans = store_->measured_plans(stack, plan.model.name, kLatestPlans);
    if (!plans)
        refuse(plans.error());
    OwnRuns runs;
    for (const auto& [id, tps, on_cpus] : plans ? *plans : std::vector<HistoryStore::MeasuredPlan>()) {
        auto& known = known_.try_emplace({id, on_cpus}).first->second;
        if (!known || known->tps_per_gpu != tps) { // new, or run once more since
            const auto document = store_->plan(id);
            auto ran = document ? read_resolved(*document, "history") : Expected<ResolvedPlan>(Problem());
            if (ran)
                known = std::make_shared<const OwnRun>(OwnRun{measured_layout(*ran), *ran, tps});
        }
        const bool on_these = known && (!on_cpus || known->plan.cluster.gpu.is_cpu()); // else it says nothing of them
        if (on_these && is_possible_speed(known->plan, tps)) // else it is in another unit, or somebody made it up
            runs.push_back(known);
    }
    return runs;
}

OwnRuns HistoryEvidence::near(const ResolvedPlan& plan)
{
    OwnRuns runs = latest(plan);
    std::erase_if(runs, [&](const auto& run) { return !is_near(run->layout, plan); });
    return runs;
}

OwnRuns HistoryEvidence::of_job(const ResolvedPlan& plan)
{
    OwnRuns runs = latest(plan);
    std::erase_if(runs, [&](const auto& run) { return !is_same_job(run->layout, plan); });
    return runs;
}

} // namespace fourfold
