// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the plan on a target, or follows a run: live figures, charts, log; stop, failure, questions of the hosts.
#pragma once

#include "app/tui/pages/page.h"
#include "app/tui/widgets/plot.h"
#include "app/view/cluster/node_cluster.h"
#include "app/view/runs/live_run.h"
#include "app/view/runs/queue_view.h"
#include "app/view/runs/run_notices.h"

#include <array>
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

    void set_target(const std::string& target) { target_ = target.empty() ? "local" : target; }
    // Its watch reported something since the page was on show.
    [[nodiscard]] bool has_unseen_alerts() const { return run_.alert_count() > seen_alerts_; }
    // The program ends: the run goes on on its nodes. True where one does, and the program must end at once.
    bool leave_behind();

private:
    void begin(const std::string& title, int steps, const view::RunExpectation& expectation); // of another run
    void take(const view::RunMessage& message);
    void take_alert(const view::RunAlert& alert);
    void show_alerts();
    void take_end(const view::RunEnded& end);
    [[nodiscard]] std::string target_text() const;
    void ask_target();
    void find_cluster();
    void ask_steps();
    void ask_to_start();
    void confirm_start(
        const std::shared_ptr<const view::RunSetup>& setup, const std::string& title, const std::string& what_it_does);
    void start(const std::shared_ptr<const view::RunSetup>& setup, const std::string& title);
    void ask_to_restart(); // the last run that was started here
    void ask_to_sweep();
    void take_sweep(const SweepTable& table, const std::string& next);
    void follow_which();
    void follow(const std::string& id); // leaves what is followed; what was started here stays
    void enqueue(const view::RunSetup& setup);
    void show_queue();
    void look_at_queue(); // not too often
    void ask_to_stop();
    void leave_run();
    [[nodiscard]] std::optional<view::RunSetup> set_up(); // a refusal is told
    [[nodiscard]] std::optional<view::RunSetup> prepared(); // also where a run is in the way
    void check_nodes();
    void save_nodes(const view::ClusterWish& wish);
    void save_looked_at(const ProbeReport& report, const view::ClusterWish& wish);
    void show_failure();
    void show_log();
    void show_output(); // of a rank
    struct Curve {
        const char* name; // of its file
        Plot plot;
    };
    [[nodiscard]] std::vector<Curve> charts() const;
    void move_cursor(int step);
    void show_trace(); // of a step
    void show_table(); // of the charts
    [[nodiscard]] Table table() const; // the same
    void ask_to_export(); // the sweep, or one of the charts
    void draw_charts(Canvas& canvas, const Rect& place, const Look& look);
    bool point_at(const Key& key); // a click on a chart: read off there
    void show_report(const Expected<ProbeReport>& report);
    void draw_question(Canvas& canvas, const Rect& place);

    view::RunJob job_;
    view::LiveRun run_;
    std::string target_ = "local";
    int steps_ = 0; // 0: the plan's
    std::shared_ptr<const view::RunSetup> last_; // what was started here last; null: nothing
    std::string last_title_;
    bool restarts_ = false; // once what goes on has ended
    std::optional<SweepTable> sweep_; // measured here, as far as it is
    std::string sweep_text_; // how far, and which cell is next
    std::vector<PlotPlace> plots_; // as drawn last
    std::optional<double> cursor_; // step that is read off; empty: none
    std::size_t read_ = 0; // lines of the log that news() gave
    view::AlertNotices notices_;
    std::size_t seen_alerts_ = 0; // of run_
    std::string came_back_to_; // the run that the last session followed
    std::string next_; // the run to be followed once the one that is followed is left
    std::optional<Target> checked_; // the nodes that were looked at last
    std::optional<view::ClusterWish> wish_; // what the look under way is for
    view::QueueView queue_;
    std::chrono::steady_clock::time_point queue_looked_{};
};

} // namespace fourfold::tui
