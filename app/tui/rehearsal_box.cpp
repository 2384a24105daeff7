// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/rehearsal_box.h"

#include "app/tui/widgets/bars.h"
#include "app/view/trace/trace_study.h"

#include <algorithm>

namespace fourfold::tui {

void RehearsalBox::look(int columns)
{
    if ((outcome_ && columns == columns_) || !job_.outcome())
        return;
    columns_ = columns;
    const view::RehearsalOutcome& outcome = *job_.outcome();
    outcome_.emplace("Rehearsal",
        outcome.text(static_cast<std::size_t>(columns))
            + (outcome.has_timelines() ? "\nv shows the step as rehearsed beside the planned one\n" : ""));
    if (outcome.has_timelines())
        timelines_ = {{"as planned", std::make_shared<const Timeline>(outcome.planned)},
            {"as rehearsed", std::make_shared<const Timeline>(outcome.rehearsed)}};
}

std::string RehearsalBox::read_out()
{
    look(0); // read out, a table is none
    if (shows_timelines_)
        return "The step. " + compared_.said(timelines_, 0) + "\n";
    return outcome_ ? outcome_->read_out() : job_.progress_text() + "; x stops it, an empty line leaves it going\n";
}

void RehearsalBox::answer(const std::string& line)
{
    if (!outcome_ && line == "x")
        job_.cancel();
    else if (outcome_ && line == "v" && !shows_timelines_ && !timelines_.empty())
        shows_timelines_ = true;
    else
        close();
}

void RehearsalBox::draw(Canvas& canvas, const Look& look)
{
    this->look(Pager::columns_in(canvas));
    if (shows_timelines_) {
        const Rect inside = draw_frame(canvas, canvas.rows() - 4, canvas.columns() - 6, "The step");
        compared_.draw(canvas, {inside.row, inside.column, inside.rows - 1, inside.columns}, timelines_, 0, look);
        canvas.text_in(inside.row + inside.rows - 1, inside.column, inside.columns,
            "+ - zoom  H L pan  0 all  T parts  v the words  Esc closes", kMuted);
        return;
    }
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
    if (outcome_ && key.is('v') && !timelines_.empty()) {
        shows_timelines_ = !shows_timelines_;
    } else if (shows_timelines_) {
        if (key.code == Key::escape || key.is('q') || key.is_ctrl('c'))
            close();
        else if (key.is('T'))
            desk_.exports().show_table(
                "Parts of the step", view::stage_parts(*timelines_[0].timeline, *timelines_[1].timeline));
        else
            compared_.key(key, timelines_.size());
    } else if (outcome_) {
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
