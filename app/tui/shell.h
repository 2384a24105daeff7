// SPDX-License-Identifier: GPL-3.0-or-later
// The frame around the pages: tabs, the line of messages, keys that hold everywhere, the finder, the loop.
#pragma once

#include "app/tui/pages/page.h"
#include "app/tui/session.h"
#include "app/tui/terminal/screen.h"

#include <chrono>

namespace fourfold::tui {

class RunsPage;

class Shell {
public:
    // `kept`: what the session had; `goes_back`: to the page that it was on.
    Shell(Screen& screen, Desk& desk, Session session, const Json& kept, bool goes_back);
    void run();
    // A run that is followed here goes on; true where the program has to end at once for that.
    bool leave_run_behind();

private:
    void draw();
    void take(const Key& key);
    bool take_everywhere(const Key& key);
    void settle_overlays(); // those that are over go, and do what they were for
    void tick();
    void keep_session();
    [[nodiscard]] int patience() const; // milliseconds to wait for a key
    void open_finder();
    void open_help();
    void leave();
    [[nodiscard]] std::vector<Command> everywhere();
    [[nodiscard]] Page& page() { return *pages_[static_cast<std::size_t>(desk_.page())].page; }

    struct Entry {
        const char* name;
        std::unique_ptr<Page> page;
        int column = 0; // of its tab, as drawn last
    };
    Screen& screen_;
    Desk& desk_;
    Session session_;
    std::vector<Entry> pages_;
    RunsPage* runs_ = nullptr; // among them
    Canvas canvas_;
    std::optional<std::chrono::steady_clock::time_point> keep_at_;
};

} // namespace fourfold::tui
