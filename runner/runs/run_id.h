// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace fourfold {

// A new ULID: 26 characters of Crockford's base 32, sorted by time of creation.
std::string new_run_id();

} // namespace fourfold
