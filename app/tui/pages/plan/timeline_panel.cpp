// SPDX-License-Identifier: GPL-3.0-or-later
// One step of the pipeline, a row a stage; two stages in a row of half blocks where there are more stages than rows.
#include "app/tui/pages/plan/panel.h"
#include "app/tui/widgets/bars.h"
#include "app/tui/widgets/tree_view.h"
#include "app/view/prediction/timeline_scene.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
constexpr Fill kSpanFills[view::kSpanKinds]{{Ink::blue, U'f'}, {Ink::orange, U'b'}, {Ink::yellow, U'w'},
    {Ink::green, U'-'}, {Ink::vermilion, U'r'}, {Ink::purple, U'g'}, {Ink::sky, U'o'}, {Ink::grey, U'.'}};

class TimelinePanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Timeline"; }
    [[nodiscard]] std::string hints() const override
    {
        return "arrows bar  + - zoom  a d pan  z to bar  f fit  Bksp back  Enter why";
    }
    [[nodiscard]] Table table(const Prediction& prediction) const override { return spans_table(prediction.timeline); }

    void draw(Canvas& canvas, const Rect& place, const Prediction& p, bool focused, const Look& look) override
    {
        follow(p);
        if (scene_.rows() == 0) {
            canvas.text(place.row, place.column, "no timeline", kMuted);
            return;
        }
        int column = place.column;
        for (std::size_t i = 0; i < view::kSpanKinds; ++i) {
            const auto kind = static_cast<SpanKind>(i);
            if (scene_.has(kind) && column + width_of(fourfold::name(kind)) + 2 <= place.column + place.columns)
                column = draw_legend(canvas, place.row, column, kSpanFills[i], fourfold::name(kind), look);
        }
        const int rows = std::max(1, place.rows - 3);
        const bool halves = look.colors && scene_.rows() > rows;
        stages_per_row_ = halves ? 2 : 1;
        const int needed = (scene_.rows() + stages_per_row_ - 1) / stages_per_row_;
        if (chosen_.row >= 0)
            top_ = std::clamp(top_, chosen_.row / stages_per_row_ - rows + 1, chosen_.row / stages_per_row_);
        top_ = std::clamp(top_, 0, std::max(0, needed - rows));
        const int label = 5;
        columns_ = std::max(1, place.columns - label);
        left_ = place.column + label;
        for (int i = 0; i < rows && top_ + i < needed; ++i) {
            const int stage = (top_ + i) * stages_per_row_;
            canvas.text(place.row + 1 + i, place.column, "P" + std::to_string(stage), kMuted);
            if (halves)
                draw_halves(canvas, place.row + 1 + i, stage);
            else
                draw_stage(canvas, place.row + 1 + i, stage, focused, look);
        }
        const int below = place.row + 1 + std::min(rows, needed);
        canvas.text_in(below, left_, columns_, view::duration(window_.begin()), kMuted);
        canvas.text_in(below, left_, columns_, view::duration(window_.end()), kMuted, true);
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
    // What most of a cell's time goes to; nothing where the stage waits.
    [[nodiscard]] const view::TimelineBar* bar_in(int stage, int column, std::size_t& index) const
    {
        if (stage >= scene_.rows())
            return nullptr;
        const double cell = window_.span() / columns_, begin = window_.begin() + cell * column, end = begin + cell;
        const auto [first, last] = scene_.touching(stage, begin, end);
        const view::TimelineBar* best = nullptr;
        double most = 0, covered = 0;
        for (std::size_t i = first; i < last; ++i) {
            const view::TimelineBar& bar = scene_.row(stage)[i];
            const double share = std::min(end, bar.end_s) - std::max(begin, bar.start_s);
            if (share <= 0)
                continue;
            covered += share;
            if (share > most) {
                most = share;
                best = &bar;
                index = i;
            }
        }
        return covered * 2 >= cell ? best : nullptr;
    }
    void draw_stage(Canvas& canvas, int row, int stage, bool focused, const Look& look) const
    {
        constexpr std::size_t kNone = static_cast<std::size_t>(-1);
        std::size_t before = kNone;
        for (int column = 0; column < columns_; ++column) {
            std::size_t index = kNone;
            const view::TimelineBar* bar = bar_in(stage, column, index);
            if (bar == nullptr) {
                canvas.put(row, left_ + column, U'\u00b7', kMuted);
                before = kNone;
                continue;
            }
            const Fill& fill = kSpanFills[static_cast<std::size_t>(bar->kind)];
            const bool is_chosen = focused && chosen_.row == stage && chosen_.index == index;
            Style style{Ink::normal, look.colors ? fill.ink : Ink::normal};
            if (look.colors)
                style = {fill.ink, Ink::normal, false, true}; // the paper has the colour, the text the background's
            if (is_chosen)
                style = {Ink::normal, Ink::normal, true, true, true};
            canvas.put(row, left_ + column, look.colors ? U' ' : fill.pattern, style);
            const double cell = window_.span() / columns_;
            if (index != before && bar->microBatch >= 0) { // its number where it begins and has room
                const std::string number = std::to_string(bar->microBatch);
                if ((bar->end_s - std::max(bar->start_s, window_.begin())) / cell >= double(number.size()) + 1) {
                    for (std::size_t i = 0; i < number.size() && column + 1 < columns_; ++i, ++column)
                        canvas.put(row, left_ + column, static_cast<char32_t>(number[i]), style);
                    --column;
                }
            }
            before = index;
        }
    }
    void draw_halves(Canvas& canvas, int row, int stage) const
    {
        std::size_t index = 0;
        for (int column = 0; column < columns_; ++column) {
            const view::TimelineBar *upper = bar_in(stage, column, index), *lower = bar_in(stage + 1, column, index);
            const auto ink = [](const view::TimelineBar* bar) {
                return bar == nullptr ? Ink::normal : kSpanFills[static_cast<std::size_t>(bar->kind)].ink;
            };
            if (upper != nullptr)
                canvas.put(row, left_ + column, U'\u2580', {ink(upper), ink(lower)});
            else if (lower != nullptr)
                canvas.put(row, left_ + column, U'\u2584', {ink(lower)});
        }
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
    int stages_per_row_ = 1, top_ = 0, left_ = 0, columns_ = 1;
};
} // namespace

std::unique_ptr<Panel> make_timeline_panel(Desk& desk)
{
    return std::make_unique<TimelinePanel>(desk);
}

} // namespace fourfold::tui
