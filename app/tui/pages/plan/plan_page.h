// SPDX-License-Identifier: GPL-3.0-or-later
// The plan: inputs at the left, the answer at the right with its verdict, what would help, and the pictures behind it.
#pragma once

#include "app/tui/pages/page.h"
#include "app/tui/pages/plan/panel.h"
#include "app/tui/pages/plan/plan_advice.h"
#include "app/tui/pages/plan/plan_answer.h"
#include "app/tui/pages/plan/plan_inputs.h"

namespace fourfold::tui {

class PlanPage : public Page {
public:
    explicit PlanPage(Desk& desk);
    void draw(Canvas& canvas, const Rect& place, const Look& look) override;
    bool key(const Key& key) override;
    [[nodiscard]] std::string hints() const override;
    [[nodiscard]] std::string remark() const override;
    [[nodiscard]] std::vector<Copy> copies() override;
    [[nodiscard]] std::vector<Command> commands() override;
    [[nodiscard]] std::vector<std::string> lines() override;
    bool take_line(const std::string& line) override { return change_by_line(desk_, line); }
    void tick() override { advice_.tick(); }
    [[nodiscard]] int next_tick() const override { return advice_.finder().next_tick(); }
    [[nodiscard]] Json state() const override;
    void restore(const Json& state) override;

private:
    enum class Pane { inputs, figures, panel };
    void draw_panels(Canvas& canvas, const Rect& place, const Look& look);
    void draw_panel(Canvas& canvas, const Rect& place, std::size_t panel, const Look& look);
    bool click(const Key& key);
    bool panel_mouse(const Key& key); // where a picture is
    bool panel_key(const Key& key);
    void export_report();
    void show_table(); // of the picture
    void use_nearest(); // the nearest valid value of the first broken rule
    [[nodiscard]] const Prediction* prediction() const { return desk_.plan().prediction().get(); }
    [[nodiscard]] bool shows_advice() const { return panel_ == panels_.size(); }

    Pane pane_ = Pane::inputs;
    PlanInputs inputs_;
    PlanAdvice advice_;
    PlanAnswer answer_;
    std::vector<std::unique_ptr<Panel>> panels_;
    std::size_t panel_ = 0; // panels_.size(): the advice
    std::size_t lower_ = 2; // the picture that has the lower half of a large screen
    std::vector<Rect> panel_places_; // of each, the advice behind them, as drawn last; without rows: not on show
    Rect panel_place_; // as drawn last
};

} // namespace fourfold::tui
