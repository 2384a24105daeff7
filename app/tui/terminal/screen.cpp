// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/screen.h"

#include "app/tui/terminal/glyphs.h"
#include "app/tui/terminal/palette.h"
#include "app/tui/terminal/raw_input.h"
#include "app/tui/terminal/signals.h"
#include "app/tui/terminal/types.h"
#include "core/base/text.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <utility>
#include <vector>

// Of <term.h>, which has words like `columns` as macros.
extern "C" {
char* tigetstr(const char* name);
}

namespace fourfold::tui {

namespace {
constexpr int kPasteBegin = KEY_MAX - 1, kAnswer = KEY_MAX - 2, kFocusIn = KEY_MAX - 3, kFocusOut = KEY_MAX - 4,
              kMouse = KEY_MAX - 5, kOldMouse = KEY_MAX - 6;
constexpr const char* kQuestion = "\033[5n"; // DSR: is all well?
constexpr const char* kModesOn = "\033[?2004h\033[?1004h"; // a paste is told apart from typing; the focus is told
// The mouse, also while its button is held, with numbers of any size. Not by curses, which takes a press and what
// follows it at once for one event: over a slow line clicks would be lost. On the Linux console the mouse is gpm's, by
// curses.
constexpr const char* kMouseOn = "\033[?1000h\033[?1002h\033[?1006h";
constexpr const char* kModesOff = "\033[?2004l\033[?1004l\033[?1006l\033[?1002l\033[?1000l";

// Of the loop alone.
struct Terminal {
    bool resized = false, stopped = false, continued = false;
    Canvas shown;
};
Terminal terminal;

constexpr int kMostCells = 4'000'000; // of a screen; a terminal that says more of itself is none to draw on

// What to send for it, without the pauses ("$<5>") that terminals of glass needed; empty: the terminal has none.
std::string capability(const char* name)
{
    const char* const text = ::tigetstr(name);
    std::string sent = text == nullptr || text == reinterpret_cast<const char*>(-1) ? "" : text;
    for (std::size_t at = 0; (at = sent.find("$<", at)) != std::string::npos;)
        sent.erase(at, sent.find('>', at) - at + 1);
    return sent;
}

// Sends a text around curses, at once.
void send(const std::string& text)
{
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

bool is_wild(const winsize& size)
{
    return long(size.ws_row) * long(size.ws_col) > kMostCells;
}

Problem no_terminal(const std::string& message, const std::string& hint)
{
    return {ProblemCode::unsupported, message, hint, "terminal"};
}

// About how many bytes a frame is, of the cells that changed.
struct Sent {
    std::size_t bytes = 0;
    int row = -1, column = -1; // behind the last cell
    Style style;
    void add(int at_row, int at_column, const Cell& cell)
    {
        constexpr std::size_t kMove = 8, kLook = 20; // of xterm
        bytes += cell.character < 0x80 ? 1 : cell.character < 0x800 ? 2 : 3;
        bytes += (row == at_row && column == at_column ? 0 : kMove) + (style == cell.style ? 0 : kLook);
        row = at_row;
        column = at_column + width_of(cell.character);
        style = cell.style;
    }
};
} // namespace

Expected<std::unique_ptr<Screen>> Screen::open(const ScreenOptions& options)
{
    if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
        return no_terminal("the planner needs a terminal to read from and to write to",
            "in scripts use the other commands, see fourfold --help");
    std::setlocale(LC_CTYPE, "");
    const char* const type = std::getenv("TERM");
    const std::string known = known_type(type);
    if (known.empty())
        return no_terminal("TERM=" + printable(type == nullptr ? "" : type) + " names no terminal that is known here",
            "set TERM to what your terminal is, for example xterm-256color");
    if (capability("cup").empty() || capability("ed").empty())
        return no_terminal("TERM=" + printable(type) + " is a terminal that cannot move its cursor",
            "set TERM to what your terminal is, for example xterm-256color");
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0
        && (size.ws_row < kLeastRows || size.ws_col < kLeastColumns))
        return no_terminal(text_of("the terminal has %d x %d characters, the planner needs %d x %d", size.ws_col,
                               size.ws_row, kLeastColumns, kLeastRows),
            "make the window larger, or use the commands (fourfold --help)");
    if (is_wild(size))
        return no_terminal(text_of("the terminal says that it has %d x %d characters", size.ws_col, size.ws_row),
            "set its size, for example with stty rows 24 cols 80");
    if (size.ws_row > 0) { // the terminal knows its size better; ncurses ends at a wild one
        ::unsetenv("LINES");
        ::unsetenv("COLUMNS");
    }
    if (::pipe2(signals_held.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return Problem{ProblemCode::io, std::string("no pipe can be made: ") + std::strerror(errno), "", "terminal"};
    ::tcgetattr(STDIN_FILENO, &signals_held.found);
    handle_signals(); // before curses, which leaves those alone that are taken
    if (std::getenv("ESCDELAY") == nullptr)
        ::set_escdelay(25);
    if (::newterm(known.c_str(), stdout, stdin) == nullptr) {
        forget_signals();
        return no_terminal("TERM=" + printable(type) + " cannot be used", "set TERM to what your terminal is");
    }
    std::unique_ptr<Screen> screen(new Screen);
    if (known != type)
        screen->note_ = "TERM=" + printable(type) + " is not known on this host: taken for " + known;
    screen->utf8_ = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
    write_in_ascii(!screen->utf8_);
    screen->mouse_ = options.mouse;
    screen->console_ = std::string_view(type).starts_with("linux");
    screen->choose_colors(options.colors);
    const bool has_two = !capability("rmcup").empty(); // the shell's screen comes back by itself
    screen->clears_line_ = has_two ? std::string() : capability("el");
    const std::string restore = kModesOff + capability("sgr0") + capability("op") + capability("cnorm")
        + capability("rmkx") + capability(has_two ? "rmcup" : "clear");
    signals_held.restore_size = std::min(restore.size(), sizeof signals_held.restore);
    std::memcpy(signals_held.restore, restore.data(), signals_held.restore_size);
    ::define_key("\033[200~", kPasteBegin);
    ::define_key(kAnswerText.data(), kAnswer);
    ::define_key("\033[I", kFocusIn);
    ::define_key("\033[O", kFocusOut);
    screen->osc_ = !capability("kmous").empty();
    screen->asks_ = capability("cup").starts_with("\033["); // of the others some write it down
    ::raw();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    if (options.mouse && screen->osc_) { // after keypad(), which takes them for its own
        ::define_key("\033[<", kMouse);
        ::define_key("\033[M", kOldMouse);
    }
    ::nodelay(stdscr, TRUE);
    ::meta(stdscr, TRUE);
    screen->enter();
    return screen;
}

Screen::~Screen()
{
    leave();
    forget_signals();
    ::delscreen(::set_term(nullptr));
    for (int& end : signals_held.pipe) {
        ::close(end);
        end = -1;
    }
    terminal.shown = {};
    signals_held.restore_size = 0;
}

void Screen::enter()
{
    signals_held.entered = true;
    ::curs_set(0);
    ::refresh();
    send(kModesOn);
    if (mouse_ && osc_) {
        send(kMouseOn);
    } else if (mouse_) {
        ::mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
        ::mouseinterval(0);
    }
    focused_.reset();
    redraw();
}

void Screen::leave()
{
    if (is_ending() && !is_writable())
        drop_unread();
    send(kModesOff);
    hear_out();
    ::endwin();
    send(clears_line_); // the last one, where the shell goes on
    signals_held.entered = false;
}

void Screen::choose_colors(bool wanted)
{
    colors_ = 0;
    if (!wanted || !::has_colors() || ::start_color() != OK)
        return;
    ::use_default_colors();
    colors_ = COLORS;
}

// What was asked is answered to this program, not to the shell behind it.
void Screen::hear_out()
{
    constexpr std::chrono::seconds kPatience{1};
    const auto begin = Flow::Clock::now();
    while (flow_.has_questions() && Flow::Clock::now() - begin < kPatience) {
        pollfd source{STDIN_FILENO, POLLIN, 0};
        if (::poll(&source, 1, 50) > 0 && (source.revents & (POLLHUP | POLLERR)) != 0)
            break;
        while (key().code != Key::none) { }
    }
    flow_.forget();
}

void Screen::send_counted(const std::string& text)
{
    send(text);
    flow_.sent(text.size());
}

void Screen::notify(const std::string& title, const std::string& text, bool with_text)
{
    if (focused_ == true || !is_writable())
        return;
    send_counted((with_text && has_clipboard() ? notification(title, text, multiplexer_here()) : std::string()) + "\a");
}

void Screen::copy(const std::string& text)
{
    send_counted(clipboard(text, multiplexer_here()));
}

bool Screen::is_writable()
{
    pollfd sink{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&sink, 1, 0) > 0; // gone counts as well
}

bool Screen::is_ready()
{
    frame_waits_ = !flow_.is_ready(Flow::Clock::now()) ? WaitsFor::answer
        : !is_writable()                               ? WaitsFor::room
                                                       : WaitsFor::nothing;
    return frame_waits_ == WaitsFor::nothing;
}

int Screen::rows() const
{
    return LINES;
}

int Screen::columns() const
{
    return COLS;
}

unsigned Screen::attributes_of(const Style& style, short& pair)
{
    attr_t attributes = A_NORMAL;
    pair = 0;
    bool may_be_bold = true;
    if (colors_ > 0 && (style.ink != Ink::normal || style.paper != Ink::normal)) {
        const CellColors colors = colors_of(style.ink, style.paper, colors_);
        if (colors.ink >= 0 || colors.paper >= 0)
            pair = static_cast<short>(::alloc_pair(colors.ink, colors.paper));
        if (colors.bold == CellColors::Bold::always)
            attributes |= A_BOLD;
        may_be_bold = colors.bold != CellColors::Bold::never;
    } else if (colors_ == 0) {
        if (style.ink == Ink::accent || style.ink == Ink::warning || style.ink == Ink::bad)
            attributes |= A_BOLD;
        if (style.ink == Ink::bad)
            attributes |= A_UNDERLINE;
    }
    if (style.bold && may_be_bold)
        attributes |= A_BOLD;
    if (style.reverse)
        attributes |= A_REVERSE;
    if (style.underline)
        attributes |= A_UNDERLINE;
    return attributes;
}

void Screen::show(const Canvas& canvas)
{
    Sent sent;
    const bool same_size = terminal.shown.rows() == canvas.rows() && terminal.shown.columns() == canvas.columns();
    if (!same_size)
        ::erase();
    for (int row = 0; row < std::min(canvas.rows(), rows()); ++row) {
        for (int column = 0; column < std::min(canvas.columns(), columns()); ++column) {
            const Cell& cell = canvas.at(row, column);
            if (cell.character == 0 || (same_size && cell == terminal.shown.at(row, column)))
                continue;
            sent.add(row, column, cell);
            const bool wide = width_of(cell.character) == 2;
            const std::string_view pair = utf8_ ? std::string_view() : ascii_pair_of(cell.character);
            const char32_t character = console_ && utf8_ ? console_of(cell.character)
                : utf8_                                  ? cell.character
                : !pair.empty()                          ? static_cast<char32_t>(pair.front())
                : wide                                   ? U'?'
                                                         : ascii_of(cell.character);
            short colours = 0;
            const attr_t attributes = attributes_of(cell.style, colours);
            const auto put = [&](int at, char32_t shown) {
                const std::array<wchar_t, 2> text{static_cast<wchar_t>(shown), 0};
                const int extended = colours;
                cchar_t curses_cell;
                ::setcchar(&curses_cell, text.data(), attributes, colours, &extended);
                ::mvadd_wch(row, at, &curses_cell);
            };
            put(column, character);
            if (wide && !utf8_)
                put(column + 1, pair.empty() ? U' ' : static_cast<char32_t>(pair.back()));
        }
    }
    terminal.shown = canvas;
    const bool cursor = canvas.cursor_row >= 0 && canvas.cursor_row < rows() && canvas.cursor_column < columns();
    ::curs_set(cursor ? 1 : 0);
    if (cursor)
        ::move(canvas.cursor_row, canvas.cursor_column);
    signals_held.writing = true;
    if (!is_ending())
        ::refresh();
    flow_.sent(sent.bytes);
    if (asks_ && flow_.asks(Flow::Clock::now()))
        send(kQuestion);
    signals_held.writing = false;
}

void Screen::redraw()
{
    ::clearok(curscr, TRUE);
    terminal.shown = {};
}

void Screen::wait(int milliseconds)
{
    std::array<pollfd, 3> sources{{{STDIN_FILENO, POLLIN, 0}, {signals_held.pipe[0], POLLIN, 0}, {-1, POLLOUT, 0}}};
    const WaitsFor frame_waits = std::exchange(frame_waits_, WaitsFor::nothing);
    if (frame_waits == WaitsFor::room) {
        sources[2].fd = STDOUT_FILENO;
    } else if (frame_waits == WaitsFor::answer) {
        const int patience = flow_.patience(Flow::Clock::now());
        milliseconds = milliseconds < 0 ? patience : std::min(milliseconds, patience);
    }
    if (::poll(sources.data(), sources.size(), milliseconds) < 0 && errno != EINTR)
        return;
    if ((sources[0].revents & (POLLHUP | POLLERR)) != 0)
        signals_held.ending = true; // the terminal is gone
    std::array<char, 64> told{};
    for (ssize_t got = 0; (got = ::read(signals_held.pipe[0], told.data(), told.size())) > 0;) {
        for (ssize_t i = 0; i < got; ++i) {
            terminal.resized = terminal.resized || told[static_cast<std::size_t>(i)] == 'r';
            terminal.stopped = terminal.stopped || told[static_cast<std::size_t>(i)] == 'z';
            terminal.continued = terminal.continued || told[static_cast<std::size_t>(i)] == 'c';
        }
    }
    if (std::exchange(terminal.stopped, false))
        suspend();
    if (std::exchange(terminal.continued, false)) { // after a SIGSTOP, of which no program is told
        leave();
        enter();
        terminal.resized = true;
    }
}

void Screen::wake()
{
    tell_loop('w');
}

bool Screen::is_ending() const
{
    return signals_held.ending;
}

void Screen::suspend()
{
    leave();
    stop_job();
    enter();
    terminal.resized = true;
}

Key Screen::key()
{
    if (std::exchange(terminal.resized, false)) {
        winsize size{};
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 && !is_wild(size))
            ::resizeterm(size.ws_row, size.ws_col);
        redraw();
        return {Key::resize};
    }
    wint_t letter = 0;
    int kind = 0;
    while ((kind = ::get_wch(&letter)) == KEY_CODE_YES
        && (letter == kAnswer || letter == kFocusIn || letter == kFocusOut)) {
        if (letter == kAnswer)
            flow_.answered();
        else
            focused_ = letter == kFocusIn;
    }
    if (kind == ERR)
        return {};
    const auto code = static_cast<int>(letter);
    if (kind == KEY_CODE_YES) {
        if (code == kPasteBegin) {
            std::size_t answers = 0;
            const Key paste = read_paste(answers);
            for (; answers > 0; --answers)
                flow_.answered();
            return paste;
        }
        if (code == kMouse || code == kOldMouse)
            return read_mouse(code == kMouse);
        if (code == KEY_MOUSE) {
            MEVENT event{};
            if (::getmouse(&event) != OK)
                return {};
            Key key{(event.bstate & BUTTON4_PRESSED) != 0   ? Key::wheel_up
                    : (event.bstate & BUTTON5_PRESSED) != 0 ? Key::wheel_down
                                                            : Key::click};
            key.row = event.y;
            key.column = event.x;
            return key;
        }
        static constexpr std::array<std::pair<int, Key::Code>, 16> kCodes{{{KEY_UP, Key::up}, {KEY_DOWN, Key::down},
            {KEY_LEFT, Key::left}, {KEY_RIGHT, Key::right}, {KEY_HOME, Key::home}, {KEY_END, Key::end},
            {KEY_PPAGE, Key::page_up}, {KEY_NPAGE, Key::page_down}, {KEY_BACKSPACE, Key::backspace},
            {KEY_DC, Key::erase}, {KEY_BTAB, Key::back_tab}, {KEY_ENTER, Key::enter}, {KEY_F(1), Key::f1},
            {KEY_F(2), Key::f2}, {KEY_F(5), Key::f5}, {KEY_F(6), Key::f6}}};
        for (const auto& [curses, own] : kCodes) {
            if (curses == code)
                return {own};
        }
        return code == KEY_F(10) ? Key{Key::f10} : Key{};
    }
    switch (code) {
    case 27:
        return {Key::escape};
    case '\r':
    case '\n':
        return {Key::enter};
    case '\t':
        return {Key::tab};
    case 127:
    case 8:
        return {Key::backspace};
    default:
        break;
    }
    if (code > 0 && code < 32)
        return {Key::character, static_cast<char32_t>(code + 'a' - 1), true};
    return {Key::character, static_cast<char32_t>(letter)};
}

} // namespace fourfold::tui
