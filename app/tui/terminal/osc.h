// SPDX-License-Identifier: GPL-3.0-or-later
// What a terminal is asked for besides drawing: to tell somebody something, to take a text into its clipboard.
#pragma once

#include <cstddef>
#include <string>

namespace fourfold::tui {

// What lies between the program and the terminal: both take such requests for their own unless they are wrapped.
enum class Multiplexer { none, tmux, screen };
Multiplexer multiplexer_here(); // by TERM and TMUX

// 100,000 bytes in base64, as much as xterm and its kin take.
inline constexpr std::size_t kMostCopied = 74'994;

// OSC 9 (one line) and OSC 777 (title and text): each terminal knows at most one of them.
std::string notification(const std::string& title, const std::string& text, Multiplexer between);
// OSC 52. tmux takes it itself (set-clipboard), screen hands it on piece by piece.
std::string clipboard(const std::string& text, Multiplexer between);

} // namespace fourfold::tui
