// SPDX-License-Identifier: GPL-3.0-or-later
// A terminal for tests: a program on a pseudo-terminal, its keys, and the cells that it drew, as xterm shows them.
#pragma once

#include "app/tui/terminal/canvas.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace fourfold::test {

struct TerminalCell {
    char32_t character = U' ';
    std::string look; // the SGR parameters in force: "1;38;5;32"
};

// What bytes do to a screen; knows what ncurses sends to xterm.
class TerminalGrid {
public:
    TerminalGrid(int rows, int columns);
    void feed(const std::string& bytes);
    void resize(int rows, int columns);
    [[nodiscard]] std::string text() const; // rows without blanks at their ends
    [[nodiscard]] std::string row(int row) const;
    // A letter a cell for how it looks: '.' plain, 'r' reverse, 'b' bold, 'u' underlined, 'c' in a colour.
    [[nodiscard]] std::string looks() const;
    [[nodiscard]] bool has_colors() const;
    [[nodiscard]] bool in_alternate_screen() const { return alternate_; }
    [[nodiscard]] bool shows_cursor() const { return cursor_shown_; }
    // What it answers to what it was asked (status reports) since the last call.
    [[nodiscard]] std::string take_answers() { return std::exchange(answers_, {}); }
    // What it was asked for besides drawing: the bodies of OSC strings, and of others between ESC P and ESC \.
    [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
    [[nodiscard]] int bells() const { return bells_; }
    // Where a text begins, from the row `from` on: row and column, in cells; -1, -1: nowhere.
    [[nodiscard]] std::pair<int, int> place_of(const std::string& text, int from = 0) const;

private:
    void control(const std::string& sequence);
    void put(char32_t character);
    void line_feed();
    void scroll(int top, int bottom, int lines);
    TerminalCell& at(int row, int column) { return cells_[static_cast<std::size_t>(row * columns_ + column)]; }
    [[nodiscard]] const TerminalCell& at(int row, int column) const
    {
        return cells_[static_cast<std::size_t>(row * columns_ + column)];
    }
    void set_look(const std::vector<int>& parameters);
    [[nodiscard]] std::string look() const;

    int rows_, columns_, row_ = 0, column_ = 0, top_ = 0, bottom_, saved_row_ = 0, saved_column_ = 0;
    bool wrap_next_ = false, alternate_ = false, cursor_shown_ = true;
    bool bold_ = false, reverse_ = false, underline_ = false;
    std::string ink_, paper_;
    char32_t last_ = U' ';
    std::string pending_; // of a sequence that is not whole yet
    std::size_t take_string(std::size_t at); // from ESC ] or ESC P on: behind its end; 0: it is not whole yet

    std::string answers_;
    std::vector<std::string> requests_;
    int bells_ = 0;
    std::vector<TerminalCell> cells_;
};

// A program on a pseudo-terminal of its own.
class TerminalProgram {
public:
    struct Options {
        int rows = 24, columns = 80;
        std::map<std::string, std::string> environment; // besides the test's own
    };
    TerminalProgram(const std::vector<std::string>& command, const Options& options);
    ~TerminalProgram();
    TerminalProgram(const TerminalProgram&) = delete;
    TerminalProgram& operator=(const TerminalProgram&) = delete;

    void type(const std::string& keys);
    void type_unread(const std::string& keys); // reads nothing meanwhile, as a terminal that hangs
    void keep_answers(bool kept); // of the terminal, to what it is asked; false: those that were kept go now
    // Reads until the screen has `text`; false after `patience`.
    bool shows(const std::string& text, std::chrono::milliseconds patience = std::chrono::seconds(20));
    bool hides(const std::string& text, std::chrono::milliseconds patience = std::chrono::seconds(20));
    // The same of all that came: also what has left the screen since, as lines that are read out do.
    bool says(const std::string& text, std::chrono::milliseconds patience = std::chrono::seconds(20));
    // Reads until it was asked for something that has `text`.
    bool asks_for(const std::string& text, std::chrono::milliseconds patience = std::chrono::seconds(20));
    // As xterm tells of the mouse: the button goes down there, and is released at the last place.
    void click(int row, int column);
    void drag(int row, int from, int to);
    // Reads until nothing comes for a moment; the bytes that came.
    std::size_t settle(std::chrono::milliseconds quiet = std::chrono::milliseconds(400));
    void resize(int rows, int columns);
    void send_signal(int number) const;
    void hang_up(); // the terminal goes away
    // The exit status; -signal; -1000 where it does not end in time. Reads meanwhile, unless it `hangs`.
    int wait(std::chrono::milliseconds patience = std::chrono::seconds(20), bool hangs = false);
    // Reads what comes within `patience`; whether something did.
    bool read_some(std::chrono::milliseconds patience);
    [[nodiscard]] pid_t process() const { return process_; }
    [[nodiscard]] const TerminalGrid& grid() const { return grid_; }
    [[nodiscard]] bool echoes() const; // the terminal is in its ordinary mode
    [[nodiscard]] const std::string& bytes() const { return bytes_; } // all that came

private:
    bool reads_until(const std::function<bool()>& holds, std::chrono::milliseconds patience);
    void answer();

    TerminalGrid grid_;

    std::string bytes_, answers_;
    bool keeps_answers_ = false;
    int terminal_ = -1;
    pid_t process_ = -1;
};

} // namespace fourfold::test
