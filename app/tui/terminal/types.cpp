// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/terminal/types.h"

#include <array>
#include <string_view>
#include <unistd.h>

// Of ncurses' <term.h>, which has words like `columns` as macros.
extern "C" {
int setupterm(const char* term, int descriptor, int* error);
}

namespace fourfold::tui {

std::string known_type(const char* type)
{
    const auto is_known = [](const char* name) {
        int error = 0;
        return ::setupterm(name, STDOUT_FILENO, &error) == 0 && error == 1;
    };
    if (type == nullptr || *type == '\0' || is_known(type))
        return type == nullptr ? "" : type;
    struct Kin {
        std::string_view begins;
        std::array<const char*, 2> taken_for;
    };
    static constexpr std::array<const char*, 2> xterm{"xterm-256color", "xterm"}, screen{"screen-256color", "screen"};
    static constexpr Kin kin[]{{"xterm", xterm}, {"alacritty", xterm}, {"contour", xterm}, {"foot", xterm},
        {"ghostty", xterm}, {"gnome", xterm}, {"iTerm", xterm}, {"kitty", xterm}, {"konsole", xterm}, {"mintty", xterm},
        {"rio", xterm}, {"vte", xterm}, {"wezterm", xterm}, {"tmux", screen}, {"screen", screen}};
    for (const Kin& one : kin) {
        if (!std::string_view(type).starts_with(one.begins))
            continue;
        for (const char* name : one.taken_for) {
            if (is_known(name))
                return name;
        }
    }
    return {};
}

} // namespace fourfold::tui
