// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/raw_input.h"

#include "app/tui/terminal/signals.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fourfold::tui {

namespace {
constexpr std::size_t kMostPasted = 64 * 1024; // bytes that are kept of a paste
}

// As many bytes at once as the end still needs; curses would take a megabyte byte by byte.
Key read_paste(std::size_t& answers)
{
    static constexpr std::string_view kEnd = "\033[201~";
    constexpr int kPatience = 2000; // milliseconds: a paste whose end never comes is over then
    Key key{Key::paste};
    std::string tail; // where the end may begin
    std::array<char, kEnd.size()> block{};
    int there = 0; // bytes that can be read without a wait
    while (tail != kEnd && !signals_held.ending) {
        pollfd source{STDIN_FILENO, POLLIN, 0};
        if (there <= 0 && (::poll(&source, 1, kPatience) <= 0 || ::ioctl(STDIN_FILENO, FIONREAD, &there) != 0))
            break;
        const ssize_t got = ::read(STDIN_FILENO, block.data(), kEnd.size() - tail.size());
        if (got <= 0)
            break;
        there -= static_cast<int>(got);
        tail.append(block.data(), static_cast<std::size_t>(got));
        std::size_t whole = std::min(tail.find(kEnd.front()), tail.size());
        while (whole < tail.size() && !kEnd.starts_with(std::string_view(tail).substr(whole)))
            whole = std::min(tail.find(kEnd.front(), whole + 1), tail.size());
        key.pasted += whole;
        key.text.append(tail, 0, std::min(whole, kMostPasted - key.text.size()));
        tail.erase(0, whole);
    }
    if (tail != kEnd) { // what began like the end was none
        key.pasted += tail.size();
        key.text.append(tail, 0, kMostPasted - key.text.size());
    }
    for (std::size_t at = 0; (at = key.text.find(kAnswerText)) != std::string::npos; ++answers)
        key.text.erase(at, kAnswerText.size()); // it came among what was pasted
    std::replace(key.text.begin(), key.text.end(), '\r', '\n');
    return key;
}

Key read_mouse(bool sgr)
{
    constexpr int kPatience = 500; // milliseconds: what is not whole by then is nothing
    constexpr std::size_t kMost = 24;
    std::string text;
    const auto is_whole
        = [&] { return sgr ? !text.empty() && (text.back() == 'M' || text.back() == 'm') : text.size() == 3; };
    while (!is_whole() && text.size() < kMost) {
        pollfd source{STDIN_FILENO, POLLIN, 0};
        char byte = 0;
        const int there = ::poll(&source, 1, kPatience);
        if (there < 0 && errno == EINTR)
            continue;
        if (there <= 0 || ::read(STDIN_FILENO, &byte, 1) != 1)
            return {Key::ignored};
        text += byte;
    }
    std::array<int, 3> numbers{}; // buttons, column and row from 1
    bool released = false;
    if (sgr) {
        released = text.back() == 'm';
        const char* at = text.data();
        for (int& number : numbers) {
            const auto [end, bad] = std::from_chars(at, text.data() + text.size(), number);
            if (bad != std::errc())
                return {Key::ignored};
            at = end + 1;
        }
    } else {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<unsigned char>(text[i]) - 32;
        released = (numbers[0] & 3) == 3 && (numbers[0] & 64) == 0;
    }
    constexpr int kButton = 3, kMoves = 32, kWheel = 64, kOthers = 128;
    const int button = numbers[0] & kButton;
    Key key{Key::ignored};
    if ((numbers[0] & kOthers) != 0)
        return key;
    if ((numbers[0] & kWheel) != 0)
        key.code = button == 0 ? Key::wheel_up : button == 1 ? Key::wheel_down : Key::ignored;
    else if (released)
        key.code = !sgr || button == 0 ? Key::release : Key::ignored;
    else if (button == 0)
        key.code = (numbers[0] & kMoves) != 0 ? Key::drag : Key::click;
    key.row = numbers[2] - 1;
    key.column = numbers[1] - 1;
    return key;
}

} // namespace fourfold::tui
