// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/words.h"
#include "core/base/text.h"

namespace fourfold {

Problem unknown_word(const std::string& text, const std::vector<std::string>& known, const std::string& where)
{
    const auto near = nearest_words(text, known, 1);
    return {ProblemCode::bad_input, "found " + in_quotes(text) + ", expected one of " + joined(known, ", "),
        near.empty() ? "" : "did you mean " + near.front() + "?", where};
}

} // namespace fourfold
