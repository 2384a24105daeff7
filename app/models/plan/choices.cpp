// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/plan/choices.h"

#include "app/models/shared/text.h"
#include "app/view/plan/choices.h"

namespace fourfold::ui {

std::vector<Choice> choicesOf(const std::string& path)
{
    std::vector<Choice> choices;
    for (const view::Choice& choice : view::choices_of(path))
        choices.push_back({choice.spelling, fromUtf8(choice.label)});
    return choices;
}

QString choiceLabel(const std::string& path, const std::string& spelling)
{
    return fromUtf8(view::choice_label(path, spelling));
}

QString shortChoiceLabel(const std::string& path, const std::string& spelling)
{
    return fromUtf8(view::short_choice_label(path, spelling));
}

} // namespace fourfold::ui
