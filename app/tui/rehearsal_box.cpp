// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/rehearsal_box.h"

#include "app/tui/widgets/bars.h"

#include <algorithm>

namespace fourfold::tui {

void RehearsalBox::look()
{
    if (!outcome_ && job_.outcome())
        outcome_.emplace("Rehearsal", job_.outcome()->text());
}

std::string RehearsalBox::read_out()
{
    look();
    return outcome_ ? outcome_->read_out() : job_.progress_text() + "; x stops it, an empty line leaves it going\n";
}

void RehearsalBox::answer(const std::string& line)
{
    if (!outcome_ && line == "x")
        job_.cancel();
    else
        close();
}

void RehearsalBox::draw(Canvas& canvas, const Look& look)
{
    this->look();
    if (outcome_) {
        outcome_->draw(canvas, look);
        return;
    }
    const int columns = std::min(canvas.columns() - 6, 64);
    const Rect inside = draw_frame(canvas, 4, columns, "Rehearsal");
    canvas.text_in(
        inside.row, inside.column, inside.columns, "The trainer plays every rank, on tensors without values");
    canvas.text_in(inside.row + 1, inside.column, inside.columns, job_.progress_text(), kBold);
    const BarPart part[]{{job_.share(), {Ink::blue, U'#'}}};
    draw_bar(canvas, inside.row + 2, inside.column, inside.columns, part, 1, look);
    canvas.text_in(
        inside.row + 3, inside.column, inside.columns, "x stops it, Esc leaves it going in the background", kMuted);
}

void RehearsalBox::key(const Key& key)
{
    if (outcome_) {
        outcome_->key(key);
        if (outcome_->is_over())
            close();
    } else if (key.is('x')) {
        job_.cancel();
    } else if (key.code == Key::escape || key.is('q') || key.is_ctrl('c')) {
        close();
    }
}

} // namespace fourfold::tui
