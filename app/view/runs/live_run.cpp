// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/live_run.h"

#include "app/view/runs/run_setup.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/history/run_event.h"
#include "core/layout/batch_ramp.h"
#include "core/plan/plan.h"
#include "runner/protocol/straggler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fourfold::view {

namespace {
constexpr std::size_t kLately = 20; // steps that tell how long the rest takes
constexpr std::size_t kMostLines = 2000;

std::string against(std::optional<double> measured, std::optional<double> expected, const std::string& expected_text)
{
    if (!expected)
        return {};
    if (!measured || *measured <= 0)
        return "predicted " + expected_text;
    return signed_percent(*measured / *expected - 1) + " against the predicted " + expected_text;
}
} // namespace

void Series::append(double x, double y)
{
    const Point point{x, y};
    maximum_ = count_ == 0 ? y : std::max(maximum_, y);
    if (count_++ == 0)
        first_ = y;
    last_ = point;
    if (!buckets_.empty() && buckets_.back().values < values_per_bucket_) {
        Bucket& bucket = buckets_.back();
        bucket.low = y < bucket.low.second ? point : bucket.low;
        bucket.high = y > bucket.high.second ? point : bucket.high;
        ++bucket.values;
        return;
    }
    if (buckets_.size() * 2 >= std::max<std::size_t>(most_, 4)) {
        for (std::size_t i = 0; i + 1 < buckets_.size(); i += 2) {
            const Bucket &a = buckets_[i], &b = buckets_[i + 1];
            buckets_[i / 2] = {a.low.second <= b.low.second ? a.low : b.low,
                a.high.second >= b.high.second ? a.high : b.high, a.values + b.values};
        }
        const bool odd = buckets_.size() % 2 != 0;
        if (odd)
            buckets_[buckets_.size() / 2] = buckets_.back();
        buckets_.resize((buckets_.size() + 1) / 2);
        values_per_bucket_ *= 2;
        if (odd) {
            --count_; // it is told once more, into the half-full bucket
            append(x, y);
            return;
        }
    }
    buckets_.push_back({point, point, 1});
}

std::vector<Series::Point> Series::points() const
{
    std::vector<Point> points;
    for (const Bucket& bucket : buckets_) {
        const bool low_first = bucket.low.first <= bucket.high.first;
        points.push_back(low_first ? bucket.low : bucket.high);
        if (bucket.low != bucket.high)
            points.push_back(low_first ? bucket.high : bucket.low);
    }
    if (!points.empty() && points.back() != last_)
        points.push_back(last_);
    return points;
}

RunFailure failure_of(const Json& event)
{
    RunFailure failure;
    if (const std::optional<double> rank = number_at(event, "rank"); rank && std::abs(*rank) < 1e9)
        failure.rank = static_cast<int>(*rank);
    failure.host = string_at(event, "host");
    failure.message = string_at(event, "message");
    failure.collective = string_at(event, "last_collective");
    // The trainer says where it is, and the agent does for a rank that could not.
    for (const char* key : {"mesh", "coordinates"}) {
        if (failure.mesh.empty() && event.contains(key) && event[key].is_object())
            failure.mesh = describe(event[key]);
    }
    if (event.contains("log") && event["log"].is_array()) {
        for (const Json& line : event["log"])
            failure.log += (line.is_string() ? line.get<std::string>() : line.dump()) + '\n';
    } else {
        failure.log = string_at(event, "log");
    }
    return failure;
}

std::optional<RunFailure> failure_of(const RunDetail& run)
{
    for (const Json& event : run.other_events) {
        if (kind_of(event) == EventKind::error)
            return failure_of(event);
    }
    return {};
}

std::string failure_text(const RunFailure& failure)
{
    std::string text = failure.rank ? "Rank " + std::to_string(*failure.rank) + " failed first" : "A rank failed";
    if (!failure.host.empty())
        text += ", on " + failure.host;
    if (!failure.mesh.empty())
        text += "\nPlace in the mesh: " + failure.mesh;
    text += "\nWhat happened: " + failure.message
        + "\nLast collective: " + (failure.collective.empty() ? "none was told" : failure.collective);
    if (!failure.log.empty())
        text += "\n\n# The end of its output\n" + failure.log;
    return printable_lines(text);
}

Tone state_tone(RunState state)
{
    if (!is_terminal(state))
        return Tone::neutral;
    if (state == RunState::ok)
        return Tone::good;
    return state == RunState::cancelled || state == RunState::preempted ? Tone::warning : Tone::bad;
}

void LiveRun::begin(const std::string& title, int steps, const std::optional<Prediction>& expected)
{
    *this = LiveRun();
    has_run_ = true;
    title_ = title;
    total_steps_ = steps;
    state_ = RunState::preflight;
    state_text_ = "Starting";
    if (expected) {
        expected_tps_ = expected->tps_per_gpu;
        expected_step_s_ = expected->step_time_s;
        expected_gib_ = expected->memory_gib;
    }
}

void LiveRun::say(Tone tone, const std::string& kind, const std::string& text, const Json& event)
{
    const std::string time = string_at(event, "time");
    log_.push_back({time.size() >= 19 ? time.substr(11, 8) : "", kind, printable(text, 2000), tone});
    if (log_.size() > kMostLines)
        log_.pop_front();
}

void LiveRun::take(const RunMessage& message)
{
    struct Visitor {
        LiveRun& run;
        void operator()(const Json& event) const { run.take_event(event); }
        void operator()(const RunCreated& created) const { run.take_created(created); }
        void operator()(const RunStateChange& change) const
        {
            run.state_ = change.state;
            run.state_text_ = change.what;
            // A finding of the look at the nodes stands out as what it is.
            const bool warns = change.state == RunState::preflight && change.what.starts_with("warning: ");
            run.say(warns ? Tone::warning : state_tone(change.state), state_label(change.state), change.what);
        }
        void operator()(const RunStaging& staging) const
        {
            if (!run.log_.empty() && run.log_.back().kind == "Sending")
                run.log_.pop_back();
            run.say(Tone::neutral, "Sending", percent(staging.fraction, 0) + " % " + staging.what);
        }
        void operator()(const RunLink& link) const { run.take_link(link); }
        void operator()(const RunEnded& end) const { run.take_end(end); }
        void operator()(const HostKeyQuestion&) const { }
        void operator()(const SecretQuestion&) const { }
        void operator()(const NodesChecked&) const { }
    };
    std::visit(Visitor{*this}, message);
}

// What the runner stored is what the history compares with, so it wins over what was expected before.
void LiveRun::take_created(const RunCreated& created)
{
    id_ = created.id;
    folder_ = created.folder;
    say(Tone::neutral, "Created", "Run " + created.id + " in " + created.folder.string());
    const std::filesystem::path file = folder_ / "prediction.json";
    if (const Expected<Json> json = read_json_file(file)) {
        if (const Expected<Prediction> prediction = prediction_from_json(*json, file.string())) {
            expected_tps_ = prediction->tps_per_gpu;
            expected_step_s_ = prediction->step_time_s;
            expected_gib_ = prediction->memory_gib;
        }
    }
    if (total_steps_ > 0)
        return;
    // Of a run that is followed.
    const Expected<Json> json = read_json_file(folder_ / "plan.json");
    const auto plan = json ? read_resolved(*json, "plan.json") : Expected<ResolvedPlan>(json.error());
    if (plan) {
        title_ = plan->name;
        total_steps_ = total_steps(plan->training, plan->run);
    }
}

void LiveRun::take_link(const RunLink& link)
{
    switch (link.state) {
    case LinkState::connected:
        link_trouble_.clear();
        say(Tone::neutral, "Link", "Connected to " + link.host);
        return;
    case LinkState::silent:
        link_trouble_ = link.host + " is silent; the run goes on there";
        break;
    case LinkState::reconnecting:
        link_trouble_ = "Connecting to " + link.host + " again; nothing of the run is lost";
        break;
    }
    say(Tone::warning, "Link", link_trouble_);
}

void LiveRun::take_event(const Json& event)
{
    switch (kind_of(event)) {
    case EventKind::step:
        take_step(event);
        break;
    case EventKind::eval:
        if (const std::optional<double> loss = number_at(event, "loss"))
            say(Tone::neutral, "Evaluation", "Held-out loss " + grouped(*loss, 4), event);
        break;
    case EventKind::start:
        say(Tone::neutral, "Start", "The trainer is up", event);
        break;
    case EventKind::checkpoint:
        say(Tone::neutral, "Checkpoint", string_at(event, "path"), event);
        break;
    case EventKind::warning:
        say(Tone::warning, "Warning", string_at(event, "message"), event);
        break;
    case EventKind::trace:
        say(Tone::neutral, "Trace", "Measured spans of a step", event);
        break;
    case EventKind::error: {
        const RunFailure failure = failure_of(event);
        const std::string who = failure.rank ? "Rank " + std::to_string(*failure.rank) : "A rank";
        say(Tone::bad, "Error", who + (failure.host.empty() ? "" : " on " + failure.host) + ": " + failure.message,
            event);
        if (!failure_)
            failure_ = failure; // the first one is the cause, the others follow from it
        break;
    }
    default:
        break;
    }
}

void LiveRun::take_step(const Json& event)
{
    const std::optional<double> step = number_at(event, "step");
    if (!step || std::abs(*step) > 1e9)
        return;
    step_ = static_cast<int>(*step);
    const auto append = [&](Series& series, const char* key) {
        if (const std::optional<double> value = number_at(event, key))
            series.append(*step, *value);
    };
    append(throughput_, "tps_per_gpu");
    append(loss_, "loss");
    append(memory_, "memory_peak_gib");
    if (const std::optional<double> seconds = number_at(event, "step_time_s")) {
        step_s_ = seconds;
        lately_.push_back(*seconds);
        if (lately_.size() > kLately)
            lately_.pop_front();
    }
}

std::optional<double> LiveRun::seconds_left() const
{
    if (lately_.empty() || total_steps_ <= 0 || is_terminal(state_))
        return {};
    const double one = std::accumulate(lately_.begin(), lately_.end(), 0.0) / double(lately_.size());
    return one * std::max(0, total_steps_ - step_);
}

void LiveRun::take_end(const RunEnded& end)
{
    const RunState before = state_;
    std::string said;
    if (end.outcome) {
        state_ = end.outcome->state;
        measured_tps_ = end.outcome->measured_tps_per_gpu;
        said = end.outcome->problem ? end.outcome->problem->line() : "";
        if (said.empty() && measured_tps_)
            said = "after " + counted(step_, "step");
        if (!is_terminal(state_))
            said = "no longer followed; it goes on";
    } else {
        state_ = end.outcome.error().code == ProblemCode::cancelled ? RunState::cancelled : RunState::fail;
        said = end.outcome.error().line();
    }
    state_text_ = said;
    link_trouble_.clear();
    if (before != state_ || !said.empty())
        say(state_tone(state_), state_label(state_), said);
}

std::array<Figure, 5> LiveRun::figures() const
{
    constexpr std::size_t kShortId = 12; // as the command line takes it: any unique beginning
    Figure state;
    state.title = "State";
    state.value = has_run_ ? state_label(state_) : "Ready";
    state.basis = state_text_;
    state.confidence = id_.empty() ? "" : "run " + id_.substr(0, kShortId);
    state.tone = state_tone(state_);

    Figure speed = unknown_throughput();
    const std::optional<double> tps = measured_tps_ ? measured_tps_
        : throughput_.empty()                       ? std::nullopt
                                                    : std::optional(throughput_.last().second);
    if (tps)
        speed.value = throughput_text(*tps);
    speed.basis = against(tps, expected_tps_, expected_tps_ ? throughput_text(*expected_tps_) : "");
    speed.confidence = measured_tps_ ? "median after warm-up" : tps ? "last step" : "";

    Figure loss = unknown_figure("Loss");
    if (!loss_.empty()) {
        loss.value = grouped(loss_.last().second, 3);
        loss.basis = "from " + grouped(loss_.first(), 3) + " at the start";
    }

    Figure memory = unknown_figure("Peak memory", "GiB");
    const std::optional<double> gib_now = memory_.empty() ? std::nullopt : std::optional(memory_.maximum());
    if (gib_now)
        memory.value = gib(*gib_now);
    memory.basis = against(gib_now, expected_gib_, expected_gib_ ? gib(*expected_gib_) : "");

    Figure progress;
    progress.title = "Steps";
    progress.value = grouped(step_);
    if (total_steps_ > 0) {
        progress.unit = "of " + grouped(total_steps_);
        progress.fraction = std::clamp(double(step_) / total_steps_, 0.0, 1.0);
        progress.basis = step_s_ ? duration(*step_s_) + " per step"
            : expected_step_s_   ? "predicted " + duration(*expected_step_s_) + " per step"
                                 : "";
        if (const std::optional<double> left = seconds_left())
            progress.confidence = "about " + rough_duration(*left) + " left";
    }
    return {state, speed, loss, memory, progress};
}

} // namespace fourfold::view
