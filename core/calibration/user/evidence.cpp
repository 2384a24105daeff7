// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/evidence.h"

#include "core/base/text.h"
#include "core/calibration/neighbours.h"
#include "core/calibration/published_layouts.h"
#include "core/predict/interval.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {

constexpr int kLatestPlans = 1000;
constexpr std::chrono::seconds kAskedAgainAfter{30}; // a locked history takes seconds of waiting for each look
constexpr std::size_t kAskedRuns = 4; // neighbours that are predicted anew: each costs as much as the plan itself

// The user's history as this thread last saw it; programs that move the data folder (tests do) get another.
HistoryEvidence& own_history()
{
    thread_local std::optional<std::pair<std::filesystem::path, HistoryEvidence>> known;
    const std::filesystem::path file = HistoryStore::default_file();
    if (!known || known->first != file)
        known.emplace(file, HistoryEvidence(file));
    return known->second;
}

// Whether an error lies within the half-width that the run's prediction has where it is called calibrated.
bool is_within(const OwnRun& run, const ResolvedPlan& plan, double error)
{
    ResolvedPlan ran = run.plan;
    ran.stack = plan.stack;
    ran.cluster = plan.cluster;
    return std::abs(error) <= time_half_width(ran);
}

// The latest run that lies outside, and whether any lies inside.
struct OwnVerdict {
    std::shared_ptr<const OwnRun> wrong;
    double error = 0; // of `wrong`
    bool any_right = false;
};
OwnVerdict verdict_of(const OwnRuns& near, const ResolvedPlan& plan)
{
    OwnVerdict verdict;
    for (std::size_t i = 0; i < std::min(near.size(), kAskedRuns); ++i) {
        const auto error = near[i]->error_as(plan);
        if (!error)
            continue;
        if (is_within(*near[i], plan, *error))
            verdict.any_right = true;
        else if (std::abs(*error) > std::abs(verdict.error)) {
            verdict.wrong = near[i];
            verdict.error = *error;
        }
    }
    return verdict;
}

// Reaches to what was measured instead.
void widen(Range& range, double factor)
{
    range.low = std::min(range.low, range.low * factor);
    range.high = std::max(range.high, range.high * factor);
}

} // namespace

std::optional<double> OwnRun::error_as(const ResolvedPlan& neighbour) const
{
    ResolvedPlan now = plan;
    now.stack = neighbour.stack;
    now.cluster = neighbour.cluster;
    const Prediction prediction = predict(now);
    if (!prediction.tps_per_gpu || *prediction.tps_per_gpu <= 0 || tps_per_gpu <= 0)
        return std::nullopt;
    return std::log(*prediction.tps_per_gpu / tps_per_gpu);
}

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
    std::error_code error;
    if (!store_ && std::filesystem::exists(file_, error)) {
        if (auto opened = HistoryStore::open(file_, StoreMode::read_only))
            store_ = *std::move(opened);
        else
            refused_ = std::chrono::steady_clock::now();
    }
    if (!store_)
        return {};
    const std::string& stack = plan.stack.base ? plan.stack.base->id : plan.stack.id;
    const auto plans = store_->measured_plans(stack, plan.model.name, kLatestPlans);
    if (!plans)
        refused_ = std::chrono::steady_clock::now();
    OwnRuns runs;
    for (const auto& [id, tps, on_cpus] : plans ? *plans : std::vector<HistoryStore::MeasuredPlan>()) {
        auto& known = known_.try_emplace({id, on_cpus}).first->second;
        if (!known || known->tps_per_gpu != tps) { // new, or run once more since
            const auto document = store_->plan(id);
            auto ran = document ? read_resolved(*document, "history") : Expected<ResolvedPlan>(Problem());
            if (ran)
                known = std::make_shared<const OwnRun>(OwnRun{measured_layout(*ran), *ran, tps});
        }
        if (known && (!on_cpus || known->plan.cluster.gpu.is_cpu())) // else it says nothing of the plan's GPUs
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

void weigh_own_runs(Prediction& prediction, const OwnRuns& near)
{
    if (near.empty() || !prediction.tps_per_gpu)
        return;
    const OwnVerdict verdict = verdict_of(near, prediction.plan);
    if (!verdict.wrong) {
        if (verdict.any_right && may_be_measured(prediction))
            prediction.evidence = Evidence::measured;
        return;
    }
    if (prediction.evidence == Evidence::measured)
        prediction.evidence = Evidence::calibrated;
    if (prediction.interval) {
        // Not beyond what no software can reach.
        double error = verdict.error;
        if (prediction.step_time_s && prediction.least.step_s > 0)
            error = std::max(error, std::log(prediction.least.step_s / prediction.interval->step_time_s.low));
        widen(prediction.interval->step_time_s, std::exp(error));
        widen(prediction.interval->tps_per_gpu, std::exp(-error));
    }
    const double measured = verdict.wrong->tps_per_gpu;
    const Layout& layout = verdict.wrong->plan.layout;
    prediction.warnings.push_back(
        text_of("your own run of TP %d, CP %d, PP %d, DP %d reached %.4g tokens/s per GPU, %.4g were predicted: the "
                "range is widened, and \"fourfold calibrate\" fits the constants to it",
            layout.tp, layout.cp, layout.pp, layout.dp, measured, measured * std::exp(verdict.error)));
}

JobEvidence::JobEvidence(ResolvedPlan plan)
    : job_(std::move(plan))
{
}

void JobEvidence::gather()
{
    gathered_ = true;
    own_ = own_history().of_job(job_);
    for (const MeasuredLayout& measured : shipped_layouts()) {
        if (is_same_job(measured, job_))
            shipped_.push_back(&measured);
    }
    own_right_.resize(own_.size());
    shipped_right_.resize(shipped_.size());
}

// As weigh_measurements() and weigh_own_runs() have it for one.
Evidence JobEvidence::of(const ResolvedPlan& plan, double memory_device_gib)
{
    const double capacity = plan.cluster.gpu.memory_gib;
    const Evidence evidence = evidence_for(plan, capacity > 0 ? memory_device_gib / capacity : 0);
    if (evidence != Evidence::calibrated)
        return evidence; // a neighbour does not vouch for what was never measured
    if (!gathered_)
        gather();
    std::size_t asked = 0;
    bool own_right = false;
    for (std::size_t i = 0; i < own_.size(); ++i) {
        const OwnRun& run = *own_[i];
        if (!is_near(run.layout, plan) || ++asked > kAskedRuns)
            continue;
        if (!own_right_[i]) {
            const auto error = run.error_as(plan);
            if (!error)
                continue; // says nothing
            own_right_[i] = is_within(run, plan, *error);
        }
        if (!*own_right_[i])
            return evidence;
        own_right = true;
    }
    if (own_right)
        return Evidence::measured;
    bool near = false;
    for (const AskedRow& row : rows_to_ask(plan, shipped_)) {
        if (!row.is_neighbour)
            continue;
        const MeasuredLayout& measured = *shipped_[row.row];
        std::optional<bool>& is_right = shipped_right_[row.row];
        if (!is_right)
            is_right = is_inside(error_of_neighbour(measured, plan), measured, plan);
        if (!*is_right)
            return evidence;
        near = true;
    }
    return near ? Evidence::measured : evidence;
}

Prediction predict_with_evidence(const ResolvedPlan& plan)
{
    Prediction prediction = predict(plan);
    weigh_measurements(prediction, shipped_layouts());
    weigh_own_runs(prediction, own_history().near(plan));
    return prediction;
}

} // namespace fourfold
