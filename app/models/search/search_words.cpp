// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/search/search_words.h"

#include "app/models/shared/text.h"

#pragma push_macro("slots")
#undef slots
#include "app/view/search/search_words.h"
#pragma pop_macro("slots")

namespace fourfold::ui {

std::vector<std::pair<QString, QString>> objectiveChoices()
{
    std::vector<std::pair<QString, QString>> choices;
    for (const view::ObjectiveChoice& choice : view::objective_choices())
        choices.emplace_back(exactText(choice.field), exactText(choice.label));
    return choices;
}

QString searchProgressText(const SearchCounts& counts, std::optional<double> secondsLeft)
{
    return fromUtf8(view::search_progress_text(counts, secondsLeft));
}

QString searchOutcomeText(const SearchResult& result)
{
    return fromUtf8(view::search_outcome_text(result));
}

} // namespace fourfold::ui
