// SPDX-License-Identifier: GPL-3.0-or-later
// A derivation (core/predict/explain.h) in words: values with units that fit, and its largest parts in a few lines.
#pragma once

#include "core/predict/explain.h"

#include <string>

namespace fourfold::view {

// "8.34 s", "56.7 GiB", "42.0 %"; a dash for what is not known.
std::string explained_value(const Explanation& explanation);
// A few lines: formula, the largest parts, source.
std::string explained_summary(const Explanation& explanation);

} // namespace fourfold::view
