// SPDX-License-Identifier: GPL-3.0-or-later
// One step of the pipeline, a row a stage; two stages in a row of half blocks where there are more stages than rows.
#include "app/tui/pages/plan/panel.h"
#include "app/tui/widgets/timeline_rows.h"
#include "app/tui/widgets/tree_view.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>
#include <cmath>

namespace fourfold::tui {

namespace {
class TimelinePanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Timeline"; }
    [[nodiscard]] std::string hints() const override
    {
        return "arrows bar  + - zoom  a d pan  z to bar  f fit  m mark  Bksp back  Enter why";
    }
    [[nodiscard]] Table table(const Prediction& prediction) const override { return spans_table(prediction.timeline); }
    [[nodiscard]] Picture picture(const Prediction& prediction) const override
    {
        return {prediction.timeline, desk_.plan().state().title()};
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
        const bool halves = look.colors && !look.few && scene_.rows() > rows;
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
        draw_marks(canvas, below, left, columns);
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
        else if (key.is('m'))
            mark(chosen_.row >= 0 ? scene_.bar(chosen_).start_s : at);
        else if (key.code == Key::escape && chosen_.row >= 0)
            chosen_ = {};
        else if (key.code == Key::escape && !marks_.empty())
            marks_.clear();
        else if (key.is('z') && chosen_.row >= 0)
            window_.show(scene_.bar(chosen_).start_s, scene_.bar(chosen_).end_s);
        else if (key.is('z') && marks_.size() > 1)
            window_.show(marks_.front(), marks_.back());
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
    // A mark at this time; the one that is there goes.
    void mark(double time)
    {
        const auto there
            = std::ranges::find_if(marks_, [&](double mark) { return std::abs(mark - time) <= window_.span() / 1000; });
        if (there != marks_.end())
            marks_.erase(there);
        else
            marks_.insert(std::ranges::upper_bound(marks_, time), time);
    }
    // Each with how far it is from the one before, where there is room for that.
    void draw_marks(Canvas& canvas, int row, int left, int columns) const
    {
        if (marks_.empty())
            return;
        canvas.fill({row, left, 1, columns}, U' ');
        const auto column_of = [&](double time) {
            return static_cast<int>((time - window_.begin()) / window_.span() * (columns - 1) + 0.5);
        };
        for (std::size_t i = 0; i < marks_.size(); ++i) {
            if (marks_[i] < window_.begin() || marks_[i] > window_.end())
                continue;
            const int at = column_of(marks_[i]);
            const int next = i + 1 < marks_.size() ? std::min(columns, column_of(marks_[i + 1])) : columns;
            canvas.put(row, left + at, U'\u25b2', kAccent);
            const std::string words
                = view::duration(marks_[i]) + (i == 0 ? "" : " +" + view::duration(marks_[i] - marks_[i - 1]));
            if (width_of(words) + 2 <= next - at)
                canvas.text(row, left + at + 1, words, kMuted);
        }
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
        if (chosen_.row < 0 && marks_.size() > 1)
            return view::duration(marks_.back() - marks_.front())
                + " between the marks: " + said_of(marks_.front(), marks_.back(), true);
        if (chosen_.row < 0) {
            const std::string waiting = said_of(window_.begin(), window_.end(), false);
            return waiting.empty() ? "" : waiting + " of the time on show";
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

    // "waiting 25.0 %", or of all kinds "forward 25.0 %, waiting 25.0 %".
    [[nodiscard]] std::string said_of(double begin, double end, bool all_kinds) const
    {
        const view::TimelineScene::Shares shares = scene_.shares(begin, end);
        double all = shares.idle;
        for (const double seconds : shares.busy)
            all += seconds;
        if (!(all > 0))
            return {};
        std::string words;
        for (std::size_t i = 0; i < view::kSpanKinds && all_kinds; ++i) {
            if (shares.busy[i] > 0)
                words += std::string(fourfold::name(static_cast<SpanKind>(i))) + " "
                    + view::percent(shares.busy[i] / all) + " %, ";
        }
        return words + "waiting " + view::percent(shares.idle / all) + " %";
    }

    const Prediction* about_ = nullptr; // identity only
    view::TimelineScene scene_;
    std::vector<double> marks_; // seconds, rising; they stay while the plan changes
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
