// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/runs/live_run.h"

#include "app/view/runs/event_fields.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/history/event_types.h"
#include "core/layout/batch_ramp.h"
#include "core/plan/plan.h"
#include "core/schedule/chrome_trace.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

namespace fourfold::view {

namespace {
constexpr std::size_t kLately = 20; // steps that tell how long the rest takes
constexpr std::size_t kMostLines = 2000, kMostAlerts = 500;
constexpr double kSecondsPerHour = 3600;

// "12:34:56" of an event or, where it has no time, of now.
std::string clock_of(const Json& event)
{
    constexpr const char* kFormat = "%H:%M:%S";
    if (const std::optional<std::string> time = local_time(string_at(event, "time"), kFormat))
        return *time;
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    char text[16];
    localtime_r(&now, &local);
    return {text, std::strftime(text, sizeof text, kFormat, &local)};
}

std::string against(
    std::optional<double> measured, std::optional<double> predicted, std::string (*format)(double value))
{
    if (!predicted)
        return {};
    if (!measured || *measured <= 0)
        return "predicted " + format(*predicted);
    return signed_percent(*measured / *predicted - 1) + " vs. predicted " + format(*predicted);
}

void append(Series& series, double step, const Json& event, const char* key, double scale = 1)
{
    if (const std::optional<double> value = number_at(event, key))
        series.append(step, *value * scale);
}
} // namespace

Tone state_tone(RunState state)
{
    if (!is_terminal(state))
        return Tone::neutral;
    if (state == RunState::ok)
        return Tone::good;
    return state == RunState::cancelled || state == RunState::preempted ? Tone::warning : Tone::bad;
}

void LiveRun::begin(const std::string& title, int steps, const RunExpectation& expectation)
{
    LiveRun next;
    next.has_run_ = true;
    next.title_ = title;
    next.total_steps_ = steps;
    next.state_ = RunState::preflight;
    next.state_text_ = "Starting";
    next.expectation_ = expectation;
    next.log_count_ = log_count_;
    *this = std::move(next);
}

void LiveRun::say(Tone tone, const std::string& kind, const std::string& text, const Json& event)
{
    ++log_count_;
    log_.push_back({clock_of(event), kind, printable(text, 2000), tone});
    if (log_.size() > kMostLines)
        log_.pop_front();
}

void LiveRun::say_on(Tone tone, const std::string& kind, const std::string& text)
{
    if (log_.empty() || log_.back().kind != kind) {
        say(tone, kind, text);
        return;
    }
    log_.back().tone = tone;
    log_.back().text = printable(text, 2000);
}

void LiveRun::take(const RunMessage& message)
{
    struct Visitor {
        LiveRun& run;
        void operator()(const Json& event) const { run.take(event); }
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
            run.say_on(Tone::neutral, "Sending", percent(staging.fraction, 0) + " % " + staging.what);
        }
        void operator()(const RunLink& link) const { run.take_link(link); }
        void operator()(const RunEnded& end) const { run.take_end(end); }
        void operator()(const HostKeyQuestion&) const { }
        void operator()(const SecretQuestion&) const { }
        void operator()(const RightAnswer&) const { }
        void operator()(const NodesChecked&) const { }
        void operator()(const ClusterFound&) const { }
        void operator()(const MachineMeasured&) const { }
        void operator()(const SweepMoved&) const { }
        void operator()(const SweepEnded&) const { }
    };
    std::visit(Visitor{*this}, message);
}

// What the runner stored is what the history compares with, so it wins over what was expected before.
void LiveRun::take_created(const RunCreated& created)
{
    if (!id_.empty())
        begin(std::string(title_), total_steps_, RunExpectation(expectation_));
    id_ = created.id;
    folder_ = created.folder;
    say(Tone::neutral, created.is_followed ? "Followed" : "Created",
        "Run " + created.id + " in " + created.folder.string());
    const std::filesystem::path file = folder_ / "prediction.json";
    if (const Expected<Json> json = read_json_file(file)) {
        if (const Expected<Prediction> prediction = prediction_from_json(*json, file.string()))
            expectation_ = expectation_of(*prediction);
    }
    if (total_steps_ > 0)
        return;
    const Expected<Json> json = read_json_file(folder_ / "plan.json");
    const auto plan = json ? read_resolved(*json, "plan.json") : Expected<ResolvedPlan>(json.error());
    if (plan) {
        title_ = plan->name;
        total_steps_ = fourfold::total_steps(plan->training, plan->run);
    }
}

void LiveRun::take_link(const RunLink& link)
{
    if (link.state == LinkState::connected) {
        link_trouble_.clear();
        say(Tone::neutral, "Link", "Connected to " + link.host);
        return;
    }
    if (link_trouble_.empty())
        down_since_ = clock_of({});
    const bool silent = link.state == LinkState::silent;
    link_trouble_ = silent
        ? "Nothing was heard from " + link.host + " since " + down_since_ + ". The run goes on there."
        : "The line to " + link.host + " is down since " + down_since_
            + ". The run goes on there; Fourfold connects again and catches up, nothing is lost.";
    say(Tone::warning, "Link",
        silent ? link.host + " is silent; the run goes on there"
               : "Connecting to " + link.host + " again; nothing of the run is lost");
}

void LiveRun::take(const Json& event)
{
    switch (kind_of(event)) {
    case EventKind::step: // there may be thousands a second
        take_step(event);
        break;
    case EventKind::eval:
        if (const EvalEvent held = read_event<EvalEvent>(event); held.loss) {
            eval_loss_.append(double(held.step.value_or(step_)), *held.loss);
            say(Tone::neutral, "Evaluation", "Held-out loss " + grouped(*held.loss, 4), event);
        }
        break;
    case EventKind::start:
        take_start(event);
        break;
    case EventKind::checkpoint:
        say(Tone::neutral, "Checkpoint", read_event<CheckpointEvent>(event).path, event);
        break;
    case EventKind::warning:
        take_warning(event);
        break;
    case EventKind::trace:
        take_trace(event);
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

void LiveRun::take_warning(const Json& event)
{
    say(Tone::warning, "Warning", string_at(event, "message"), event);
    std::optional<RunAlert> alert = alert_of(event);
    if (!alert)
        return;
    ++alert_count_;
    alerts_.push_back(*std::move(alert));
    if (alerts_.size() > kMostAlerts)
        alerts_.pop_front();
}

void LiveRun::take_start(const Json& event)
{
    if (event.contains("hosts") && event["hosts"].is_array()) {
        for (const Json& host : event["hosts"]) {
            if (const std::optional<int> rank = whole_at(host, "rank"))
                hosts_[*rank] = string_at(host, "host");
        }
    }
    say(Tone::neutral, "Start", "The trainer is up", event);
}

void LiveRun::take_trace(const Json& event)
{
    Expected<Timeline> timeline = timeline_from_chrome_trace(event, "trace event");
    if (!timeline) {
        say(Tone::warning, "Trace", timeline.error().line(), event);
        return;
    }
    trace_ = *std::move(timeline);
    trace_step_ = whole_at(event, "step").value_or(step_);
    say(Tone::neutral, "Trace", "Measured spans of step " + std::to_string(trace_step_), event);
}

void LiveRun::take_step(const Json& event)
{
    const std::optional<int> step = whole_at(event, "step");
    if (!step)
        return;
    // It runs: what was said of its start, of catching up with it or of a stall is over; a warning stays.
    if (state_ != RunState::draft && state_ <= RunState::running && !state_text_.starts_with("warning: ")) {
        state_ = RunState::running;
        state_text_.clear();
    }
    step_ = *step;
    append(throughput_, *step, event, "tps_per_gpu");
    append(loss_, *step, event, "loss");
    append(memory_, *step, event, "memory_peak_gib");
    append(mfu_, *step, event, "mfu", 100);
    if (const std::optional<double> seconds = number_at(event, "step_time_s")) {
        step_s_ = seconds;
        lately_.push_back(*seconds);
        if (lately_.size() > kLately)
            lately_.pop_front();
    }
    take_ranks(event, *step);
    take_experts(event, *step);
}

void LiveRun::take_experts(const Json& event, double step)
{
    const auto experts = event.find("experts");
    if (experts == event.end() || !experts->is_object() || !number_at(*experts, "busiest"))
        return;
    append(busiest_, step, *experts, "busiest");
    experts_text_.clear();
    if (const std::optional<int> layer = whole_at(*experts, "layer"))
        experts_text_ = "in layer " + std::to_string(*layer);
    if (const std::optional<int> idle = whole_at(*experts, "idle"); idle && *idle > 0)
        experts_text_ += (experts_text_.empty() ? "" : "; ") + counted(*idle, "expert") + " without a token";
    if (const std::optional<double> dropped = number_at(*experts, "dropped"))
        experts_text_ += (experts_text_.empty() ? "" : "; ") + percent(*dropped, 1) + " % of choices dropped";
}

void LiveRun::take_ranks(const Json& event, double step)
{
    const auto ranks = event.find("ranks");
    if (ranks == event.end() || !ranks->is_object())
        return;
    const auto take = [&](const char* key, RankSpread& spread, auto convert) {
        const auto at = ranks->find(key);
        if (at == ranks->end() || !at->is_object())
            return;
        const std::optional<double> low = number_at(*at, "min"), middle = number_at(*at, "median"),
                                    high = number_at(*at, "max");
        if (!low || !middle || !high)
            return;
        spread.least.append(step, std::min(convert(*low), convert(*high)));
        spread.median.append(step, convert(*middle));
        spread.greatest.append(step, std::max(convert(*low), convert(*high)));
        spread.worst_rank = whole_at(*at, "worst_rank").value_or(-1);
    };
    take("memory_peak_gib", rank_memory_, [](double value) { return value; });
    // The job's throughput stands for the job's step time; a rank's follows from its own.
    const std::optional<double> tps = number_at(event, "tps_per_gpu"), seconds = number_at(event, "step_time_s");
    const auto at_own_pace = [&](RankSpread& spread, double whole) {
        take("step_time_s", spread, [&](double own) { return own > 0 ? whole * *seconds / own : whole; });
    };
    if (tps && seconds)
        at_own_pace(rank_throughput_, *tps);
    if (const std::optional<double> mfu = number_at(event, "mfu"); mfu && seconds)
        at_own_pace(rank_mfu_, *mfu * 100);
}

std::string LiveRun::rank_name(int rank) const
{
    if (rank < 0)
        return {};
    const auto host = hosts_.find(rank);
    const std::string name = "rank " + std::to_string(rank);
    return host == hosts_.end() || host->second.empty() ? name : name + " on " + host->second;
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
        state_text_ = said;
    } else {
        state_ = end.outcome.error().code == ProblemCode::cancelled ? RunState::cancelled : RunState::fail;
        state_text_ = end.outcome.error().message;
        said = end.outcome.error().line();
    }
    link_trouble_.clear();
    if (before != state_)
        say(state_tone(state_), state_label(state_), said);
    else if (!said.empty()) // said already, with less
        say_on(state_tone(state_), state_label(state_), said);
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
    speed.basis = against(tps, expectation_.tps_per_gpu, throughput_text);
    speed.confidence = measured_tps_ ? "median after warm-up" : tps ? "last step" : "";

    Figure loss = unknown_figure("Loss");
    if (!loss_.empty()) {
        loss.value = grouped(loss_.last().second, 3);
        loss.basis = "from " + grouped(loss_.first(), 3) + " at the start";
    }
    if (!eval_loss_.empty())
        loss.confidence = "held-out " + grouped(eval_loss_.last().second, 3);

    Figure memory = unknown_figure("Peak memory", "GiB");
    const std::optional<double> peak = memory_.empty() ? std::nullopt : std::optional(memory_.maximum());
    if (peak) {
        memory.value = gib(*peak);
        const std::string worst = rank_name(rank_memory_.worst_rank);
        memory.confidence = worst.empty() ? "largest over ranks" : "most on " + worst;
    }
    memory.basis = against(peak, expectation_.memory_gib, gib);

    Figure progress;
    progress.title = "Steps";
    progress.value = grouped(step_);
    if (total_steps_ > 0) {
        progress.unit = "of " + grouped(total_steps_);
        progress.fraction = std::clamp(double(step_) / total_steps_, 0.0, 1.0);
        progress.basis = step_s_       ? duration(*step_s_) + " per step"
            : expectation_.step_time_s ? "predicted " + duration(*expectation_.step_time_s) + " per step"
                                       : "";
        if (const std::optional<double> left = seconds_left()) {
            progress.confidence = "about " + rough_duration(*left) + " left";
            const double gpu_hours = *left * expectation_.gpus / kSecondsPerHour;
            if (expectation_.gpus > 1 && gpu_hours >= 0.1) // what it still costs, whatever an hour does
                progress.confidence += ", " + significant(gpu_hours) + " GPU-hours";
        }
    }
    return {state, speed, loss, memory, progress};
}

} // namespace fourfold::view
