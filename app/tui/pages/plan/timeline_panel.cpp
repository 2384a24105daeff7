// SPDX-License-Identifier: GPL-3.0-or-later
// One step of the pipeline, a row a stage; two stages in a row of half blocks where there are more stages than rows.
#include "app/tui/pages/plan/panel.h"
#include "app/tui/widgets/timeline_control.h"
#include "app/tui/widgets/tree_view.h"
#include "app/view/prediction/planned_scene.h"
#include "core/predict/step_time.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
class TimelinePanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Timeline"; }
    [[nodiscard]] std::string hints() const override
    {
        return "arrows bar  + - zoom  a d pan  z to it  f fit  m mark  M measure  Bksp back  Enter why";
    }
    [[nodiscard]] Table table(const Prediction& prediction) const override
    {
        return spans_table({prediction.timeline, steady_part(prediction)});
    }
    [[nodiscard]] Picture picture(const Prediction& prediction) const override
    {
        return {{prediction.timeline, steady_part(prediction)}, desk_.plan().state().title()};
    }

    void draw(Canvas& canvas, const Rect& place, const Prediction&, bool focused, const Look& look) override
    {
        follow();
        if (scene_.rows() == 0) {
            canvas.text(place.row, place.column, "no timeline", kMuted);
            return;
        }
        draw_timeline_legend(canvas, place, scene_, look);
        const Rect rows{place.row + 1, place.column, std::max(1, place.rows - 3), place.columns};
        const int below = rows.row + control_.draw_rows(canvas, rows, 0, focused, look);
        control_.draw_axis(canvas, {below, place.column, 1, place.columns});
        canvas.text_in(below + 1, place.column, place.columns, control_.said(),
            focused && control_.has_chosen() ? Style{} : kMuted);
    }

    bool key(const Key& key, const Prediction& p) override
    {
        follow();
        const TimelineControl::Took took = control_.key(key);
        if (took == TimelineControl::Took::opens) {
            const view::TimelineBar& bar = control_.chosen();
            desk_.open(
                std::make_unique<TreeView>(explain_span(p, *view::span_kind(bar.kind), bar.end_s - bar.start_s)));
        }
        return took != TimelineControl::Took::no;
    }
    [[nodiscard]] std::vector<std::string> said(const Prediction&) override
    {
        follow();
        return {control_.said()};
    }
    [[nodiscard]] std::string remark() const override { return control_.said(); }

private:
    // The scene of the answer on show, with the place on the axis kept.
    void follow()
    {
        if (about_ != desk_.plan().prediction()) {
            about_ = desk_.plan().prediction();
            scene_ = view::planned_scene(*about_);
        }
        control_.show({&scene_});
    }

    std::shared_ptr<const Prediction> about_; // whose the scene is
    view::TimelineScene scene_;
    TimelineControl control_;
};
} // namespace

std::unique_ptr<Panel> make_timeline_panel(Desk& desk)
{
    return std::make_unique<TimelinePanel>(desk);
}

} // namespace fourfold::tui
