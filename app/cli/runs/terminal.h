// SPDX-License-Identifier: GPL-3.0-or-later
// Questions to the person at the terminal.
#pragma once

#include <optional>
#include <string>

namespace fourfold::cli {

// False in batch mode: nobody is there to be asked.
bool has_terminal();
// Prints `prompt` on standard error and reads a line, unseen with `hidden`. Nothing at the end of the input and when
// Ctrl-C or SIGTERM asks this program to stop (StopSignals); the terminal then shows again what is typed.
std::optional<std::string> ask(const std::string& prompt, bool hidden);

} // namespace fourfold::cli
