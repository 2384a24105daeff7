// SPDX-License-Identifier: GPL-3.0-or-later
// An explanation as an indented tree.
#pragma once

#include "core/predict/explain.h"

#include <string>

namespace fourfold::cli {

// One line per node: label, value with unit, share of the root where the terms add up; formula and source below it.
// Terms under half a percent of the root are counted, not listed.
std::string explanation_text(const Explanation& root);

} // namespace fourfold::cli
