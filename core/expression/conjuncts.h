// SPDX-License-Identifier: GPL-3.0-or-later
// A condition taken apart: of "tp <= 8 and memory_gib < 70" each part can be judged, and named, by itself.
#pragma once

#include "core/expression/expression.h"

#include <vector>

namespace fourfold {

// The conditions that `condition` joins by `and` at its top level, in their order; together they hold where it does.
// Parentheses around the whole are taken off. One condition, `condition` itself, where no `and` joins it or an `or`
// stands beside. `fields` are those that it was parsed with.
std::vector<Expression> conjuncts(const Expression& condition, const FieldSet& fields);

} // namespace fourfold
