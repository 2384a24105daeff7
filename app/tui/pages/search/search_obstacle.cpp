// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/search/search_obstacle.h"

#include "app/view/plan/edits.h"
#include "app/view/search/advice_finder.h"
#include "core/plan/plan_edit.h"
#include "core/report/views/obstacle.h"
#include "core/search/cures.h"

#include <utility>

namespace fourfold::tui {

SearchObstacle::SearchObstacle(Desk& desk)
    : desk_(desk)
    , work_(desk.wake())
{
}

void SearchObstacle::show(const SearchRequest& request, const SearchResult& result)
{
    constexpr int kMostCures = 3;
    problem_ = obstacle(request, result);
    asked_ = request.plan;
    work_.start([this, request, result](const std::stop_token& stop) -> view::Background::Done {
        std::vector<Advice> found = cures(request, result, kMostCures, stop);
        return [this, found = std::move(found)] { cures_ = found; };
    });
}

void SearchObstacle::forget()
{
    work_.cancel();
    cures_.clear();
    problem_.reset();
}

void SearchObstacle::draw(Canvas& canvas, const Rect& place)
{
    int row = place.row + 1;
    for (const std::string& text : {problem_->message, problem_->hint}) {
        for (const std::string& line : wrapped(text, place.columns))
            canvas.text(row++, place.column, line, text == problem_->message ? style_of(view::Tone::bad) : Style{});
    }
    ++row;
    if (work_.is_running()) {
        canvas.text(row, place.column, "Looking for what would help...", kMuted);
        return;
    }
    canvas.text(row++, place.column,
        cures_.empty() ? "No change was found that would do" : "Would do (Enter puts it into the plan):", kMuted);
    list_.fit(static_cast<int>(cures_.size()), place.rows);
    for (std::size_t i = 0; i < cures_.size(); ++i, ++row) {
        canvas.text_in(row, place.column + 2, place.columns - 2, view::advice_words(cures_[i]));
        if (static_cast<int>(i) == list_.selected)
            canvas.restyle({row, place.column, 1, place.columns}, kReverse);
    }
}

std::vector<std::string> SearchObstacle::lines() const
{
    std::vector<std::string> lines{problem_->line()};
    for (std::size_t i = 0; i < cures_.size(); ++i)
        lines.push_back(std::string(static_cast<int>(i) == list_.selected ? "Chosen, " : "")
            + "would do: " + view::advice_words(cures_[i]));
    return lines;
}

void SearchObstacle::apply_chosen()
{
    const auto index = static_cast<std::size_t>(list_.selected);
    const view::PlanState& state = desk_.plan().state();
    if (index < cures_.size() && state.resolved())
        desk_.apply("Applied " + cures_[index].edit.summary,
            view::with_fields(state.plan(), changed_fields(asked_, cures_[index].edit.plan)));
}

} // namespace fourfold::tui
