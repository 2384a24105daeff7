// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the plan on a target, or follows a run: live figures, charts, log; stop, failure, questions of the hosts.
#pragma once

#include "app/tui/pages/page.h"
#include "app/view/runs/live_run.h"

namespace fourfold::tui {

class RunsPage : public Page {
public:
    explicit RunsPage(Desk& desk);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override;
    [[nodiscard]] std::vector<Command> commands() override;
    [[nodiscard]] std::vector<std::string> lines() override;
    [[nodiscard]] std::vector<std::string> news() override;
    [[nodiscard]] bool is_moving() const override { return job_.is_running(); }
    void tick() override;
    [[nodiscard]] int next_tick() const override { return job_.is_running() ? 100 : -1; }
    [[nodiscard]] Json state() const override;
    void restore(const Json& state) override;

    void set_target(const std::string& target) { target_ = target.empty() ? "local" : target; }
    // The program ends: the run goes on on its nodes. True where one does, and the program must end at once.
    bool leave_behind();

private:
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
    void follow(const std::string& id);
    void ask_to_stop();
    [[nodiscard]] std::optional<view::RunSetup> prepared(); // a refusal is told
    void check_nodes();
    void show_failure();
    void show_log();
    void show_output(); // of a rank
    void draw_charts(Canvas& canvas, const Rect& place, const Look& look) const;
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
    std::size_t read_ = 0; // lines of the log that news() gave
    std::string came_back_to_; // the run that the last session followed
};

} // namespace fourfold::tui
