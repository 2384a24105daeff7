// SPDX-License-Identifier: GPL-3.0-or-later
// One run or look at the nodes at a time on its own thread: the work there, what it says taken by the owner, in order.
#pragma once

#include "runner/preflight/probe.h"
#include "runner/runs/run.h"

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
// The last message of a run; a Problem kept it from starting.
struct RunEnded {
    Expected<RunResult> outcome;
};
// The last message of a look at the nodes.
struct NodesChecked {
    Expected<ProbeReport> report;
};
using RunMessage = std::variant<Json, RunCreated, RunStateChange, RunStaging, RunLink, HostKeyQuestion, SecretQuestion,
    RunEnded, NodesChecked>;

class RunJob {
public:
    explicit RunJob(std::function<void()> wake);
    // Stops a run that was started here and waits until nothing of it is left; one that is followed goes on.
    ~RunJob();
    RunJob(const RunJob&) = delete;
    RunJob& operator=(const RunJob&) = delete;

    [[nodiscard]] bool is_running() const { return thread_.joinable(); }
    [[nodiscard]] bool is_stopping() const { return stopping_; }
    [[nodiscard]] bool is_following() const { return following_; }
    // Precondition of the three: !is_running().
    void start(RunRequest request);
    // Catches up with a run of the user's history and follows it; its events come from the first one on.
    void follow(const std::string& run_id);
    // Connects to every host of the target and looks at it, without running anything.
    void check(Target target);
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

    // What was said since, at most `most` messages; after RunEnded or NodesChecked nothing runs any more.
    std::vector<RunMessage> take(std::size_t most = 2000);

private:
    class Mailbox;
    void begin(bool catches_up, std::function<RunMessage(Mailbox&, std::stop_token)> work);

    std::function<void()> wake_;
    std::shared_ptr<Mailbox> mailbox_;
    std::shared_ptr<std::atomic<bool>> end_followed_; // the followed run is to be stopped, not only left
    bool stopping_ = false, following_ = false;
    std::jthread thread_;
};

} // namespace fourfold::view
