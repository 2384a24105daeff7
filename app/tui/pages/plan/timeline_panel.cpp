// SPDX-License-Identifier: GPL-3.0-or-later
// One step of the pipeline, a row a stage; two stages in a row of half blocks where there are more stages than rows.
#include "app/tui/pages/plan/panel.h"
#include "app/tui/widgets/timeline_rows.h"
#include "app/tui/widgets/tree_view.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/timeline_export.h"
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
        return "arrows bar  + - zoom  a d pan  z to bar  f fit  Bksp back  Enter why";
    }
    [[nodiscard]] Table table(const Prediction& prediction) const override { return spans_table(prediction.timeline); }
    [[nodiscard]] Desk::WritePicture picture(const Prediction& prediction) const override
    {
        return [timeline = prediction.timeline, title = desk_.plan().state().title()](
                   const std::filesystem::path& file) { return export_timeline(timeline, title, file); };
    }

    void draw(Canvas& canvas, const Rect& place, const Prediction& p, bool focused, const Look& look) override
    {
        follow(p);
        if (scene_.rows() == 0) {
            canvas.text(place.row, place.column, "no timeline", kMuted);
            return;
        }
        draw_timeline_legend(canvas, place, scene_, look);
        const int rows = std::max(1, place.rows - 3);
        const bool halves = look.colors && scene_.rows() > rows;
        stages_per_row_ = halves ? 2 : 1;
        const int needed = (scene_.rows() + stages_per_row_ - 1) / stages_per_row_;
        if (chosen_.row >= 0)
            top_ = std::clamp(top_, chosen_.row / stages_per_row_ - rows + 1, chosen_.row / stages_per_row_);
        top_ = std::clamp(top_, 0, std::max(0, needed - rows));
        const int label = 5;
        const int left = place.column + label, columns = std::max(1, place.columns - label);
        const TimelineRows drawn{scene_, window_.begin(), window_.end(), left, columns};
        for (int i = 0; i < rows && top_ + i < needed; ++i) {
            const int stage = (top_ + i) * stages_per_row_;
            canvas.text(place.row + 1 + i, place.column, "P" + std::to_string(stage), kMuted);
            if (halves)
                drawn.draw_two(canvas, place.row + 1 + i, stage);
            else
                drawn.draw_stage(canvas, place.row + 1 + i, stage, look, focused ? &chosen_ : nullptr);
        }
        const int below = place.row + 1 + std::min(rows, needed);
        canvas.text_in(below, left, columns, view::duration(window_.begin()), kMuted);
        canvas.text_in(below, left, columns, view::duration(window_.end()), kMuted, true);
        canvas.text_in(below + 1, place.column, place.columns, said(), focused && chosen_.row >= 0 ? Style{} : kMuted);
    }

    bool key(const Key& key, const Prediction& p) override
    {
        follow(p);
        if (scene_.rows() == 0)
            return false;
        const double at = chosen_.row >= 0 ? middle() : window_.begin() + window_.span() / 2;
        if (key.is('+') || key.is('=') || key.is('w'))
            window_.zoom(at, 1.5);
        else if (key.is('-') || key.is('s'))
            window_.zoom(at, 1 / 1.5);
        else if (key.is('a') || key.is('H'))
            window_.pan(-0.25);
        else if (key.is('d') || key.is('L'))
            window_.pan(0.25);
        else if (key.is('f') || key.is('0'))
            window_.fit();
        else if (key.code == Key::backspace)
            window_.back();
        else if (key.code == Key::left || key.is('h') || key.code == Key::right || key.is('l'))
            choose(key.code == Key::left || key.is('h') ? -1 : 1, 0);
        else if (key.code == Key::up || key.is('k') || key.code == Key::down || key.is('j'))
            choose(0, key.code == Key::up || key.is('k') ? -1 : 1);
        else if (key.code == Key::escape && chosen_.row >= 0)
            chosen_ = {};
        else if (key.is('z') && chosen_.row >= 0)
            window_.show(scene_.bar(chosen_).start_s, scene_.bar(chosen_).end_s);
        else if (key.code == Key::enter && chosen_.row >= 0)
            desk_.open(std::make_unique<TreeView>(
                explain_span(p, scene_.bar(chosen_).kind, scene_.bar(chosen_).end_s - scene_.bar(chosen_).start_s)));
        else
            return false;
        return true;
    }

private:
    // The scene of this prediction, with the place on the axis kept.
    void follow(const Prediction& p)
    {
        if (about_ == &p)
            return;
        about_ = &p;
        scene_ = view::TimelineScene(p.timeline);
        window_.setLength(scene_.length());
        if (chosen_.row >= scene_.rows() || (chosen_.row >= 0 && chosen_.index >= scene_.row(chosen_.row).size()))
            chosen_ = {};
    }
    [[nodiscard]] double middle() const { return (scene_.bar(chosen_).start_s + scene_.bar(chosen_).end_s) / 2; }
    void choose(int along, int across)
    {
        if (chosen_.row < 0) {
            for (int row = 0; row < scene_.rows() && chosen_.row < 0; ++row) {
                const auto [first, last] = scene_.touching(row, window_.begin(), window_.end());
                if (first < last)
                    chosen_ = {row, first};
            }
            return;
        }
        chosen_ = along != 0 ? scene_.along(chosen_, along) : scene_.across(chosen_, across);
        if (middle() < window_.begin() || middle() > window_.end())
            window_.moveTo(middle() - window_.span() / 2);
    }
    [[nodiscard]] std::string said() const
    {
        if (chosen_.row < 0) {
            const view::TimelineScene::Shares shares = scene_.shares(window_.begin(), window_.end());
            double busy = 0;
            for (const double seconds : shares.busy)
                busy += seconds;
            const double all = busy + shares.idle;
            return all > 0 ? "waiting " + view::percent(shares.idle / all) + " % of the time on show" : "";
        }
        const view::TimelineBar& bar = scene_.bar(chosen_);
        std::string words = std::string(fourfold::name(bar.kind));
        if (bar.microBatch >= 0)
            words += text_of(" of micro-batch %d", bar.microBatch);
        words += text_of(" on stage %d, ", chosen_.row) + view::duration(bar.end_s - bar.start_s);
        if (const double wait = scene_.waitBefore(chosen_); wait > 0)
            words += ", after a wait of " + view::duration(wait);
        return words;
    }

    const Prediction* about_ = nullptr; // identity only
    view::TimelineScene scene_;
    view::TimelineWindow window_;
    view::BarRef chosen_;
    int stages_per_row_ = 1, top_ = 0;
};
} // namespace

std::unique_ptr<Panel> make_timeline_panel(Desk& desk)
{
    return std::make_unique<TimelinePanel>(desk);
}

} // namespace fourfold::tui
