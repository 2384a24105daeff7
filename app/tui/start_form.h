// SPDX-License-Identifier: GPL-3.0-or-later
// A start that asks three things: four lines to type, what was found, and which of it is taken.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/form_lines.h"
#include "app/view/start/start.h"

namespace fourfold::tui {

class StartForm : public Overlay {
public:
    explicit StartForm(Desk& desk);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;

private:
    void receive(); // what was found since
    void ask();
    void take_choice();
    [[nodiscard]] bool is_answered() const { return form_.is_behind() && start_.recommendation(); }
    int draw_answer(Canvas& canvas, const Rect& inside, int row);
    [[nodiscard]] int wanted_rows(int columns) const; // for all that was found
    void read_on(); // all of it, over the form

    Desk& desk_;
    view::Start start_;
    FormLines form_; // behind its lines: the list of what was found
    List list_;
    Rect choices_place_; // as drawn last
    std::string refusal_;
    bool cut_ = false; // there was no room for all that was found
};

} // namespace fourfold::tui
