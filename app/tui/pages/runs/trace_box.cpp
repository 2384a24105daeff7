// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/trace_box.h"

#include "app/view/trace/trace_study.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/predict/term_off.h"
#include "core/report/views/plan_tables.h"

#include <utility>

namespace fourfold::tui {

TraceBox::TraceBox(Desk& desk, const view::LiveRun& run)
    : desk_(desk)
    , run_(run)
    , run_id_(run.id())
    , work_(desk.wake())
{
    take_trace();
    work_.start([this, file = run.folder() / "plan.json"](const std::stop_token&) -> view::Background::Done {
        const Expected<Json> plan = read_json_file(file);
        Expected<Timeline> step = plan ? predicted_step(*plan) : Expected<Timeline>(plan.error());
        return [this, step = std::move(step)] {
            if (step)
                predicted_ = std::make_shared<const Timeline>(*step);
        };
    });
}

void TraceBox::tick()
{
    work_.deliver();
    if (run_.id() != run_id_ || !run_.trace())
        close(); // another run began
    else
        take_trace();
}

void TraceBox::take_trace()
{
    if (measured_step_ == run_.trace_step())
        return;
    measured_step_ = run_.trace_step();
    measured_ = std::make_shared<const Timeline>(*run_.trace());
}

std::vector<NamedTimeline> TraceBox::all() const
{
    std::vector<NamedTimeline> all;
    if (predicted_ && !predicted_->spans.empty())
        all.push_back({"as planned", predicted_});
    if (measured_)
        all.push_back({text_of("measured, step %d", measured_step_), measured_});
    return all;
}

void TraceBox::draw(Canvas& canvas, const Look& look)
{
    const Rect inside = draw_frame(canvas, canvas.rows() - 4, canvas.columns() - 6, "Trace of a step");
    const Rect place{inside.row, inside.column, inside.rows - 1, inside.columns};
    if (const std::vector<NamedTimeline> two = all(); two.size() == 2)
        timelines_.draw(canvas, place, two, 0, look);
    else
        canvas.text_in(inside.row, inside.column, inside.columns,
            work_.is_running() ? "Predicting..." : "The plan of this run has no timeline to stand beside it", kMuted);
    canvas.text_in(inside.row + inside.rows - 1, inside.column, inside.columns,
        "arrows bar  + - zoom  H L pan  0 all  M measure  T parts  e export  Esc closes", kMuted);
}

void TraceBox::key(const Key& key)
{
    const bool lets_go = key.code == Key::escape && !timelines_.remark().empty(); // of what is chosen or measured
    if ((key.code == Key::escape && !lets_go) || key.code == Key::enter || key.is('q') || key.is('v')
        || key.is_ctrl('c'))
        close();
    else if (key.is('e') && measured_)
        ask_to_export();
    else if (key.is('T') && measured_ && predicted_)
        desk_.exports().show_table("Parts of the step", view::stage_parts(*predicted_, *measured_));
    else
        timelines_.key(key, all().size());
}

void TraceBox::ask_to_export()
{
    std::vector<Picker::Item> items{{"The measured step", "", [this] {
                                         desk_.exports().ask("trace",
                                             [trace = measured_] { return spans_table(*trace); },
                                             {*measured_, run_.title() + ", step " + std::to_string(measured_step_)});
                                     }}};
    if (all().size() == 2)
        items.push_back({"Both in one picture", "on one axis",
            [this, both = all()] { desk_.exports().ask("timelines", {}, both_timelines(both)); }});
    desk_.open(std::make_unique<Picker>("Export", std::move(items)));
}

std::string TraceBox::read_out()
{
    const std::vector<NamedTimeline> two = all();
    return "Trace of a step. "
        + (two.size() == 2           ? timelines_.said(two, 0)
                : work_.is_running() ? std::string("Predicting; esc leaves")
                                     : std::string("The plan of this run has no timeline to stand beside it"))
        + "\n";
}

void TraceBox::answer(const std::string&)
{
    close();
}

} // namespace fourfold::tui
