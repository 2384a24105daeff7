// SPDX-License-Identifier: GPL-3.0-or-later
// What "best" means: a figure or an expression over the plan's fields, and its direction.
#pragma once

#include "core/search/fields.h"

namespace fourfold {

struct Objective {
    Expression expression;
    bool maximize = false;
    bool monotone = false; // a longer step never makes it better, all else equal
    // True where `a` is better than `b`; what is not known (NaN) is worse than everything.
    [[nodiscard]] bool better(double a, double b) const;
};

// A field with a natural direction ("step_time", "tps_per_gpu", "mfu", "cost", "days", "memory_gib" ...), or "min EXPR"
// or "max EXPR".
Expected<Objective> parse_objective(
    const std::string& text, const std::string& where, ExpressionError* error = nullptr);

} // namespace fourfold
