// SPDX-License-Identifier: GPL-3.0-or-later
// What is on show as a call of `fourfold`, to be copied into a shell.
#pragma once

#include <string>
#include <vector>

namespace fourfold::view {

// "fourfold predict 'my plan.plan.json'"; empty words are left out.
std::string command_line(const std::vector<std::string>& words);

} // namespace fourfold::view
