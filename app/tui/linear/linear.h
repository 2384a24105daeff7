// SPDX-License-Identifier: GPL-3.0-or-later
// The planner for a screen reader, or a terminal that cannot move its cursor: pages are read out from the top, commands
// are typed as lines. The pages, their commands and their questions are those of the screen.
#pragma once

#include "app/tui/shell.h"

#include <map>

namespace fourfold::tui {

class Linear {
public:
    // Wakes run(); from any thread. Made before the desk, whose threads call it.
    class Bell {
    public:
        Bell();
        ~Bell();
        Bell(const Bell&) = delete;
        Bell& operator=(const Bell&) = delete;
        void ring() const;
        void silence() const; // takes what rang
        [[nodiscard]] int descriptor() const { return descriptor_; }

    private:
        int descriptor_;
    };

    Linear(Shell& shell, Desk& desk, const Bell& bell)
        : shell_(shell)
        , desk_(desk)
        , bell_(bell)
    {
    }
    void run(); // until the person leaves or the input ends

private:
    void read_out(bool all); // the page; or what is different from the last time
    void read_news(); // messages, and what pages tell as it comes
    void read_overlays(); // and leaves those that only tell something
    void take(const std::string& line);
    bool take_key(const std::string& line);
    void settle();
    std::optional<std::string> next_line(); // that is there already
    void await_answer(); // of the plan, for a moment
    bool wait(); // for a line or the bell; false where no line will come any more

    Shell& shell_;
    Desk& desk_;
    const Bell& bell_;
    std::string typed_; // lines that are not taken yet
    bool ended_ = false; // of the input
    std::map<const char*, std::vector<std::string>> read_; // by page, as read out last
    const char* page_ = nullptr; // of the last reading
    const Overlay* asked_ = nullptr;
    std::string question_, message_;
};

} // namespace fourfold::tui
