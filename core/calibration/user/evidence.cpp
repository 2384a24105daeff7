// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibration/user/evidence.h"

#include "core/base/text.h"
#include "core/calibration/neighbours.h"
#include "core/calibration/published_layouts.h"
#include "core/calibration/user/own_runs_missing.h"
#include "core/predict/interval.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace fourfold {

namespace {

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

// Why the look at the own history that was the last, of whichever thread, found nothing.
std::mutex trouble_guard;
std::optional<Problem> last_trouble;

OwnRuns own_runs(OwnRuns (HistoryEvidence::*look)(const ResolvedPlan&), const ResolvedPlan& plan)
{
    HistoryEvidence& history = own_history();
    OwnRuns runs = (history.*look)(plan);
    const std::lock_guard lock(trouble_guard);
    last_trouble = history.trouble();
    return runs;
}

// The half-width that the run's prediction has where it is called calibrated.
double half_width_of(const OwnRun& run, const ResolvedPlan& plan)
{
    ResolvedPlan ran = run.plan;
    ran.stack = plan.stack;
    ran.cluster = plan.cluster;
    return time_half_width(ran);
}

// The run that lies farthest outside, whether any lies inside, and what all of them say together.
struct OwnVerdict {
    std::shared_ptr<const OwnRun> wrong;
    double error = 0; // of `wrong`
    double least_error = 0, most_error = 0; // of all that lie outside
    bool any_right = false;
    int runs = 0;
    double weights = 0, weighted = 0; // 1 / s^2 of each run, and times its error; s: standard deviation of its error

    [[nodiscard]] double mean_error() const { return weights > 0 ? weighted / weights : 0; }
    [[nodiscard]] double share() const { return share_beyond_scatter(mean_error() * mean_error() * weights); }
    // Of all times, over those that the constants give: predicted too fast, they are longer.
    [[nodiscard]] double factor() const { return std::exp(std::max(0.0, share()) * mean_error()); }

    void add(const std::shared_ptr<const OwnRun>& run, double its_error, double half_width)
    {
        const double deviation = half_width / kHalfOf90;
        ++runs;
        weights += 1 / (deviation * deviation);
        weighted += its_error / (deviation * deviation);
        if (std::abs(its_error) <= half_width) {
            any_right = true;
            return;
        }
        least_error = std::min(least_error, its_error);
        most_error = std::max(most_error, its_error);
        if (std::abs(its_error) > std::abs(error)) {
            wrong = run;
            error = its_error;
        }
    }
};
OwnVerdict verdict_of(const OwnRuns& near, const ResolvedPlan& plan)
{
    OwnVerdict verdict;
    for (std::size_t i = 0; i < std::min(near.size(), kAskedRuns); ++i)
        if (const auto error = near[i]->error_as(plan))
            verdict.add(near[i], *error, half_width_of(*near[i], plan));
    return verdict;
}

void multiply(Range& range, double factor)
{
    range.low *= factor;
    range.high *= factor;
}

void multiply(std::optional<double>& value, double factor)
{
    if (value)
        *value *= factor;
}

// Every time of the answer, and what follows from it.
void stretch(Prediction& prediction, double factor)
{
    multiply(prediction.step_time_s, factor);
    for (auto* rate : {&prediction.tps_per_gpu, &prediction.tflops_per_gpu, &prediction.mfu, &prediction.mfu_bf16_peak,
             &prediction.mfu_causal})
        multiply(*rate, 1 / factor);
    for (PartTimes* times : {&prediction.time_by_part, &prediction.time_hidden})
        for (double& seconds : times->seconds)
            seconds *= factor;
    prediction.timeline.length_s *= factor;
    for (Span& span : prediction.timeline.spans) {
        span.start_s *= factor;
        span.end_s *= factor;
    }
    if (prediction.interval) {
        multiply(prediction.interval->step_time_s, factor);
        multiply(prediction.interval->tps_per_gpu, 1 / factor);
    }
}

// Both bounds further from `value` by so much, in logarithms.
void spread(Range& range, double value, double times)
{
    range.low = value * std::pow(range.low / value, times);
    range.high = value * std::pow(range.high / value, times);
}

// What nearby layouts have in common beyond the model is normal, of a variance that the runs themselves show; of n
// runs' mean error the estimator then takes over a share k, and of what a further run scatters k / n remains to be
// added, in squares.
void shift_by(const OwnVerdict& verdict, Prediction& prediction)
{
    const double share = verdict.share();
    if (share <= 0 || !prediction.step_time_s)
        return;
    double factor = verdict.factor();
    if (const double least = prediction.least.step_s / *prediction.step_time_s; factor < least) {
        factor = least;
        prediction.at_least = true;
    }
    prediction.own_shift = OwnShift{verdict.runs, share, factor};
    stretch(prediction, factor);
    if (!prediction.interval)
        return;
    const double wider = std::sqrt(1 + share / verdict.runs);
    spread(prediction.interval->step_time_s, *prediction.step_time_s, wider);
    spread(prediction.interval->tps_per_gpu, *prediction.tps_per_gpu, wider);
}

void keep_above_the_bound(Prediction& prediction)
{
    Interval& interval = *prediction.interval;
    if (interval.step_time_s.low >= prediction.least.step_s)
        return;
    interval.step_time_s.low = prediction.least.step_s;
    interval.tps_per_gpu.high = *prediction.tps_per_gpu * *prediction.step_time_s / prediction.least.step_s;
}

std::string shift_text(const OwnVerdict& verdict, const OwnShift& shift)
{
    const double off = std::exp(verdict.mean_error()) - 1; // of their step times
    return text_of("%s near this layout took %.1f %% %s than the model says: %.0f %% of it is in this answer",
        verdict.runs == 1 ? "your own run" : (std::to_string(verdict.runs) + " of your own runs").c_str(),
        100 * std::abs(off), off > 0 ? "longer" : "less time", 100 * shift.share);
}

// To hold what was measured.
void widen(Range& range, double value)
{
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
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

namespace {
OwnRuns near_of(OwnRuns runs, const ResolvedPlan& plan)
{
    std::erase_if(runs, [&](const auto& run) { return !is_near(run->layout, plan); });
    return runs;
}
} // namespace

void weigh_own_runs(Prediction& prediction, const OwnRuns& near)
{
    if (near.empty() || !prediction.tps_per_gpu)
        return;
    const OwnVerdict verdict = verdict_of(near, prediction.plan);
    shift_by(verdict, prediction);
    const double taken = prediction.own_shift ? std::log(prediction.own_shift->factor) : 0;
    if (verdict.wrong && prediction.evidence == Evidence::measured)
        prediction.evidence = Evidence::calibrated;
    else if (!verdict.wrong && verdict.any_right && may_be_measured(prediction))
        prediction.evidence = Evidence::measured;
    if (!is_plausible(prediction))
        prediction.evidence = Evidence::extrapolated;
    if (prediction.interval && verdict.wrong) {
        for (const double error : {verdict.least_error, verdict.most_error}) {
            if (error == 0)
                continue; // none lies outside on that side
            widen(prediction.interval->step_time_s, *prediction.step_time_s * std::exp(error - taken));
            widen(prediction.interval->tps_per_gpu, *prediction.tps_per_gpu * std::exp(taken - error));
        }
    }
    if (prediction.interval && prediction.own_shift)
        keep_above_the_bound(prediction);
    if (verdict.wrong) {
        const double measured = verdict.wrong->tps_per_gpu;
        const Layout& layout = verdict.wrong->plan.layout;
        prediction.warnings.push_back(text_of("your own run of TP %d, CP %d, PP %d, DP %d reached %.4g tokens/s per "
                                              "GPU, the model says %.4g: the range is "
                                              "wider, and \"fourfold calibrate\" fits the constants to it",
            layout.tp, layout.cp, layout.pp, layout.dp, measured, measured * std::exp(verdict.error)));
    }
    if (prediction.own_shift)
        prediction.warnings.push_back(shift_text(verdict, *prediction.own_shift));
}

JobEvidence::JobEvidence(ResolvedPlan plan)
    : job_(std::move(plan))
{
}

void JobEvidence::gather()
{
    gathered_ = true;
    own_ = own_runs(&HistoryEvidence::of_job, job_);
    for (const MeasuredLayout& measured : shipped_layouts()) {
        if (is_same_job(measured, job_))
            shipped_.push_back(&measured);
    }
    own_said_.resize(own_.size());
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
    bool own_right = false;
    for (const std::size_t i : near(plan)) {
        const Said& said = ask(i, plan);
        if (!said.error)
            continue; // says nothing
        if (std::abs(*said.error) > said.half_width)
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

namespace {
// Neighbours differ by a factor of two in a degree at most: most layouts of a search are told from a run by that alone.
bool may_be_near(const MeasuredLayout& measured, const ResolvedPlan& plan)
{
    const auto near = [](int a, int b) { return a <= 2 * b && b <= 2 * a; };
    const Layout& layout = plan.layout;
    return near(measured.tp, layout.tp) && near(measured.cp, layout.cp) && near(measured.pp, layout.pp)
        && near(measured.dp, layout.dp) && near(measured.micro_batch, plan.training.micro_batch);
}
} // namespace

std::vector<std::size_t> JobEvidence::near(const ResolvedPlan& plan) const
{
    std::vector<std::size_t> runs;
    for (std::size_t i = 0; i < own_.size() && runs.size() < kAskedRuns; ++i)
        if (may_be_near(own_[i]->layout, plan) && is_near(own_[i]->layout, plan))
            runs.push_back(i);
    return runs;
}

const JobEvidence::Said& JobEvidence::ask(std::size_t run, const ResolvedPlan& plan)
{
    std::optional<Said>& said = own_said_[run];
    if (!said)
        said = Said{own_[run]->error_as(plan), half_width_of(*own_[run], plan)};
    return *said;
}

double JobEvidence::stretch(const ResolvedPlan& plan, double step_time_s)
{
    if (!gathered_)
        gather();
    if (own_.empty())
        return 1;
    OwnVerdict verdict;
    for (const std::size_t i : near(plan)) {
        const Said& said = ask(i, plan);
        if (said.error)
            verdict.add(own_[i], *said.error, said.half_width);
    }
    const double factor = verdict.factor();
    if (factor >= 1 || !(step_time_s > 0))
        return std::max(factor, 1.0);
    return std::max(factor, predict(plan).least.step_s / step_time_s); // no faster than anything can be
}

void use_own_runs(SearchRequest& request)
{
    request.stretch = [job = request.plan]() -> StepStretch {
        return [evidence = std::make_shared<JobEvidence>(job)](
                   const ResolvedPlan& plan, double step_time_s) { return evidence->stretch(plan, step_time_s); };
    };
}

std::function<Prediction(const ResolvedPlan&)> predicting_beside_own_runs(const ResolvedPlan& plan)
{
    return [runs = own_runs(&HistoryEvidence::latest, plan)](const ResolvedPlan& of) {
        Prediction prediction = predict(of);
        weigh_own_runs(prediction, near_of(runs, of));
        return prediction;
    };
}

Prediction predict_with_evidence(const ResolvedPlan& plan)
{
    Prediction prediction = predict(plan);
    weigh_measurements(prediction, shipped_layouts());
    weigh_own_runs(prediction, own_runs(&HistoryEvidence::near, plan));
    if (auto missing = own_runs_missing())
        prediction.warnings.push_back(*std::move(missing));
    return prediction;
}

std::optional<std::string> own_runs_missing()
{
    const std::lock_guard lock(trouble_guard);
    if (!last_trouble)
        return std::nullopt;
    return "your own runs are not in this answer: " + last_trouble->line();
}

} // namespace fourfold
