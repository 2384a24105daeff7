// SPDX-License-Identifier: GPL-3.0-or-later
// The frame around the pages: tabs, the line of messages, keys that hold everywhere, the finder, the loop of a screen.
#pragma once

#include "app/tui/kernels_box.h"
#include "app/tui/pages/page.h"
#include "app/tui/projects.h"
#include "app/tui/session.h"
#include "app/tui/terminal/screen.h"

#include <chrono>

namespace fourfold::tui {

class ComparePage;
class HistoryPage;
class RunsPage;

class Shell {
public:
    // `kept`: what the session had; `goes_back`: to the page that it was on.
    Shell(Desk& desk, Session session, const Json& kept, bool goes_back);
    void run(Screen& screen); // until the person leaves

    // --- what any loop does, with a screen or without ---
    void tick(); // takes what came from threads, and keeps the session where that is due
    void take(const Key& key);
    void settle_overlays(); // those that are over go, and do what they were for
    [[nodiscard]] int patience() const; // milliseconds after which tick() is wanted; negative: only when woken
    void keep_session();
    [[nodiscard]] Page& page() { return *pages_[static_cast<std::size_t>(desk_.page())].page; }
    [[nodiscard]] const char* page_name() const { return pages_[static_cast<std::size_t>(desk_.page())].name; }
    // Of all commands that the page and the program have, and, behind them, the other pages.
    [[nodiscard]] std::unique_ptr<Picker> finder(bool of_all_pages = true);
    // A run that is followed here goes on; true where the program has to end at once for that.
    bool leave_run_behind();

private:
    void draw(Screen& screen);
    void draw_hints(int row);
    void draw_message(int last);
    void take_over_page(const Key& key); // of the overlay on top
    bool take_everywhere(const Key& key);
    void show_help();
    void leave();
    void open_other(const view::DroppedItem& item);
    void show_kernels();
    [[nodiscard]] std::vector<Command> everywhere();

    struct Entry {
        const char* name;
        std::unique_ptr<Page> page;
        int column = 0; // of its tab, as drawn last
    };
    Desk& desk_;
    Session session_;
    std::vector<Entry> pages_;
    ComparePage* compare_ = nullptr; // among them
    RunsPage* runs_ = nullptr;
    HistoryPage* history_ = nullptr;
    std::unique_ptr<Projects> projects_;
    Kernels kernels_;
    Canvas canvas_;
    int tabs_end_ = 0; // column behind the last one, as drawn last
    bool redraws_ = false; // all of the screen is wanted again
    bool told_over_ = false; // the message is about what stands over the page
    std::optional<std::chrono::steady_clock::time_point> keep_at_;
};

} // namespace fourfold::tui
