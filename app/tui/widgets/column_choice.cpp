// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/widgets/column_choice.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

ColumnChoice::ColumnChoice(std::vector<int> order, std::function<std::string(int column)> name)
    : first_(std::move(order))
    , order_(first_)
    , name_(std::move(name))
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
        items.push_back({name_(column), hidden ? "hidden: Enter shows it" : "", [this, &desk, column, hidden] {
                             if (hidden) {
                                 hidden_.erase(column);
                                 return;
                             }
                             std::vector<Picker::Item> what{{"To the left", "", [this, column] { move(column, -1); }},
                                 {"To the right", "", [this, column] { move(column, 1); }}};
                             if (hidden_.size() + 1 < order_.size())
                                 what.push_back({"Hide it", "", [this, column] { hidden_.insert(column); }});
                             desk.open(std::make_unique<Picker>("Column " + name_(column), std::move(what)));
                         }});
    }
    items.push_back({"All as at first", "", [this] {
                         order_ = first_;
                         hidden_.clear();
                     }});
    desk.open(std::make_unique<Picker>("Columns", std::move(items)));
}

Json ColumnChoice::state() const
{
    Json order = Json::array(), hidden = Json::array();
    for (const int column : order_)
        order.push_back(name_(column));
    for (const int column : hidden_)
        hidden.push_back(name_(column));
    return {{"order", order}, {"hidden", hidden}};
}

// Columns that are new since stand where they do at first; what is gone is left out.
void ColumnChoice::restore(const Json& state)
{
    const auto read = [&](const char* key) {
        std::vector<int> columns;
        const Json names = state.is_object() ? state.value(key, Json::array()) : Json::array();
        for (const Json& name : names) {
            const auto found
                = std::ranges::find_if(first_, [&](int column) { return name.is_string() && name == name_(column); });
            if (found != first_.end() && std::ranges::find(columns, *found) == columns.end())
                columns.push_back(*found);
        }
        return columns;
    };
    std::vector<int> order = read("order");
    for (std::size_t i = 0; i < first_.size(); ++i) {
        if (std::ranges::find(order, first_[i]) == order.end())
            order.insert(order.begin() + static_cast<std::ptrdiff_t>(std::min(i, order.size())), first_[i]);
    }
    order_ = std::move(order);
    const std::vector<int> hidden = read("hidden");
    if (hidden.size() < first_.size())
        hidden_ = {hidden.begin(), hidden.end()};
}

} // namespace fourfold::tui
