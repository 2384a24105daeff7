// SPDX-License-Identifier: GPL-3.0-or-later
// A start that asks three things: four lines to type, what was found, and which of it is taken.
#pragma once

#include "app/tui/desk.h"
#include "app/view/start/start.h"

#include <array>

namespace fourfold::tui {

class StartForm : public Overlay {
public:
    explicit StartForm(Desk& desk);
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;

private:
    static constexpr int kLines = 4;
    void receive(); // what was found since
    void ask();
    void take_choice();
    [[nodiscard]] bool is_answered() const { return line_ == kLines && start_.recommendation(); }
    int draw_answer(Canvas& canvas, const Rect& inside, int row);

    Desk& desk_;
    view::Start start_;
    std::array<InputLine, kLines> lines_;
    int line_ = 0; // that is typed in; kLines: the list of what was found
    List list_;
    std::string refusal_;
};

} // namespace fourfold::tui
