// SPDX-License-Identifier: GPL-3.0-or-later
// The plan: inputs at the left, the answer at the right with its verdict, what would help, and the pictures behind it.
#pragma once

#include "app/tui/pages/page.h"
#include "app/tui/pages/plan/fields.h"
#include "app/tui/pages/plan/panel.h"
#include "app/view/search/advice_finder.h"

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
    bool take_line(const std::string& line) override;
    void tick() override;
    [[nodiscard]] int next_tick() const override { return advice_.next_tick(); }
    [[nodiscard]] Json state() const override;
    void restore(const Json& state) override;

private:
    enum class Pane { inputs, figures, panel };
    static constexpr const char* kFigureNames[]{"Memory", "Throughput", "MFU", "Step time", "Bubble"};
    void draw_inputs(Canvas& canvas, const Rect& place);
    struct Said {
        std::string text;
        Style style;
        bool is_advice = false;
    };
    std::vector<Said> said() const; // of the answer: verdict with its cure, what would help, warnings
    void fit_inputs(const std::vector<const PlanInput*>& inputs, int rows);
    int draw_answer(Canvas& canvas, const Rect& place, const Look& look); // returns the rows that it took
    void draw_panels(Canvas& canvas, const Rect& place, const Look& look);
    void draw_panel(Canvas& canvas, const Rect& place, std::size_t panel, const Look& look);
    void draw_advice(Canvas& canvas, const Rect& place);
    bool input_key(const Key& key);
    bool advice_key(const Key& key);
    bool click(const Key& key);
    bool panel_mouse(const Key& key); // where a picture is
    bool panel_key(const Key& key);
    void export_report();
    void show_table(); // of the picture
    void use_nearest(); // the nearest valid value of the first broken rule
    void apply_advice(std::size_t index);
    void show_warnings();
    [[nodiscard]] const Prediction* prediction() const { return desk_.plan().prediction().get(); }
    [[nodiscard]] bool shows_advice() const { return panel_ == panels_.size(); }

    Pane pane_ = Pane::inputs;
    List inputs_, figures_, advice_list_;
    std::vector<std::unique_ptr<Panel>> panels_;
    int advice_rows_ = 1; // that the last advice took: what stands under it stays while the next one is looked for
    std::size_t panel_ = 0; // panels_.size(): the advice
    std::size_t lower_ = 2; // the picture that has the lower half of a large screen
    std::vector<Rect> panel_places_; // of each, the advice behind them, as drawn last; without rows: not on show
    view::AdviceFinder advice_;
    Rect inputs_place_, figures_place_, panel_place_; // as drawn last
};

} // namespace fourfold::tui
