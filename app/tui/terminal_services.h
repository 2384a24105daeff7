// SPDX-License-Identifier: GPL-3.0-or-later
// What the terminal does besides showing the screen: tells of a run to somebody who looks elsewhere, takes texts into
// its clipboard.
#pragma once

#include "app/view/plan/plan_editor.h"
#include "app/view/runs/run_notices.h"

#include <functional>
#include <string>
#include <vector>

namespace fourfold::tui {

class Desk;

// What a page offers to the clipboard.
struct Copy {
    std::string what; // "Table"
    std::function<std::string()> text;
};
// Besides: `fourfold VERB FILE ARGUMENTS`, where the plan's file says what is on show. One with changes does not.
void offer_command(std::vector<Copy>& offered, const std::string& what, const std::string& verb,
    const view::PlanEditor& plan, std::function<std::vector<std::string>()> arguments = {});

// How alerts and the end of a run are told to somebody who looks elsewhere.
enum class Notice { message, bell, none };

class TerminalServices {
public:
    explicit TerminalServices(Desk& desk) // outlives it
        : desk_(desk)
    {
    }

    // What the screen does for it; empty where there is none, the second also where the terminal has no clipboard.
    std::function<void(const std::string& title, const std::string& text, bool with_text)> send_notice;
    std::function<void(const std::string& text)> fill_clipboard;

    Notice notice = Notice::message;
    void notify(const view::RunNotice& told) const;
    void ask_notice();
    // Into the clipboard; tells how that went.
    void copy(const std::string& what, const std::string& text);
    void ask_to_copy(std::vector<Copy> offered); // at once where there is one

private:
    Desk& desk_;
};

} // namespace fourfold::tui
