// SPDX-License-Identifier: GPL-3.0-or-later
// Whether computing hides communicating, in words.
#pragma once

#include "core/predict/bounds.h"

#include <string>

namespace fourfold::view {

std::string bound_name(const LinkBound& link); // "TP, 8 ranks over the node"
// "communication 1.2 ms <= compute 3.4 ms, from 1 sequence on", with the sign for it.
std::string bound_condition(const LinkBound& link);
// Its terms, and how they make up the condition; two lines.
std::string bound_terms(const LinkBound& link);

} // namespace fourfold::view
