// SPDX-License-Identifier: GPL-3.0-or-later
// `predict --batch`: one plan a line in, one prediction a line out.
#pragma once

#include "core/base/expected.h"

#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace fourfold::cli {

// Answers every line of `in` on one line of `out`, in order: a prediction, or {"error": "..."} for a line that holds no
// usable plan. `name` stands for the input in messages. Fails only when `in` or `out` does.
Expected<void> predict_batch(
    std::istream& in, std::ostream& out, const std::string& name, const std::vector<std::string>& assignments);

} // namespace fourfold::cli
