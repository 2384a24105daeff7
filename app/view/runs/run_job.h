// SPDX-License-Identifier: GPL-3.0-or-later
// One run, look at nodes, measurement or measured sweep at a time on its own thread: the work there, what it says taken
// by the owner, in order.
#pragma once

#include "app/view/cluster/measure_machine.h"
#include "runner/preflight/found_cluster.h"
#include "runner/runs/run.h"
#include "runner/sweep/measured_sweep.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace fourfold::view {

struct RunCreated {
    std::string id;
    std::filesystem::path folder;
    bool is_followed = false; // it began before
};
struct RunStateChange {
    RunState state;
    std::string what;
};
struct RunStaging {
    double fraction;
    std::string what;
};
struct RunLink {
    LinkState state;
    std::string host;
};
// What was answered to a SecretQuestion was right.
struct RightAnswer { };
// The last message of a run; a Problem kept it from starting.
struct RunEnded {
    Expected<RunResult> outcome;
};
// The last message of a look behind a name.
struct ClusterFound {
    Expected<FoundCluster> outcome;
};
// The last message of a measurement.
struct MachineMeasured {
    Expected<SavedMachine> outcome;
};
// The last message of a look at the nodes.
struct NodesChecked {
    Expected<ProbeReport> report;
};
// A cell of a sweep is known, or begins: `next` is its SweepCell::name(), empty behind the last.
struct SweepMoved {
    SweepTable table;
    std::string next;
};
// The last message of a sweep.
struct SweepEnded {
    Expected<SweepTable> outcome;
};
using RunMessage = std::variant<Json, RunCreated, RunStateChange, RunStaging, RunLink, HostKeyQuestion, SecretQuestion,
    RightAnswer, RunEnded, NodesChecked, ClusterFound, MachineMeasured, SweepMoved, SweepEnded>;

class RunJob {
public:
    explicit RunJob(std::function<void()> wake);
    // Stops a run that was started here and waits until nothing of it is left; one that is followed goes on.
    ~RunJob();
    RunJob(const RunJob&) = delete;
    RunJob& operator=(const RunJob&) = delete;

    [[nodiscard]] bool is_running() const { return thread_.joinable(); }
    [[nodiscard]] bool is_stopping() const { return stopping_; }
    enum class Work { run, follow, check, find, measure, sweep };
    [[nodiscard]] Work work() const { return work_; } // of the last start
    [[nodiscard]] bool is_following() const { return work_ == Work::follow; }
    // Precondition of the six: !is_running().
    void start(RunRequest request);
    // Catches up with a run of a history (empty: the user's) and follows it; its events come from the first one on.
    // Where another program of this computer follows it, it is watched by what that one stores. With `all_events` also
    // those that the target's events_gib left on the nodes.
    void follow(const std::string& run_id, const std::filesystem::path& history_file = {}, bool all_events = false);
    // Connects to every host of the target and looks at it, without running anything; with `speeds` it also measures
    // cores, memory and links.
    void check(Target target, bool speeds = false);
    // Looks what stands behind a name; and measures ranks.
    void find(FindQuestions questions);
    void measure(MeasuringJob job);
    // Runs every cell that is not measured yet, as runs of their own.
    void sweep(SweepRequest request);
    // Ends what is under way: a run on all of its nodes, whoever started it.
    void stop();
    // Stops following a run, which goes on. Nothing where none is followed.
    void detach();
    // The program is about to end and the run is to go on on its nodes, whose agents own it. The program must then end
    // without running down its statics (std::_Exit).
    void leave_behind();
    // The run waits for the answers to its questions. Nothing declines.
    void answer_host_key(bool trusted);
    void answer_secret(const std::optional<std::string>& secret);
    // A secret was given, and nothing that was taken since says what became of it.
    [[nodiscard]] bool is_checking_secret() const { return checking_secret_; }

    [[nodiscard]] std::size_t waiting() const; // messages
    // What was said since, at most `most` messages; after the last message of the work nothing runs any more.
    std::vector<RunMessage> take(std::size_t most = 2000);

private:
    class Mailbox;
    void begin(Work kind, std::function<RunMessage(Mailbox&, std::stop_token)> work);

    std::function<void()> wake_;
    std::shared_ptr<Mailbox> mailbox_;
    std::shared_ptr<std::atomic<bool>> end_followed_; // the followed run is to be stopped, not only left
    bool stopping_ = false;
    bool checking_secret_ = false;
    Work work_ = Work::run;
    std::jthread thread_;
};

} // namespace fourfold::view
