// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the plan on a target, or follows a run: live figures, charts, log; stop, failure, questions of the hosts.
#pragma once

#include "app/tui/pages/page.h"
#include "app/view/background.h"
#include "app/view/runs/live_run.h"

namespace fourfold::tui {

class RunsPage : public Page {
public:
    explicit RunsPage(Desk& desk);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override;
    [[nodiscard]] std::vector<Command> commands() override;
    void tick() override;
    [[nodiscard]] int next_tick() const override { return job_.is_running() ? 100 : -1; }
    [[nodiscard]] Json state() const override;
    void restore(const Json& state) override;

    // The program ends: the run goes on on its nodes. True where one does, and the program must end at once.
    bool leave_behind();

private:
    void ask_target();
    void ask_steps();
    void ask_to_start();
    void follow_which();
    void follow(const std::string& id);
    void ask_to_stop();
    void check_nodes();
    void show_failure();
    void rehearse();
    void show_log();
    void answer(const HostKeyQuestion& question);
    void answer(const SecretQuestion& question);
    void show_report(const Expected<ProbeReport>& report);
    void draw_question(Canvas& canvas, const Rect& place);

    view::RunJob job_;
    view::LiveRun run_;
    view::Background rehearsal_;
    std::string target_ = "local";
    int steps_ = 0; // 0: the plan's
    std::string came_back_to_; // the run that the last session followed
};

} // namespace fourfold::tui
