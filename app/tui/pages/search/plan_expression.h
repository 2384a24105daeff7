// SPDX-License-Identifier: GPL-3.0-or-later
// Expressions over the fields of plans, as they are typed: "tp <= 8 and memory_gib < 70".
#pragma once

#include "app/tui/desk.h"
#include "core/expression/expression.h"

#include <functional>
#include <optional>
#include <string>

namespace fourfold::tui {

// Nothing of an empty text; else a Problem with the place of what is wrong.
Expected<std::optional<Expression>> plan_expression(const std::string& text);
// Asks until what is typed can be used; Tab completes names.
void ask_for_expression(Desk& desk, const std::string& title, const std::string& now,
    std::function<void(const std::string& text, std::optional<Expression> read)> take);

} // namespace fourfold::tui
