// SPDX-License-Identifier: GPL-3.0-or-later
// Memory per stage and the parts of the step, as bars.
#include "app/tui/pages/plan/memory_kinds.h"
#include "app/tui/pages/plan/memory_over_time.h"
#include "app/tui/pages/plan/panel.h"
#include "app/tui/pages/plan/part_fills.h"
#include "app/tui/widgets/bars.h"
#include "app/tui/widgets/tree_view.h"
#include "app/view/prediction/plan_charts.h"
#include "app/view/text.h"
#include "core/base/text.h"
#include "core/report/views/plan_tables.h"

#include <algorithm>

namespace fourfold::tui {

namespace {
// Below bars, in as many rows as there are.
void draw_words(Canvas& canvas, const Rect& place, const std::string& words, std::vector<std::string> lines)
{
    if (static_cast<int>(lines.size()) > place.rows)
        lines = {words};
    for (std::size_t i = 0; i < lines.size(); ++i)
        canvas.text_in(place.row + static_cast<int>(i), place.column, place.columns, lines[i], kMuted);
}

class MemoryPanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Memory"; }
    [[nodiscard]] std::string hints() const override { return "j k stage  m time  Enter why"; }
    [[nodiscard]] Table table(const Prediction& prediction) const override
    {
        return over_time_ ? curve_table(memory_over_time(prediction, stage(prediction))) : memory_table(prediction);
    }
    [[nodiscard]] Picture picture(const Prediction& prediction) const override
    {
        return Picture(
            [chart = over_time_ ? Chart(view::memory_chart(prediction, memory_over_time(prediction, stage(prediction))))
                                : Chart(view::memory_chart(prediction))] { return chart; });
    }

    void draw(Canvas& canvas, const Rect& place, const Prediction& p, bool focused, const Look& look) override
    {
        const int first = place.row + draw_kinds(canvas, place, look), under = place.rows - (first - place.row);
        place_ = {first, place.column, std::max(1, under - 1), place.columns};
        if (over_time_) {
            curve_.show(desk_.plan().prediction(), stage(p));
            curve_.draw(canvas, {first, place.column, under, place.columns}, look);
            return;
        }
        double scale = p.memory_capacity_gib;
        for (const StageMemory& stage : p.memory_by_stage)
            scale = std::max(scale, stage.total());
        const int rows = std::max(1, under - 1), count = static_cast<int>(p.memory_by_stage.size());
        list_.fit(count, rows);
        const int bar = place.columns - 14;
        for (int i = 0; i < rows && list_.top + i < count; ++i) {
            const StageMemory& stage = p.memory_by_stage[static_cast<std::size_t>(list_.top + i)];
            const int row = first + i;
            std::vector<BarPart> parts;
            for (const MemoryLook& kind : kMemoryLooks)
                parts.push_back({stage.*kind.gib, kind.fill});
            canvas.text_in(row, place.column, 5, "P" + std::to_string(stage.stage),
                focused && list_.top + i == list_.selected ? kReverse : Style{});
            draw_bar(canvas, row, place.column + 5, bar, parts, scale, look);
            const bool over = p.memory_capacity_gib > 0 && stage.total() > p.memory_capacity_gib;
            canvas.text_in(row, place.column + 6 + bar, 8, view::gib(stage.total()),
                over ? style_of(view::Tone::bad) : Style{}, true);
            if (p.memory_capacity_gib > 0 && scale > p.memory_capacity_gib) // where the memory of the GPU ends
                canvas.put(
                    row, place.column + 5 + static_cast<int>(p.memory_capacity_gib / scale * bar), U'\u2502', kBold);
        }
        const int below = first + std::min(rows, count);
        if (below < place.row + place.rows && count > 0) {
            const StageMemory& stage = p.memory_by_stage[static_cast<std::size_t>(list_.selected)];
            std::string words = focused ? text_of("P%d", stage.stage) : "GiB per GPU";
            for (const MemoryLook& kind : kMemoryLooks) {
                if (focused)
                    words += text_of("  %s ", kind.label) + view::gib(stage.*kind.gib);
            }
            if (!focused && p.memory_capacity_gib > 0)
                words += ", " + view::gib(p.memory_capacity_gib) + " usable";
            draw_words(canvas, {below, place.column, place.row + place.rows - below, place.columns}, words,
                wrapped_items(words, place.columns));
        }
    }
    [[nodiscard]] std::vector<std::string> said(const Prediction& p) override
    {
        if (p.memory_by_stage.empty())
            return {};
        if (!over_time_)
            return {"Chosen: stage " + std::to_string(stage(p)) + "; enter tells why, m shows it over the step"};
        curve_.show(desk_.plan().prediction(), stage(p));
        return curve_.lines();
    }
    bool key(const Key& key, const Prediction& p) override
    {
        const int count = static_cast<int>(p.memory_by_stage.size());
        if (over_time_)
            curve_.show(desk_.plan().prediction(), stage(p));
        const std::optional<bool> again = over_time_ ? std::nullopt : list_.click(key, place_, count);
        if (key.is('m') && count > 0)
            over_time_ = !over_time_;
        else if ((key.code == Key::enter && count > 0) || again == true)
            desk_.open(std::make_unique<TreeView>(explain_stage(p, stage(p))));
        else
            return again || (over_time_ && curve_.key(key)) || list_.key(key, count);
        return true;
    }

private:
    // What each fill means, in a second row where one is too short; returns the rows.
    static int draw_kinds(Canvas& canvas, const Rect& place, const Look& look)
    {
        constexpr int kEnough = 8; // rows of the panel, for a second one
        int row = place.row, column = place.column;
        for (const MemoryLook& kind : kMemoryLooks) {
            if (column + width_of(kind.label) + 2 > place.column + place.columns) {
                if (row > place.row || place.rows < kEnough)
                    break;
                ++row;
                column = place.column;
            }
            column = draw_legend(canvas, row, column, kind.fill, kind.label, look);
        }
        return row + 1 - place.row;
    }
    [[nodiscard]] int stage(const Prediction& p) const // the chosen one
    {
        if (p.memory_by_stage.empty())
            return 0;
        const auto last = static_cast<int>(p.memory_by_stage.size()) - 1;
        return p.memory_by_stage[static_cast<std::size_t>(std::clamp(list_.selected, 0, last))].stage;
    }
    List list_;
    Rect place_; // of the stages, as drawn last
    MemoryOverTime curve_{desk_};
    bool over_time_ = false; // of the chosen stage, instead of all stages
};

class TimePanel : public Panel {
public:
    using Panel::Panel;
    [[nodiscard]] const char* name() const override { return "Step time"; }
    [[nodiscard]] std::string hints() const override { return "j k part  Enter why"; }
    [[nodiscard]] Table table(const Prediction& prediction) const override { return time_table(prediction); }
    [[nodiscard]] Picture picture(const Prediction& prediction) const override
    {
        return Picture([chart = Chart(view::step_time_chart(prediction))] { return chart; });
    }

    void draw(Canvas& canvas, const Rect& place, const Prediction& p, bool focused, const Look& look) override
    {
        const std::vector<view::PartTime> parts = view::part_times(p);
        double scale = 0;
        for (const view::PartTime& part : parts)
            scale = std::max(scale, part.exposed_s + part.hidden_s);
        const int count = static_cast<int>(parts.size()), rows = std::max(1, place.rows - 1);
        list_.fit(count, rows);
        place_ = {place.row, place.column, rows, place.columns};
        const int label = 17, figures = 18, bar = place.columns - label - figures - 2;
        const double step = p.step_time_s.value_or(0);
        for (int i = 0; i < rows && list_.top + i < count; ++i) {
            const view::PartTime& part = parts[static_cast<std::size_t>(list_.top + i)];
            const double exposed = part.exposed_s, hidden = part.hidden_s;
            const int row = place.row + i;
            canvas.text_in(
                row, place.column, label, part.label, focused && list_.top + i == list_.selected ? kReverse : Style{});
            const Fill fill = fill_of(part.part);
            if (bar > 3) {
                const BarPart shown[]{{exposed, fill}};
                draw_bar(canvas, row, place.column + label + 1, bar, shown, scale, look);
                // What hides behind compute, pale.
                const int from = static_cast<int>(exposed / scale * bar + 0.5);
                const int to = static_cast<int>((exposed + hidden) / scale * bar + 0.5);
                for (int at = from; at < to && scale > 0; ++at)
                    canvas.put(row, place.column + label + 1 + at, U'\u2591',
                        {look.colors && !look.few ? fill.ink : Ink::normal});
            }
            canvas.text_in(row, place.column + place.columns - figures, 10, view::duration(exposed), {}, true);
            canvas.text_in(row, place.column + place.columns - 7, 7,
                step > 0 ? view::percent(exposed / step) + " %" : "", kMuted, true);
        }
        const std::string words = "solid: adds up to the step; \u2591 overlaps compute";
        if (const int below = place.rows - std::min(rows, count); below > 0)
            draw_words(canvas, {place.row + place.rows - below, place.column, below, place.columns}, words,
                wrapped(words, place.columns));
    }
    [[nodiscard]] std::vector<std::string> said(const Prediction& p) override
    {
        const std::vector<view::PartTime> parts = view::part_times(p);
        list_.fit(static_cast<int>(parts.size()), static_cast<int>(parts.size()));
        if (parts.empty())
            return {};
        return {std::string("Chosen: ") + parts[static_cast<std::size_t>(list_.selected)].label + "; enter tells why"};
    }
    bool key(const Key& key, const Prediction& p) override
    {
        const std::vector<view::PartTime> parts = view::part_times(p);
        const int count = static_cast<int>(parts.size());
        const std::optional<bool> again = list_.click(key, place_, count);
        if ((key.code == Key::enter && count > 0) || again == true) {
            derive(p, "step_time_s", to_text(parts[static_cast<std::size_t>(list_.selected)].part));
            return true;
        }
        return again || list_.key(key, count);
    }

private:
    List list_;
    Rect place_; // of the parts, as drawn last
};
} // namespace

void Panel::derive(const Prediction& prediction, const std::string& figure, const std::string& part)
{
    open_derivation(desk_, prediction, figure, part);
}

void open_derivation(Desk& desk, const Prediction& prediction, const std::string& figure, const std::string& part)
{
    Expected<Explanation> tree = explain(prediction, figure);
    if (!tree) {
        desk.tell(tree.error().line(), view::Tone::bad);
        return;
    }
    for (const Explanation& child : tree->children) {
        if (!part.empty() && lower_case(child.label) == lower_case(part)) {
            desk.open(std::make_unique<TreeView>(child));
            return;
        }
    }
    desk.open(std::make_unique<TreeView>(*std::move(tree)));
}

std::unique_ptr<Panel> make_memory_panel(Desk& desk)
{
    return std::make_unique<MemoryPanel>(desk);
}

std::unique_ptr<Panel> make_time_panel(Desk& desk)
{
    return std::make_unique<TimePanel>(desk);
}

} // namespace fourfold::tui
