// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/column_choice.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

ColumnChoice::ColumnChoice(std::vector<int> order, std::function<std::string(int column)> title, std::set<int> hidden)
    : first_(std::move(order))
    , order_(first_)
    , first_hidden_(std::move(hidden))
    , hidden_(first_hidden_)
    , title_(std::move(title))
{
}

std::vector<int> ColumnChoice::columns() const
{
    std::vector<int> shown;
    std::ranges::copy_if(order_, std::back_inserter(shown), [this](int column) { return !hidden_.contains(column); });
    return shown;
}

void ColumnChoice::move(int column, int step)
{
    const auto at = std::ranges::find(order_, column) - order_.begin();
    const auto to = std::clamp<std::ptrdiff_t>(at + step, 0, std::ssize(order_) - 1);
    std::swap(order_[static_cast<std::size_t>(at)], order_[static_cast<std::size_t>(to)]);
}

void ColumnChoice::ask(Desk& desk)
{
    std::vector<Picker::Item> items;
    for (const int column : order_) {
        const bool hidden = hidden_.contains(column);
        items.push_back({name(column), hidden ? "hidden: Enter shows it" : "", [this, &desk, column, hidden] {
                             if (hidden) {
                                 hidden_.erase(column);
                                 return;
                             }
                             std::vector<Picker::Item> what{{"To the left", "", [this, column] { move(column, -1); }},
                                 {"To the right", "", [this, column] { move(column, 1); }}};
                             if (hidden_.size() + 1 < order_.size())
                                 what.push_back({"Hide it", "", [this, column] { hidden_.insert(column); }});
                             desk.open(std::make_unique<Picker>("Column " + name(column), std::move(what)));
                         }});
    }
    items.push_back({"All as at first", "", [this] {
                         order_ = first_;
                         hidden_ = first_hidden_;
                     }});
    desk.open(std::make_unique<Picker>("Columns", std::move(items)));
}

view::SavedView ColumnChoice::saved(int sorted, bool falling) const
{
    view::SavedView view;
    for (const int column : order_) {
        view.columns.push_back(name(column));
        if (hidden_.contains(column))
            view.hidden.push_back(name(column));
    }
    view.sorted = name(sorted);
    view.falling = falling;
    return view;
}

std::optional<int> ColumnChoice::column_of(const std::string& name) const
{
    const auto found = std::ranges::find_if(first_, [&](int column) { return this->name(column) == name; });
    return found == first_.end() ? std::nullopt : std::optional(*found);
}

// Columns that the view does not know stand where they do at first; those that are gone are left out.
void ColumnChoice::show(const view::SavedView& view)
{
    std::vector<int> order;
    std::set<int> hidden = first_hidden_;
    for (const std::string& name : view.columns) {
        const std::optional<int> column = column_of(name);
        if (!column || std::ranges::find(order, *column) != order.end())
            continue;
        order.push_back(*column);
        hidden.erase(*column);
        if (std::ranges::find(view.hidden, name) != view.hidden.end())
            hidden.insert(*column);
    }
    for (std::size_t i = 0; i < first_.size(); ++i) {
        if (std::ranges::find(order, first_[i]) == order.end())
            order.insert(order.begin() + static_cast<std::ptrdiff_t>(std::min(i, order.size())), first_[i]);
    }
    order_ = std::move(order);
    if (hidden.size() < first_.size())
        hidden_ = std::move(hidden);
}

} // namespace fourfold::tui
