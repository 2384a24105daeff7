// SPDX-License-Identifier: GPL-3.0-or-later
// The terminal, through ncurses: shows a canvas by sending what changed, gives keys, and leaves the terminal as it was
// found however the program ends. The one file that knows ncurses.
#pragma once

#include "app/tui/terminal/canvas.h"
#include "app/tui/terminal/flow.h"
#include "app/tui/terminal/key.h"
#include "app/tui/terminal/osc.h"
#include "core/base/expected.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fourfold::tui {

// The least that the pages need.
inline constexpr int kLeastRows = 16, kLeastColumns = 60;

struct ScreenOptions {
    bool colors = true; // false: NO_COLOR
    bool mouse = true;
};

class Screen {
public:
    // A Problem where there is no terminal, where its TERM is not known or lacks what a full screen needs, or where it
    // is too small; nothing was sent then.
    static Expected<std::unique_ptr<Screen>> open(const ScreenOptions& options);
    ~Screen(); // as the terminal was
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // What a person should know of it; may be empty.
    [[nodiscard]] const std::string& note() const { return note_; }
    [[nodiscard]] int rows() const;
    [[nodiscard]] int columns() const;
    [[nodiscard]] bool has_colors() const { return colors_ > 0; }
    [[nodiscard]] bool has_few_colors() const { return colors_ > 0 && colors_ < 256; }
    [[nodiscard]] bool is_utf8() const { return utf8_; }

    // Whether the terminal keeps up; where it does not, wait() returns when it may.
    bool is_ready();
    void show(const Canvas& canvas);
    void redraw(); // everything is sent again
    // To somebody who looks elsewhere: a bell and, `with_text`, a message of the terminal's, where it has any (OSC 9
    // and 777). Nothing where the terminal told that it has the focus.
    void notify(const std::string& title, const std::string& text, bool with_text);
    // Whether it may have a clipboard that a program can fill (OSC 52); no terminal says for sure.
    [[nodiscard]] bool has_clipboard() const { return osc_ && !console_; }
    void copy(const std::string& text); // at most kMostCopied bytes
    // Waits for a key, for wake() or for `milliseconds` (negative: for ever).
    void wait(int milliseconds);
    // The next key that is there already; code none where there is none.
    Key key();

    // Wakes wait(); from any thread.
    void wake();
    // A signal asked the program to end (SIGTERM, SIGHUP, SIGINT), or the terminal is gone.
    [[nodiscard]] bool is_ending() const;
    // Ctrl+Z: the terminal as it was, this program stopped; goes on here when it is continued.
    void suspend();
    // Runs `work` with the terminal as it was.
    template <typename Work>
    void outside(const Work& work)
    {
        leave();
        work();
        enter();
    }

private:
    Screen() = default;
    void enter();
    void leave();
    void hear_out();
    void send_counted(const std::string& text);
    static bool is_writable();
    void choose_colors(bool wanted);
    [[nodiscard]] unsigned attributes_of(const Style& style, short& pair);

    std::string note_;
    int colors_ = 0; // 0: none
    bool utf8_ = false, mouse_ = false;
    bool asks_ = false; // the terminal may be asked
    bool console_ = false; // of Linux
    std::string clears_line_; // sent on leaving a terminal that has one screen alone; else empty
    bool osc_ = false; // of xterm's kin, which leave out what they do not know
    std::optional<bool> focused_; // as it told last
    enum class WaitsFor { nothing, answer, room };
    WaitsFor frame_waits_ = WaitsFor::nothing;
    Flow flow_;
};

} // namespace fourfold::tui
