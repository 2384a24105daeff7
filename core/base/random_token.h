// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace fourfold {

// So many random bytes from the kernel as lower-case hex: a word that nobody guesses.
std::string random_token(std::size_t bytes);

} // namespace fourfold
