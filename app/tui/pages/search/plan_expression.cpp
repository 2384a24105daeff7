// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/search/plan_expression.h"

#include "core/base/text.h"
#include "core/search/fields.h"

#include <utility>

namespace fourfold::tui {

Expected<std::optional<Expression>> plan_expression(const std::string& text)
{
    if (trimmed(text).empty())
        return std::optional<Expression>();
    FOURFOLD_TRY(Expression expression, parse_expression(text, ValueKind::truth, plan_field_set(), "expression"));
    return std::optional(std::move(expression));
}

void ask_for_expression(Desk& desk, const std::string& title, const std::string& now,
    std::function<void(const std::string& text, std::optional<Expression> read)> take)
{
    auto prompt = std::make_unique<Prompt>(title, now, [take = std::move(take)](const std::string& text) {
        Expected<std::optional<Expression>> read = plan_expression(text);
        if (!read)
            return read.error().line();
        take(std::string(trimmed(text)), *std::move(read));
        return std::string();
    });
    prompt->explain("For example tp <= 8 and memory_gib < 70 and recompute != full; `fourfold search --fields` lists "
                    "the names");
    prompt->complete([](const std::string& text, std::size_t cursor) -> Prompt::Offer {
        const Completions found = complete_expression(text, cursor, plan_field_set());
        return {found.begin, found.words};
    });
    desk.open(std::move(prompt));
}

} // namespace fourfold::tui
