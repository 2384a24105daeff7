// SPDX-License-Identifier: GPL-3.0-or-later
// Which columns of a table are on show, and in which order, as a person chose them.
#pragma once

#include "app/tui/desk.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace fourfold::tui {

class ColumnChoice {
public:
    // `order`: all columns, as they stand at first; `name`: of one, kept by it.
    ColumnChoice(std::vector<int> order, std::function<std::string(int column)> name);
    // What is on show; never nothing.
    [[nodiscard]] std::vector<int> columns() const;
    void ask(Desk& desk); // which one, then what becomes of it
    [[nodiscard]] Json state() const;
    void restore(const Json& state);

private:
    void move(int column, int step);

    std::vector<int> first_, order_;
    std::set<int> hidden_;
    std::function<std::string(int)> name_;
};

} // namespace fourfold::tui
