// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/supervision/rank_supervision.h"

#include "runner/agent/supervision/diagnosis.h"
#include "runner/agent/system/processes.h"
#include "runner/protocol/message.h"
#include "runner/protocol/straggler.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace fourfold {

namespace {

constexpr double kGatherSeconds = 0.04; // failures this close together are judged together
// For the node where the failure began to say so through the client, where this one's ranks only miss a rank, or heard.
constexpr double kLostSeconds = 3, kToldSeconds = 15;
constexpr double kGangGraceSeconds = 0.04; // the other ranks wait in a collective: asking long is of no use
constexpr double kUnkillableSeconds = 5; // processes in an uninterruptible wait are reported, not waited for
constexpr double kWatchSeconds = 0.5; // between looks at the ranks' progress
constexpr int kWaitMs = 50, kBusyWaitMs = 5;
constexpr double kSaveSilence = 10,
                 kSaveSteps = 3; // a save has ended or hangs when nothing moves for the longer of them
constexpr double kSavesAhead = 2; // one may have begun just before
constexpr uint64_t kMovement = 1u << 16; // bytes read or written in that time that count as a sign of life

std::string log_name(const RankPlace& place)
{
    return "rank" + std::to_string(place.rank) + ".log";
}

std::string seconds(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, value < 10 ? "%.1f s" : "%.0f s", value);
    return text;
}

// By a SIGTERM.
bool was_asked_to_end(int wait_status)
{
    return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) == SIGTERM : WEXITSTATUS(wait_status) == 128 + SIGTERM;
}

} // namespace

RankSupervision::RankSupervision(const RunFolder& folder, const RunSpec& spec, EventLog log, Environment environment)
    : folder_(folder)
    , spec_(spec)
    , log_(std::move(log))
    , environment_(std::move(environment))
    , merge_(spec_, folder.path(), log_)
    , watch_(spec.limits, monotonic_seconds())
    , door_(SupervisorDoor::open(folder.path()))
    , lease_(folder.file("lease"), spec.limits.lease_s)
    , causes_(folder.path())
    , end_(folder_, spec_, log_)
{
}

Expected<void> RankSupervision::start_ranks(const Rendezvous& rendezvous)
{
    for (const RankPlace& place : spec_.ranks) {
        // Made here, so that the first line is seen as soon as every later one.
        const auto events = folder_.file("rank" + std::to_string(place.rank) + ".jsonl");
        (void)open_file(events, O_WRONLY | O_CREAT);
        written_.add(events);
        std::error_code ignored;
        std::filesystem::remove(progress_file(folder_.path(), place.rank), ignored); // an earlier attempt's
        auto log = RankLog::open(folder_.file(log_name(place)));
        auto pid = log ? start_rank(spec_, place, folder_.path(), rendezvous, environment_, log->write_end())
                       : Expected<pid_t>(log.error());
        if (!pid) {
            end_.decide(RunState::fail, pid.error().line());
            end_.write();
            return std::move(pid).error();
        }
        log->started();
        logs_.emplace(place.rank, std::move(*log));
        running_[*pid] = place;
    }
    report("running");
    return {};
}

void RankSupervision::wait_for_work(int signal_fd)
{
    std::vector<pollfd> waiting{{signal_fd, POLLIN, 0}};
    // What came just now may go on: lines that follow each other are taken together.
    if (!written_.drain())
        waiting.push_back({written_.fd(), POLLIN, 0});
    const bool busy = waiting.size() == 1 || stopping_ || !failures_.empty();
    for (const auto& [rank, log] : logs_) {
        if (log.read_end() >= 0)
            waiting.push_back({log.read_end(), POLLIN, 0});
    }
    if (door_)
        door_->add_to(waiting);
    poll(waiting.data(), waiting.size(), busy ? kBusyWaitMs : kWaitMs);
    if (door_)
        door_->serve([this](const Json& request) { return answer(request); });
    signalfd_siginfo info{};
    while (read(signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGUSR1)
            (void)say_stalled();
        else if (info.ssi_signo != SIGCHLD)
            look_for_stop(true);
    }
}

void RankSupervision::run(int signal_fd)
{
    while (!finished()) {
        wait_for_work(signal_fd);
        reap();
        read_logs();
        if (!log_.failed())
            merge_.poll();
        look_for_stop(false);
        look_at_lease();
        if (log_.failed() && !stopping_)
            stop_for_full_disk();
        judge_failures();
        watch_progress();
        end_leftovers();
        const double now = monotonic_seconds();
        if (now - reported_ > 1)
            report(stopping_ ? "stopping" : "running");
    }
    finish();
}

bool RankSupervision::finished() const
{
    if (!running_.empty() && !gave_up_)
        return false;
    return gave_up_ || (stopping_ ? tree_empty_ : failures_.empty());
}

void RankSupervision::report(const std::string& state)
{
    reported_ = monotonic_seconds();
    const auto written = end_.write_status(state);
    // A full disk stops the run as soon as it has something to write; all else only who looks at the file.
    if (written || status_warned_ || log_.failed() || causes_.is_full())
        return;
    status_warned_ = true;
    log_.append(spec_.ranks.front().rank,
        WarningEvent{.kind = "folder",
            .host = spec_.host,
            .message = "the run's state cannot be written; the run goes on: " + written.error().line()});
}

void RankSupervision::reap()
{
    int wait_status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        const auto rank = running_.find(pid);
        if (rank == running_.end())
            continue; // an orphan of a rank, adopted as sub-reaper
        const bool good = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
        if (!good && !stopping_) {
            if (failures_.empty())
                first_failure_ = monotonic_seconds();
            failures_.push_back({rank->second, wait_status});
        }
        // Its agent ends no rank that saves: there may be no checkpoint of the last step.
        if (!good && save_until_ > 0 && killed_at_ == 0 && !was_asked_to_end(wait_status))
            log_.append(rank->second.rank,
                WarningEvent{.host = spec_.host,
                    .message = "rank " + std::to_string(rank->second.rank) + " ended ("
                        + (WIFSIGNALED(wait_status) ? "signal " + std::to_string(WTERMSIG(wait_status))
                                                    : "exit status " + std::to_string(WEXITSTATUS(wait_status)))
                        + ") while it was to save a checkpoint"});
        running_.erase(rank);
    }
}

void RankSupervision::read_logs()
{
    for (auto& [rank, log] : logs_) {
        log.poll();
        if (log.overflowed() && !log_warned_ && !log_.failed()) {
            log_warned_ = true;
            log_.append(rank,
                WarningEvent{.message = "rank " + std::to_string(rank)
                        + " prints so much that its log keeps only the first 16 MiB and the newest part"});
        }
    }
}

// A stop request is a file; the signal only makes it be seen at once.
void RankSupervision::look_for_stop(bool signalled)
{
    const double now = monotonic_seconds();
    if (stopping_ || (!signalled && now - looked_ < 0.25))
        return;
    looked_ = now;
    auto request = folder_.read_stop();
    // Slurm signals every process of the job; the one that srun started asks it why, and writes that down.
    for (int i = 0; i < 40 && signalled && !request && std::getenv("SLURM_JOB_ID"); ++i) {
        usleep(100000);
        request = folder_.read_stop();
    }
    if (!request && signalled)
        request = StopRequest{RunState::cancelled, "the agent was asked to end by a signal", nullptr, spec_.grace_s};
    if (request)
        take_stop(*request);
}

void RankSupervision::take_stop(const StopRequest& request)
{
    if (stopping_)
        return;
    end_.decide(request);
    begin_stop(request.grace_s);
    // Ranks of a run that goes wrong have nothing to save; those of one that is ended do.
    if (request.saves || request.status == RunState::cancelled || request.status == RunState::preempted)
        give_time_to_save();
}

// What a session asks at the door.
Json RankSupervision::answer(const Json& request)
{
    const std::string what = text_field(request, "do");
    if (what == "stop")
        take_stop(stop_request_from_json(request));
    else if (what == "diagnose" && !stopping_)
        (void)say_stalled();
    else if (what == "followed")
        lease_.renew();
    return {{"state", stopping_ ? "stopping" : "running"}, {"status", end_.status_text()}, {"why", end_.why()},
        {"rank", end_.culprit()}, {"events", log_.descriptor()}, {"to_save_s", time_to_save()},
        {"note", save_until_ > 0 ? "its ranks end their step and save a checkpoint" : ""}};
}

void RankSupervision::look_at_lease()
{
    if (stopping_ || !lease_.is_over())
        return;
    end_.decide(RunState::cancelled,
        "nobody has followed the run for " + seconds(spec_.limits.lease_s) + " (the target's timeouts.lease_s)");
    begin_stop(spec_.grace_s);
    give_time_to_save();
}

// Whether any rank has told something, begun or ended a collective, read or written since the last look.
bool RankSupervision::look_for_life()
{
    bool alive = merge_.events() != events_seen_;
    events_seen_ = merge_.events();
    for (const auto& [pid, place] : running_) {
        if (const auto progress = read_progress(folder_.path(), place.rank)) {
            const uint64_t state = progress->number * 2 + (progress->inside ? 1 : 0);
            alive = alive || state != collectives_[place.rank];
            collectives_[place.rank] = state;
        }
        const uint64_t moved = bytes_moved(pid);
        alive = alive || moved > bytes_moved_[pid] + kMovement;
        bytes_moved_[pid] = moved;
    }
    return alive;
}

void RankSupervision::watch_progress()
{
    const double now = monotonic_seconds();
    if (stopping_ || running_.empty() || now - watched_ < kWatchSeconds)
        return;
    watched_ = now;
    for (; steps_seen_ < merge_.steps(); ++steps_seen_)
        watch_.step(now);
    if (look_for_life())
        watch_.sign_of_life(now);
    // Steps are written by the first rank alone: only its node judges, the others report when they are asked.
    const bool judge
        = std::any_of(spec_.ranks.begin(), spec_.ranks.end(), [](const RankPlace& place) { return place.rank == 0; });
    const StallWatch::Finding finding = judge ? watch_.look(now) : StallWatch::Finding::none;
    if (finding == StallWatch::Finding::stalled)
        (void)say_stalled();
    else if (finding == StallWatch::Finding::recovered)
        log_.append(
            spec_.ranks.front().rank, WarningEvent{.kind = "recovered", .message = "the run goes on after a stall"});
    else if (finding == StallWatch::Finding::hung)
        end_as_hung();
}

// The finding as an event, with what every rank of this node is doing; returns the ranks.
Json RankSupervision::say_stalled()
{
    const double now = monotonic_seconds();
    Json ranks = diagnose(spec_, folder_.path(), running_);
    const std::string straggler = name_straggler(ranks);
    std::string message = "nothing moves for " + seconds(watch_.silence(now));
    if (watch_.median() > 0)
        message += " (a step takes " + seconds(watch_.median()) + ")";
    log_.append(spec_.ranks.front().rank,
        WarningEvent{.kind = "stalled",
            .host = spec_.host,
            .message = message + (straggler.empty() ? "" : "; " + straggler),
            .ranks = ranks});
    return ranks;
}

void RankSupervision::end_as_hung()
{
    const std::string silence = seconds(watch_.silence(monotonic_seconds()));
    const Json ranks = say_stalled();
    const std::string straggler = name_straggler(ranks);
    end_.decide_here(RunState::hang, "nothing moves for " + silence + (straggler.empty() ? "" : "; " + straggler));
    begin_stop(kGangGraceSeconds);
}

void RankSupervision::stop_for_full_disk()
{
    end_.decide_here(RunState::fail,
        "the events cannot be written on " + spec_.host + ": " + log_.failure() + "; make room in "
            + folder_.path().string());
    begin_stop(0);
}

void RankSupervision::judge_failures()
{
    if (stopping_ || failures_.empty())
        return;
    const double waited = monotonic_seconds() - first_failure_;
    if (!running_.empty() && waited < kGatherSeconds)
        return;
    // Slurm signals the ranks as well as their agents: then it is a stop, whoever was seen first.
    const auto asked = [](const RankExit& failure) { return was_asked_to_end(failure.wait_status); };
    if (std::getenv("SLURM_JOB_ID") && std::all_of(failures_.begin(), failures_.end(), asked)) {
        look_for_stop(true);
        return;
    }
    while (!log_.failed() && merge_.poll()) { }
    Culprit culprit = find_culprit(spec_.ranks, failures_, merge_, folder_.path());
    const bool elsewhere = spec_.ranks.size() < static_cast<std::size_t>(spec_.world_size) || !running_.empty();
    if (elsewhere
        && waited < (culprit.evidence == Evidence::told      ? kToldSeconds
                   : culprit.evidence == Evidence::lost_rank ? kLostSeconds
                                                             : 0))
        return;
    if (culprit.message.empty())
        read_logs();
    causes_.explain(culprit, folder_.file(log_name(culprit.place)));
    const std::string whose = culprit.evidence == Evidence::told ? "another rank failed: "
                                                                 : "rank " + std::to_string(culprit.place.rank) + " ("
            + describe(culprit.place.coordinates) + ") on " + spec_.host + ": ";
    end_.blame(culprit.place.rank, end_of_kind(culprit.kind), whose + culprit.message);
    if (!culprit.has_event)
        say(culprit);
    begin_stop(kGangGraceSeconds);
}

// The `error` event of a rank that cannot write it.
void RankSupervision::say(const Culprit& culprit)
{
    read_logs();
    // Its page of shared memory still tells.
    const auto progress = read_progress(folder_.path(), culprit.place.rank);
    ErrorEvent error{.kind = culprit.kind,
        .host = spec_.host,
        .message = culprit.message,
        .last_collective = progress && progress->number > 0 ? last_collective(*progress) : std::string(),
        .coordinates = culprit.place.coordinates,
        .log = last_log_lines(folder_.file(log_name(culprit.place)))};
    if (culprit.evidence == Evidence::lost_rank || culprit.evidence == Evidence::told)
        error.origin = culprit.evidence == Evidence::told ? "told" : "lost_rank";
    log_.append(culprit.place.rank, error);
}

void RankSupervision::begin_stop(double grace_s)
{
    stopping_ = true;
    tree_empty_ = false;
    kill_at_ = monotonic_seconds() + grace_s;
    for (const auto& [pid, place] : running_)
        kill(-pid, SIGTERM);
    report("stopping");
}

void RankSupervision::give_time_to_save()
{
    if (spec_.saves)
        save_until_ = kill_at_ + spec_.limits.save_s;
}

// What ranks that are asked to stop take to end their step and save, as far as the run has shown it yet.
double RankSupervision::time_to_save() const
{
    if (!spec_.saves)
        return 0;
    if (merge_.longest_save() <= 0)
        return spec_.limits.save_s;
    return std::min(spec_.limits.save_s, kSaveSteps * watch_.median() + kSavesAhead * merge_.longest_save());
}

// Ranks that were asked to stop end their step first and then save a checkpoint: that takes as long as it takes, as
// long as something of them moves.
bool RankSupervision::still_saves(double now)
{
    if (now > save_until_)
        return false;
    if (now - watched_ >= kWatchSeconds) {
        watched_ = now;
        if (look_for_life())
            watch_.sign_of_life(now);
    }
    return watch_.silence(now) < std::max(kSaveSilence, kSaveSteps * watch_.median());
}

// Everything below this process is of the run: ranks, their helpers, and whatever they left behind as daemons.
void RankSupervision::end_leftovers()
{
    if (!stopping_ && running_.empty() && failures_.empty() && !descendants(getpid()).empty()) {
        end_.decide(RunState::ok);
        stopping_ = true; // every rank is done; what remains are leftovers
        tree_empty_ = false;
        kill_at_ = monotonic_seconds();
    }
    if (!stopping_)
        return;
    const auto left = descendants(getpid());
    tree_empty_ = left.empty();
    const double now = monotonic_seconds();
    if (left.empty() || ((now < kill_at_ || still_saves(now)) && !running_.empty()))
        return;
    // Whoever stopped the run was told that it saves.
    if (killed_at_ == 0 && save_until_ > 0 && !running_.empty())
        log_.append(spec_.ranks.front().rank,
            WarningEvent{.host = spec_.host,
                .message = "the ranks were ended before they had saved a checkpoint: there is none of the last steps ("
                    + (now > save_until_ ? "the target's timeouts.save_s is " + seconds(spec_.limits.save_s)
                                         : "nothing of them moved for " + seconds(watch_.silence(now)))
                    + ")"});
    for (const pid_t pid : left)
        kill(pid, SIGKILL); // children of this process: their numbers cannot be reused before we reap them
    if (killed_at_ == 0)
        killed_at_ = now; // ranks that save get more time than their grace: not to be counted from there
    if (now > killed_at_ + kUnkillableSeconds) {
        gave_up_ = true;
        end_.add(processes_text(int(left.size())) + " cannot be killed (waiting in the kernel), first pid "
            + std::to_string(left.front()));
    }
}

void RankSupervision::finish()
{
    sweep(spec_.run, spec_.node);
    for (auto& [rank, log] : logs_)
        log.close();
    if (log_.failed()) {
        // The ranks are gone: what the reserve gives back is ours.
        std::error_code ignored;
        std::filesystem::remove(folder_.file("reserve"), ignored);
        for (int attempt = 0; attempt < 20 && !log_.flush(); ++attempt)
            usleep(100000);
        merge_.poll(kReserveBytes / 4);
    } else {
        while (merge_.poll()) { }
    }
    const std::string status = end_.status_text();
    if (spec_.ranks.front().rank == 0 && merge_.events() == 0 && !log_.failed()
        && (status.empty() || run_state(status) == RunState::ok))
        end_.decide_here(RunState::fail,
            "rank 0 ended without an error before it wrote any event: what was started in the trainer's place (the "
            "target's container or prelude) did not start the trainer");
    for (const RankPlace& place : spec_.ranks) {
        const auto failure = failure_of(place.rank, merge_, folder_.path());
        if (failure && failure->origin == FailureOrigin::own && place.rank != end_.culprit()
            && !merge_.error_of(place.rank))
            say({place, Evidence::own, failure->kind, failure->message});
    }
    end_.write();
    std::error_code ignored;
    std::filesystem::remove(folder_.file("reserve"), ignored);
}

} // namespace fourfold
