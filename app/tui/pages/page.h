// SPDX-License-Identifier: GPL-3.0-or-later
// One of the five modes: draws itself into its place, takes the keys that nobody else took.
#pragma once

#include "app/tui/desk.h"

namespace fourfold::tui {

class Page {
public:
    explicit Page(Desk& desk)
        : desk_(desk)
    {
    }
    virtual ~Page() = default;

    virtual void draw(Canvas& canvas, const Rect& place, const Look& look) = 0;
    virtual bool key(const Key& key) = 0; // false: not for this page
    // The keys that matter here, in one line.
    [[nodiscard]] virtual std::string hints() const = 0;
    // What is said at the bottom while there is no message.
    [[nodiscard]] virtual std::string remark() const { return {}; }
    [[nodiscard]] virtual std::vector<Command> commands() = 0;
    // The page as lines to be read out from the top: what it says, not where that stands.
    [[nodiscard]] virtual std::vector<std::string> lines() = 0;
    // What it says changes from moment to moment: it is read out when that is over, or asked for.
    [[nodiscard]] virtual bool is_moving() const { return false; }
    // A line that was typed, where it is more than a key: "tp 4". False: not for this page.
    virtual bool take_line(const std::string&) { return false; }
    // Lines that came since the last call, and are to be read out as they come.
    [[nodiscard]] virtual std::vector<std::string> news() { return {}; }
    // What it has for the clipboard, what is chosen first.
    [[nodiscard]] virtual std::vector<Copy> copies() { return {}; }
    // Takes what came from threads; called after each wake and every tick.
    virtual void tick() { }
    // Milliseconds after which tick() is wanted; negative: only when woken.
    [[nodiscard]] virtual int next_tick() const { return -1; }
    // What the next start shows again.
    [[nodiscard]] virtual Json state() const { return {}; }
    virtual void restore(const Json&) { }

protected:
    Desk& desk_;
};

} // namespace fourfold::tui
