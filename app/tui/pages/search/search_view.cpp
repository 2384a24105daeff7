// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of the search shows: the question, the layouts with their Pareto front, or why there are none.
#include "app/tui/pages/search/search_page.h"
#include "app/view/search/advice_finder.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>

namespace fourfold::tui {

using view::Results;

void SearchPage::draw(Canvas& canvas, const Rect& place, const Look& look)
{
    int column = canvas.text(place.row, place.column + 1, desk_.keyed("`b`"), kHeading);
    column = canvas.text(place.row, column, " best by ", kMuted);
    column = canvas.text(place.row, column, objective_text(), kBold);
    column = canvas.text(place.row, column, desk_.keyed("  `n`"), kHeading);
    column = canvas.text(place.row, column, " on ", kMuted);
    column = canvas.text(place.row, column, gpus_text(), kBold);
    column = canvas.text(place.row, column, desk_.keyed("  `c`"), kHeading);
    column = canvas.text(place.row, column, " where ", kMuted);
    canvas.text_in(
        place.row, column, place.columns - column - 1, constraint_.empty() ? "anything" : constraint_, kBold);
    const std::string shown = shown_text();
    canvas.text_in(place.row + 1, place.column + 1, place.columns - 2,
        said_.empty() || shown.empty() ? said_ : shown + "; " + said_, kMuted);
    const Rect body{place.row + 2, place.column + 1, place.rows - 2, place.columns - 2};
    if (obstacle_) {
        draw_nothing(canvas, body);
        return;
    }
    if (results_.all().empty()) {
        if (!job_.is_running())
            canvas.text_in(body.row + 1, body.column, body.columns,
                desk_.keyed("`s` searches every layout that the plan's model, cluster and batch allow"), kMuted);
        return;
    }
    constexpr std::size_t kMostDots = 4000; // more do not fit into cells
    const bool wide = place.columns >= 150, high = body.rows >= 26;
    if (picture_.focused && !wide && !high) { // there is room for one of the two
        table_.hide();
        picture_.place
            = draw_plot(canvas, {body.row, body.column, body.rows - 1, body.columns}, front(kMostDots), look);
        if (const std::optional<std::size_t> id = chosen()) // below stands which layout it is
            canvas.text_in(body.row + body.rows - 1, body.column, body.columns, results_.certainty(*id), kMuted);
        return;
    }
    const int plot_rows = wide || !high ? 0 : std::clamp(body.rows / 3, 8, 18);
    const int plot_columns = wide ? std::clamp(place.columns / 4, 40, 60) : 0;
    draw_table(
        canvas, {body.row, body.column, body.rows - plot_rows - 1, body.columns - plot_columns - (wide ? 2 : 0)});
    picture_.place = {};
    if (wide)
        picture_.place = draw_plot(canvas,
            {body.row, body.column + body.columns - plot_columns, body.rows, plot_columns}, front(kMostDots), look);
    else if (high)
        picture_.place = draw_plot(
            canvas, {body.row + body.rows - plot_rows, body.column, plot_rows, body.columns}, front(kMostDots), look);
    if (const std::optional<std::size_t> id = chosen())
        canvas.text_in(body.row + body.rows - plot_rows - 1, body.column, body.columns - plot_columns,
            results_.certainty(*id), kMuted);
}

void SearchPage::draw_table(Canvas& canvas, const Rect& place)
{
    const std::vector<int> shown_columns = columns();
    std::vector<TableView::Column> heads;
    TableView::Content content;
    for (const int at : shown_columns) {
        std::string title = Results::title(at);
        if (title.starts_with("Tokens/s"))
            title = "TPS/GPU";
        std::replace(title.begin(), title.end(), '\n', ' ');
        heads.push_back({title,
            at != Results::pin && (at < Results::schedule || (at > Results::recompute && at != Results::confidence)),
            24});
        if (at == results_.sort_column())
            content.sorted = static_cast<int>(heads.size()) - 1;
    }
    table_.set_columns(std::move(heads));
    content.rows = static_cast<int>(results_.visible().size());
    content.falling = results_.is_falling();
    content.focused = !picture_.focused;
    content.text = [&](int row, int at) {
        return results_.text(
            results_.visible()[static_cast<std::size_t>(row)], shown_columns[static_cast<std::size_t>(at)]);
    };
    content.style = [&](int row, int at) {
        return style_of(results_.tone(
            results_.visible()[static_cast<std::size_t>(row)], shown_columns[static_cast<std::size_t>(at)]));
    };
    table_.draw(canvas, place, content);
}

void SearchPage::draw_nothing(Canvas& canvas, const Rect& place)
{
    int row = place.row + 1;
    for (const std::string& text : {obstacle_->message, obstacle_->hint}) {
        for (const std::string& line : wrapped(text, place.columns))
            canvas.text(row++, place.column, line, text == obstacle_->message ? style_of(view::Tone::bad) : Style{});
    }
    ++row;
    if (cure_work_.is_running()) {
        canvas.text(row, place.column, "Looking for what would help...", kMuted);
        return;
    }
    canvas.text(row++, place.column,
        cures_.empty() ? "No change was found that would do" : "Would do (Enter puts it into the plan):", kMuted);
    cure_list_.fit(static_cast<int>(cures_.size()), place.rows);
    for (std::size_t i = 0; i < cures_.size(); ++i, ++row) {
        canvas.text_in(row, place.column + 2, place.columns - 2, view::advice_words(cures_[i]));
        if (static_cast<int>(i) == cure_list_.selected)
            canvas.restyle({row, place.column, 1, place.columns}, kReverse);
    }
}

} // namespace fourfold::tui
