// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/curves/run_curves.h"

#include "app/view/compare/comparison_bars.h"
#include "app/view/history/run_facts.h"
#include "app/view/text.h"
#include "core/layout/batch_ramp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace fourfold::view {

namespace {
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr double kPerCent = 100; // the charts show MFU in per cent

std::array<std::optional<double>, kCurveMetrics> in_charts(const StepValues& step)
{
    return {step.loss, step.tps_per_gpu, step.step_time_s, step.grad_norm,
        step.mfu ? std::optional(*step.mfu * kPerCent) : std::nullopt};
}

// Repeats differ in their seeds and, often, their names.
std::string plan_of_repeats(Json plan)
{
    if (!plan.is_object())
        return {};
    plan.erase("name");
    if (const auto run = plan.find("run"); run != plan.end() && run->is_object())
        run->erase("seed");
    return plan.dump();
}

CurveRange no_range()
{
    return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
}

void take_all(CurveRange& range, const std::vector<CurvePoint>& points, const CurveRange& x)
{
    for (const auto& [at, value] : points) {
        if (x.holds(at)) // the neighbours outside do not make the picture higher
            range.take(value);
    }
}
} // namespace

const char* title_of(CurveMetric metric)
{
    static constexpr std::array<const char*, kCurveMetrics> kTitles{
        "Loss", "Throughput", "Step time", "Gradient norm", "MFU"};
    return kTitles[static_cast<std::size_t>(metric)];
}

const char* unit_of(CurveMetric metric)
{
    static constexpr std::array<const char*, kCurveMetrics> kUnits{
        "cross-entropy", "tokens/s per GPU", "s", "before clipping", "% of the dense peak"};
    return kUnits[static_cast<std::size_t>(metric)];
}

const char* title_of(CurveAxis axis)
{
    return axis == CurveAxis::step ? "Step" : axis == CurveAxis::tokens ? "Tokens" : "Time";
}

std::string axis_text(CurveAxis axis, double value)
{
    return axis == CurveAxis::step  ? grouped(value)
        : axis == CurveAxis::tokens ? compact(value)
                                    : rough_duration(value);
}

void CurveRun::append(int number, double at_s, const StepValues& values_now)
{
    if (!step.empty() && number <= step.back())
        return;
    const StepBatch batch = step_batch(training, std::max(0, number - 1));
    step.push_back(number);
    tokens.push_back((batch.first + batch.size) * training.seq_len);
    seconds.push_back(seconds.empty() ? at_s : std::max(at_s, seconds.back()));
    const auto told = in_charts(values_now);
    for (std::size_t i = 0; i < kCurveMetrics; ++i)
        values[i].push_back(told[i] ? static_cast<float>(*told[i]) : kMissing);
}

CurveRun curve_run(const RunDetail& run)
{
    CurveRun out;
    out.id = run.summary.id;
    out.name = run.summary.name;
    out.tags = run.summary.tags;
    out.plan = plan_of_repeats(run.plan);
    if (const Expected<ResolvedPlan> plan = read_resolved(run.plan, "plan of run " + out.id))
        out.training = plan->training;
    const auto forecast = [&out](CurveMetric metric) -> std::optional<CurveForecast>& {
        return out.forecasts[static_cast<std::size_t>(metric)];
    };
    if (const Expected<Prediction> predicted = prediction_from_json(run.prediction, "prediction of run " + out.id)) {
        const auto& interval = predicted->interval;
        if (predicted->tps_per_gpu) {
            forecast(CurveMetric::throughput) = CurveForecast{*predicted->tps_per_gpu,
                interval ? std::optional(CurveRange{interval->tps_per_gpu.low, interval->tps_per_gpu.high})
                         : std::nullopt};
        }
        if (predicted->step_time_s) {
            forecast(CurveMetric::step_time) = CurveForecast{*predicted->step_time_s,
                interval ? std::optional(CurveRange{interval->step_time_s.low, interval->step_time_s.high})
                         : std::nullopt};
        }
        if (predicted->mfu) {
            CurveForecast& mfu = forecast(CurveMetric::mfu).emplace(*predicted->mfu * kPerCent);
            const auto low = interval ? mfu_at(*predicted, interval->tps_per_gpu.low) : std::nullopt,
                       high = interval ? mfu_at(*predicted, interval->tps_per_gpu.high) : std::nullopt;
            if (low && high)
                mfu.interval = CurveRange{*low * kPerCent, *high * kPerCent};
        }
    }
    for (std::vector<double>* column : {&out.step, &out.tokens, &out.seconds})
        column->reserve(run.steps.size());
    for (std::vector<float>& column : out.values)
        column.reserve(run.steps.size());
    for (const StepRow& step : run.steps)
        out.append(step.step, step.time_s, step);
    return out;
}

void RunCurves::keep(const std::vector<std::string>& ids)
{
    std::erase_if(runs_, [&ids](const Held& held) { return std::ranges::find(ids, held.run.id) == ids.end(); });
}

std::optional<std::size_t> RunCurves::steps_of(const std::string& id) const
{
    const Held* held = find(runs_, id);
    return held ? std::optional(held->run.step.size()) : std::nullopt;
}

void RunCurves::add(CurveRun run)
{
    if (Held* held = find(runs_, run.id)) {
        *held = {std::move(run), held->colour, {}};
        return;
    }
    std::size_t colour = 0; // the first that nobody has
    while (std::ranges::any_of(runs_, [colour](const Held& held) { return held.colour == colour; }))
        ++colour;
    runs_.push_back({std::move(run), colour, {}});
}

bool RunCurves::append(const std::string& id, const Json& event)
{
    Held* held = find(runs_, id);
    const std::optional<double> number = number_at(event, "step");
    if (!held || kind_of(event) != EventKind::step || !number || !(std::abs(*number) < 2e9))
        return false;
    CurveRun& run = held->run;
    const std::size_t before = run.step.size();
    const StepValues step = step_values(event);
    // Events carry a wall clock; what the steps took is as good and needs no parsing of thousands per second.
    run.append(static_cast<int>(*number), before == 0 ? 0 : run.seconds.back() + step.step_time_s.value_or(0), step);
    return run.step.size() > before;
}

void RunCurves::set_axis(CurveAxis axis)
{
    if (axis_ != axis)
        range_.reset(); // of another unit
    axis_ = axis;
}

void RunCurves::set_groups(CurveGroups groups)
{
    groups_ = groups;
}

void RunCurves::set_smoothing(double weight)
{
    weight = std::clamp(weight, 0.0, Smoother::kMost);
    if (weight == smoothing_)
        return;
    smoothing_ = weight;
    for (Held& held : runs_)
        held.smoothed = {};
}

void RunCurves::set_range(const std::optional<CurveRange>& range)
{
    range_ = range && range->length() > 0 ? range : std::nullopt;
}

void RunCurves::set_shown(const std::string& key, bool shown)
{
    if (shown)
        hidden_.erase(key);
    else
        hidden_.insert(key);
}

const std::vector<double>& RunCurves::places(const CurveRun& run) const
{
    return axis_ == CurveAxis::step ? run.step : axis_ == CurveAxis::tokens ? run.tokens : run.seconds;
}

const std::vector<float>& RunCurves::values(const Held& held, CurveMetric metric) const
{
    const auto index = static_cast<std::size_t>(metric);
    const std::vector<float>& raw = held.run.values[index];
    if (smoothing_ == 0 || held.run.expected)
        return raw;
    Held::Smoothed& smoothed = held.smoothed[index];
    if (smoothed.values.empty())
        smoothed.smoother = Smoother(smoothing_);
    smoothed.values.reserve(raw.size());
    for (std::size_t i = smoothed.values.size(); i < raw.size(); ++i)
        smoothed.values.push_back(smoothed.smoother.take(raw[i]));
    return smoothed.values;
}

std::vector<RunCurves::Group> RunCurves::grouped_runs() const
{
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;
    const auto put = [&](const std::string& key, const std::string& name, const Held& held) {
        const auto [place, is_new] = places.try_emplace(key, groups.size());
        if (is_new)
            groups.push_back({{key, name, held.colour, 0, !hidden_.contains(key)}, {}});
        groups[place->second].runs.push_back(&held);
        ++groups[place->second].entry.runs;
    };
    for (const Held& held : runs_) {
        if (groups_ == CurveGroups::plan && !held.run.plan.empty())
            put(held.run.plan, held.run.name, held);
        else if (groups_ == CurveGroups::tag && !held.run.tags.empty())
            for (const std::string& tag : held.run.tags)
                put("tag " + tag, tag, held);
        else
            put(held.run.id, held.run.name, held);
    }
    std::map<std::string, int> names;
    for (const Group& group : groups)
        ++names[group.entry.name];
    for (Group& group : groups) {
        if (names[group.entry.name] > 1)
            group.entry.name = told_apart(group.entry.name, group.runs.front()->run.id);
    }
    return groups;
}

std::vector<RunCurves::Entry> RunCurves::entries() const
{
    std::vector<Entry> entries;
    for (Group& group : grouped_runs())
        entries.push_back(std::move(group.entry));
    return entries;
}

// The mean of the runs in the middle of each column, with the least and the most of them.
void RunCurves::add_band(
    CurveLine& line, const Group& group, CurveMetric metric, const CurveRange& range, int pixels) const
{
    std::vector<std::vector<double>> means;
    means.reserve(group.runs.size());
    for (const Held* held : group.runs)
        means.push_back(column_means(places(held->run), values(*held, metric), range, pixels));
    for (int column = 0; column < pixels; ++column) {
        CurveRange here = no_range();
        double sum = 0;
        int runs = 0;
        for (const std::vector<double>& of_run : means) {
            const double value = of_run[static_cast<std::size_t>(column)];
            if (std::isnan(value))
                continue;
            here.take(value);
            sum += value;
            ++runs;
        }
        if (runs == 0)
            continue;
        const double x = range.low + (column + 0.5) * range.length() / pixels;
        line.points.emplace_back(x, sum / runs);
        line.low.emplace_back(x, here.low);
        line.high.emplace_back(x, here.high);
    }
}

CurveRange RunCurves::range_of(const std::vector<Group>& groups) const
{
    CurveRange range = no_range();
    for (const Group& group : groups) {
        for (const Held* held : group.runs) {
            const std::vector<double>& x = places(held->run);
            if (x.empty())
                continue;
            range.take(x.front());
            range.take(x.back());
        }
    }
    return range;
}

std::optional<CurveRange> RunCurves::whole() const
{
    std::vector<Group> groups = grouped_runs();
    std::erase_if(groups, [](const Group& group) { return !group.entry.shown; });
    const CurveRange range = range_of(groups);
    return range.length() > 0 ? std::optional(range) : std::nullopt;
}

CurvePicture RunCurves::picture(CurveMetric metric, int pixels) const
{
    const auto index = static_cast<std::size_t>(metric);
    CurvePicture picture{{}, no_range(), no_range(), {}};
    std::vector<Group> groups = grouped_runs();
    std::erase_if(groups, [](const Group& group) { return !group.entry.shown; });
    bool same = true; // of the forecasts
    const Held* first = nullptr;
    for (const Group& group : groups) {
        for (const Held* held : group.runs) {
            if (places(held->run).empty())
                continue;
            if (held->run.expected && first)
                continue; // of its figures nothing is predicted
            first = !first || first->run.expected ? held : first;
            same = same && held->run.forecasts[index] == first->run.forecasts[index];
        }
    }
    if (!first || pixels < 1)
        return {};
    picture.x = range_ ? *range_ : range_of(groups);
    if (same)
        picture.forecast = first->run.forecasts[index];
    for (const Group& group : groups) {
        CurveLine line{group.entry.key, group.entry.name, group.entry.colour, group.runs.size(), {}, {}, {}, {}};
        if (group.runs.size() > 1) {
            add_band(line, group, metric, picture.x, pixels);
        } else {
            const Held& held = *group.runs.front();
            line.points = drawn_points(places(held.run), values(held, metric), picture.x, pixels);
            if (smoothing_ > 0 && !held.run.expected)
                line.raw = drawn_points(places(held.run), held.run.values[index], picture.x, pixels);
        }
        if (line.points.empty())
            continue;
        for (const std::vector<CurvePoint>* points : {&line.points, &line.raw, &line.low, &line.high})
            take_all(picture.y, *points, picture.x);
        picture.lines.push_back(std::move(line));
    }
    return picture;
}

} // namespace fourfold::view
