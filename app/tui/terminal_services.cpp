// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal_services.h"

#include "app/tui/desk.h"
#include "app/tui/terminal/osc.h"
#include "app/view/command_line.h"
#include "app/view/text.h"
#include "core/base/text.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fourfold::tui {

void offer_command(std::vector<Copy>& offered, const std::string& what, const std::string& verb,
    const view::PlanEditor& plan, std::function<std::vector<std::string>()> arguments)
{
    if (plan.file().empty() || plan.is_dirty())
        return;
    offered.push_back({what, [verb, file = plan.file().string(), arguments = std::move(arguments)] {
                           std::vector<std::string> words{verb, file};
                           if (arguments)
                               std::ranges::move(arguments(), std::back_inserter(words));
                           return view::command_line(words);
                       }});
}

void TerminalServices::notify(const view::RunNotice& told) const
{
    if (send_notice && notice != Notice::none)
        send_notice(told.title, told.text, notice == Notice::message);
}

void TerminalServices::ask_notice()
{
    static constexpr std::pair<const char*, const char*> kNotices[]{
        {"A message of the terminal and its bell", "OSC 9 and 777"}, {"The bell alone", ""}, {"Nothing", ""}};
    std::vector<Picker::Item> items;
    for (std::size_t i = 0; i < std::size(kNotices); ++i)
        items.push_back({kNotices[i].first, kNotices[i].second, [this, i] {
                             notice = static_cast<Notice>(i);
                             desk_.tell(std::string("Of alerts and ends of runs: ") + lower_case(kNotices[i].first));
                         }});
    desk_.open(
        std::make_unique<Picker>("What tells of alerts and ends of runs", std::move(items), static_cast<int>(notice)));
}

void TerminalServices::copy(const std::string& what, const std::string& text)
{
    if (text.empty())
        desk_.tell(what + ": there is nothing to copy yet");
    else if (!fill_clipboard)
        desk_.tell(
            desk_.keyed("This terminal has no clipboard for programs; `e` writes into a file"), view::Tone::warning);
    else if (text.size() > kMostCopied)
        desk_.tell(what + " has " + view::grouped(double(text.size())) + " bytes; a terminal's clipboard takes "
                + view::grouped(double(kMostCopied)) + desk_.keyed(": `e` writes into a file"),
            view::Tone::warning);
    else {
        fill_clipboard(text);
        desk_.tell(what + " was sent to the clipboard of the terminal, if that takes it (OSC 52)");
    }
}

void TerminalServices::ask_to_copy(std::vector<Copy> offered)
{
    if (offered.empty()) {
        desk_.tell("There is nothing to copy yet");
        return;
    }
    if (offered.size() == 1) {
        copy(offered.front().what, offered.front().text());
        return;
    }
    std::vector<Picker::Item> items;
    for (Copy& one : offered)
        items.push_back({one.what, "", [this, what = one.what, text = std::move(one.text)] { copy(what, text()); }});
    desk_.open(std::make_unique<Picker>("Copy", std::move(items)));
}

} // namespace fourfold::tui
