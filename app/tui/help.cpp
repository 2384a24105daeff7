// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/help.h"

#include "app/view/guide.h"
#include "core/base/text.h"

#include <utility>

namespace fourfold::tui {

namespace {
// A line a command; those that begin alike and have the same keys share one: "[ ]  Show Memory, Step time, Timeline".
std::string key_lines(const KeyMap& keys, const std::vector<Command>& commands)
{
    const auto first_word = [](const std::string& text) { return text.substr(0, text.find(' ') + 1); };
    std::string lines;
    const Command* before = nullptr;
    for (const Command& command : commands) {
        if (command.keys.empty())
            continue;
        const std::string word = first_word(command.text);
        if (before != nullptr && !word.empty() && before->keys == command.keys && first_word(before->text) == word)
            lines.insert(lines.size() - 1, ", " + command.text.substr(word.size()));
        else
            lines += text_of("%-10s", keys.shown(command.keys).c_str()) + command.text + "\n";
        before = &command;
    }
    return lines;
}
} // namespace

void show_keys(
    Desk& desk, const std::string& hints, const std::vector<Command>& of_page, const std::vector<Command>& everywhere)
{
    constexpr int kColumns = 74; // of the smallest usual screen
    std::string text = "# This page\n" + joined(wrapped_items(desk.keys().shown(hints), kColumns), "\n") + "\n"
        + key_lines(desk.keys(), of_page) + "\n# Everywhere\n" + key_lines(desk.keys(), everywhere);
    text += text_of("%-10s", "Ctrl+K") + "Find a command by some letters of it\n" + text_of("%-10s", "Ctrl+Z")
        + "Back to the shell; fg comes back here\n"
        + desk.keyed("\nArrows or `h j k l` move, `g` and `G` go to the ends, Ctrl+F and Ctrl+B turn pages. The mouse "
                     "works too: a click chooses, a second one opens.")
        + " `fourfold guide terminal` says more.\n";
    desk.open(std::make_unique<Pager>("Keys", text));
}

void ask_to_change_key(Desk& desk, const std::vector<Command>& of_page, const std::vector<Command>& everywhere)
{
    const auto ask = [&desk](const std::string& what, char32_t meant) {
        auto prompt = std::make_unique<Prompt>("Key for: " + what, "", [&desk, what, meant](const std::string& text) {
            const std::string word(trimmed(text));
            std::string_view rest = word;
            const char32_t letter = rest.empty() ? 0 : next_character(rest);
            if (letter == 0 || !rest.empty() || (letter >= U'0' && letter <= U'9') || letter == U'?')
                return std::string("expected one letter or sign; digits and ? stay what they are");
            desk.keys().give(meant, letter);
            desk.tell(what + ": " + word + "; the two keys have changed places");
            return std::string();
        });
        prompt->explain("A letter or a sign; it and the key of before change places, on all pages");
        desk.open(std::move(prompt));
    };
    std::vector<Picker::Item> items;
    for (const std::vector<Command>* commands : {&of_page, &everywhere}) {
        for (const Command& command : *commands) {
            std::string_view rest = command.keys;
            const char32_t letter = rest.empty() ? 0 : next_character(rest);
            if (letter != 0 && rest.empty() && !(letter >= U'0' && letter <= U'9') && letter != U'?')
                items.push_back({command.text, desk.keys().shown(command.keys),
                    [ask, what = command.text, letter] { ask(what, letter); }});
        }
    }
    desk.open(std::make_unique<Picker>("Change the key of", std::move(items)));
}

void show_guide(Desk& desk, const std::string& chapter)
{
    const Expected<std::vector<view::GuideChapter>> chapters = view::guide_chapters();
    if (!chapters) {
        desk.tell(chapters.error().line(), view::Tone::bad);
        return;
    }
    std::vector<Picker::Item> items;
    int here = 0;
    for (const view::GuideChapter& one : *chapters) {
        if (one.title == chapter)
            here = static_cast<int>(items.size());
        items.push_back(
            {one.title, std::to_string(one.number), [&desk, one] {
                 constexpr std::size_t kColumns = 74;
                 desk.open(std::make_unique<Pager>(one.title, printable_lines(view::guide_text(one.text, kColumns))));
             }});
    }
    desk.open(std::make_unique<Picker>("User's guide", std::move(items), here));
}

} // namespace fourfold::tui
