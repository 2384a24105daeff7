// SPDX-License-Identifier: GPL-3.0-or-later
// What the finder, the help and the guide offer on every page.
#include "app/tui/shell.h"
#include "app/tui/start_form.h"
#include "app/view/guide.h"
#include "core/base/text.h"

#include <utility>

namespace fourfold::tui {

std::vector<Command> Shell::everywhere()
{
    std::vector<Command> commands;
    for (std::size_t i = 0; i < pages_.size(); ++i)
        commands.push_back({std::string("Go to ") + pages_[i].name, std::to_string(i + 1),
            [this, i] { desk_.go(static_cast<PageId>(i)); }});
    commands.insert(commands.end(),
        {{"New plan from three answers", "N", [this] { desk_.open(std::make_unique<StartForm>(desk_)); }},
            {"New plan, the example that runs on this computer", "",
                [this] { desk_.succeeded(desk_.files().open_start_plan()); }},
            {"Open a plan, or what else the window opens", "o", [this] { desk_.files().ask_to_open(); }},
            {"Save plan", "Ctrl+S", [this] { desk_.files().save(); }},
            {"Save plan as", "w", [this] { desk_.files().ask_to_save_as(); }},
            {"Next open plan, or the one before", "{ }", [this] { desk_.tabs().step(1); }},
            {"Overview of the open plans", "", [this] { desk_.tabs().ask_which(); }},
            {"Copy the plan into a tab of its own", "Ctrl+T", [this] { desk_.tabs().copy(); }},
            {"Close the plan", "Ctrl+W", [this] { desk_.unsaved().close_plan(); }},
            {"Rename the plan", "F2", [this] { desk_.tabs().ask_to_rename(); }},
            {"Copy a figure, a table or the command", "y", [this] { desk_.terminal().ask_to_copy(page().copies()); }},
            {"What tells of alerts and ends of runs", "", [this] { desk_.terminal().ask_notice(); }},
            {"Undo", "u", [this] { desk_.undo(); }}, {"Redo", "Ctrl+R", [this] { desk_.redo(); }},
            {"Rehearse the plan", "R", [this] { desk_.rehearsals().rehearse(); }},
            {"Show the rehearsal", "", [this] { desk_.rehearsals().show(); }},
            {"Kernels of a step, and traces beside them", "K", [this] { show_kernels(); }},
            {"Draw the screen again", "Ctrl+L", [this] { redraws_ = true; }}, {"Keys", "?", [this] { open_help(); }},
            {"Change a key", "", [this] { ask_key(); }},
            {"All keys as at first", "",
                [this] {
                    desk_.keys().forget();
                    desk_.tell("The keys are as at first");
                }},
            {"User's guide", "", [this] { open_guide(); }}, {"Quit", "q", [this] { leave(); }}});
    for (Command& command : projects_->commands())
        commands.push_back(std::move(command));
    return commands;
}

std::unique_ptr<Picker> Shell::finder(bool of_all_pages)
{
    std::vector<Picker::Item> items;
    const auto add = [&](const std::vector<Command>& commands) {
        for (const Command& command : commands)
            items.push_back({command.text, desk_.keys().shown(command.keys), command.run});
    };
    add(page().commands());
    add(everywhere());
    for (std::size_t i = 0; of_all_pages && i < pages_.size(); ++i) {
        if (static_cast<std::size_t>(desk_.page()) == i)
            continue;
        for (const Command& command : pages_[i].page->commands())
            items.push_back({command.text, pages_[i].name, [this, i, run = command.run] {
                                 desk_.go(static_cast<PageId>(i));
                                 run();
                             }});
    }
    return std::make_unique<Picker>("Find", std::move(items));
}

void Shell::open_help()
{
    std::string text = "# This page\n";
    const auto add = [&](const std::vector<Command>& commands) {
        for (const Command& command : commands) {
            if (!command.keys.empty())
                text += text_of("%-10s", desk_.keys().shown(command.keys).c_str()) + command.text + "\n";
        }
    };
    text += desk_.keys().shown(page().hints()) + "\n";
    add(page().commands());
    text += "\n# Everywhere\n";
    add(everywhere());
    text += text_of("%-10s", "Ctrl+K") + "Find a command by some letters of it\n" + text_of("%-10s", "Ctrl+Z")
        + "Back to the shell; fg comes back here\n"
        + desk_.keyed("\nArrows or `h j k l` move, `g` and `G` go to the ends, Ctrl+F and Ctrl+B turn pages. The mouse "
                      "works too: a click chooses, a second one opens.")
        + " `fourfold guide terminal` says more.\n";
    desk_.open(std::make_unique<Pager>("Keys", text));
}

void Shell::ask_key()
{
    const auto ask = [this](const std::string& what, char32_t meant) {
        auto prompt = std::make_unique<Prompt>("Key for: " + what, "", [this, what, meant](const std::string& text) {
            const std::string word(trimmed(text));
            std::string_view rest = word;
            const char32_t letter = rest.empty() ? 0 : next_character(rest);
            if (letter == 0 || !rest.empty() || (letter >= U'0' && letter <= U'9') || letter == U'?')
                return std::string("expected one letter or sign; digits and ? stay what they are");
            desk_.keys().give(meant, letter);
            desk_.tell(what + ": " + word + "; the two keys have changed places");
            return std::string();
        });
        prompt->explain("A letter or a sign; it and the key of before change places, on all pages");
        desk_.open(std::move(prompt));
    };
    std::vector<Picker::Item> items;
    for (const std::vector<Command>& commands : {page().commands(), everywhere()}) {
        for (const Command& command : commands) {
            std::string_view rest = command.keys;
            const char32_t letter = rest.empty() ? 0 : next_character(rest);
            if (letter != 0 && rest.empty() && !(letter >= U'0' && letter <= U'9') && letter != U'?')
                items.push_back({command.text, desk_.keys().shown(command.keys),
                    [ask, what = command.text, letter] { ask(what, letter); }});
        }
    }
    desk_.open(std::make_unique<Picker>("Change the key of", std::move(items)));
}

void Shell::open_guide()
{
    const Expected<std::vector<view::GuideChapter>> chapters = view::guide_chapters();
    if (!chapters) {
        desk_.tell(chapters.error().line(), view::Tone::bad);
        return;
    }
    std::vector<Picker::Item> items;
    int here = 0;
    for (const view::GuideChapter& chapter : *chapters) {
        if (chapter.title == page_name())
            here = static_cast<int>(items.size());
        items.push_back({chapter.title, std::to_string(chapter.number), [this, chapter] {
                             constexpr std::size_t kColumns = 74;
                             desk_.open(std::make_unique<Pager>(
                                 chapter.title, printable_lines(view::guide_text(chapter.text, kColumns))));
                         }});
    }
    desk_.open(std::make_unique<Picker>("User's guide", std::move(items), here));
}

} // namespace fourfold::tui
