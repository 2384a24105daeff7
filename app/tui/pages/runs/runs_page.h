// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the plan on a target, or follows a run: live figures, charts, log; stop, failure, questions of the hosts.
#pragma once

#include "app/tui/pages/page.h"
#include "app/tui/pages/runs/measured_sweep.h"
#include "app/tui/pages/runs/node_check.h"
#include "app/tui/pages/runs/run_charts.h"
#include "app/tui/pages/runs/run_question.h"
#include "app/view/runs/live_run.h"
#include "app/view/runs/queue_view.h"
#include "app/view/runs/run_notices.h"

#include <chrono>
#include <vector>

namespace fourfold::tui {

class RunsPage : public Page {
public:
    explicit RunsPage(Desk& desk);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override;
    [[nodiscard]] std::vector<Copy> copies() override;
    [[nodiscard]] std::vector<Command> commands() override;
    [[nodiscard]] std::vector<std::string> lines() override;
    [[nodiscard]] std::vector<std::string> news() override;
    [[nodiscard]] bool is_moving() const override { return job_.is_running(); }
    void tick() override;
    [[nodiscard]] int next_tick() const override;
    [[nodiscard]] std::string remark() const override; // of the queue, where something waits or goes on
    [[nodiscard]] Json state() const override;
    void restore(const Json& state) override;

    void set_target(const std::string& target) { question_.set_target(target); }
    // Its watch reported something since the page was on show.
    [[nodiscard]] bool has_unseen_alerts() const { return run_.alert_count() > seen_alerts_; }
    // The program ends: the run goes on on its nodes. True where one does, and the program must end at once.
    bool leave_behind();

private:
    void begin(const std::string& title, int steps, const view::RunExpectation& expectation); // of another run
    void take(const view::RunMessage& message);
    void take_alert(const view::RunAlert& alert);
    void take_end(const view::RunEnded& end);
    void ask_to_start();
    void confirm_start(
        const std::shared_ptr<const view::RunSetup>& setup, const std::string& title, const std::string& what_it_does);
    void start(const std::shared_ptr<const view::RunSetup>& setup, const std::string& title);
    void ask_to_restart(); // the last run that was started here
    void ask_to_sweep();
    void follow_which();
    void follow(const std::string& id); // leaves what is followed; what was started here stays
    void enqueue(const view::RunSetup& setup);
    void show_queue();
    void look_at_queue(); // not too often
    void ask_to_stop();
    void leave_run();
    [[nodiscard]] std::optional<view::RunSetup> prepared(); // also where a run is in the way
    void show_trace(); // of a step
    void ask_to_export(); // the sweep, or one of the charts

    view::RunJob job_;
    view::LiveRun run_;
    RunQuestion question_;
    NodeCheck nodes_;
    RunCharts charts_;
    MeasuredSweep sweep_;
    std::shared_ptr<const view::RunSetup> last_; // what was started here last; null: nothing
    std::string last_title_;
    bool restarts_ = false; // once what goes on has ended
    std::size_t read_ = 0; // lines of the log that news() gave
    view::AlertNotices notices_;
    std::size_t seen_alerts_ = 0; // of run_
    std::string came_back_to_; // the run that the last session followed
    std::string next_; // the run to be followed once the one that is followed is left
    view::QueueView queue_;
    std::chrono::steady_clock::time_point queue_looked_{};
};

} // namespace fourfold::tui
