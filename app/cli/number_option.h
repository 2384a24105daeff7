// SPDX-License-Identifier: GPL-3.0-or-later
// Options that are numbers with a limit: NaN and infinity are none.
#pragma once

#include <CLI/CLI.hpp>

namespace fourfold::cli {

// Takes a finite number above 0 (or from 0 on) up to `most`.
CLI::Validator number_up_to(double most, bool or_zero = false);

} // namespace fourfold::cli
