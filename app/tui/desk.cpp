// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/desk.h"

#include "core/base/paths.h"
#include "core/base/text.h"

#include <algorithm>
#include <utility>

namespace fourfold::tui {

std::filesystem::path typed_path(const std::string& text)
{
    const std::string name(trimmed(text));
    if (name == "~" || name.starts_with("~/"))
        return home_folder() / name.substr(std::min<std::size_t>(name.size(), 2));
    return name;
}

Desk::Desk(view::Predictor::Predict predict, std::function<void()> wake)
    : wake_(std::move(wake))
    , predict_(std::move(predict))
    , tabs_(*this)
    , files_(*this)
    , unsaved_(*this)
    , exports_(*this)
    , terminal_(*this)
    , rehearsals_(*this)
{
}

void Desk::confirm(
    const std::string& title, const std::string& text, const std::string& yes_text, std::function<void()> yes)
{
    open(std::make_unique<Question>(
        title, text, std::vector<Question::Choice>{{U'y', yes_text, std::move(yes)}, {U'n', "no", {}}}));
}

void Desk::ask_for_path(const std::string& title, const std::string& explanation,
    std::function<std::string(const std::filesystem::path&)> take)
{
    auto prompt = std::make_unique<Prompt>(title, "", [take = std::move(take)](const std::string& text) {
        const std::filesystem::path path = typed_path(text);
        std::error_code error;
        return std::filesystem::exists(path, error) ? take(path) : printable(text) + ": there is no such file";
    });
    prompt->explain(explanation);
    open(std::move(prompt));
}

void Desk::tell(std::string text, view::Tone tone)
{
    message_ = printable(text, kUncut);
    message_tone_ = tone;
}

bool Desk::succeeded(const Expected<void>& outcome)
{
    if (!outcome)
        tell(outcome.error().line(), view::Tone::bad);
    return outcome.has_value();
}

void Desk::change(const std::string& path, const Json& value)
{
    const Expected<std::string> followed = plan().set_value(path, value);
    if (!followed)
        tell(followed.error().line(), view::Tone::bad);
    else if (!followed->empty())
        tell("Followed the model: " + *followed + keyed("; `u` takes all of it back"));
}

void Desk::apply(const std::string& text, Expected<Plan> changed)
{
    if (succeeded(plan().apply(text, std::move(changed))))
        tell(text + keyed("; `u` takes it back"), view::Tone::good);
}

void Desk::undo()
{
    const std::string text = plan().undo();
    tell(text.empty() ? "There is nothing to take back" : "Taken back: " + text);
}

void Desk::redo()
{
    const std::string text = plan().redo();
    tell(text.empty() ? "There is nothing to do again" : "Done again: " + text);
}

void Desk::tick()
{
    tabs_.receive();
    files_.look();
    rehearsals_.tick();
}

} // namespace fourfold::tui
