// SPDX-License-Identifier: GPL-3.0-or-later
// A regular expression of Oniguruma's (its own syntax, as Hugging Face's tokenizers use it) in the words of PCRE2.
#pragma once

#include "core/base/expected.h"

#include <string>
#include <string_view>

namespace fourfold {

// Beside what both read alike:
//   \s \w \d        Unicode's properties, spelled out
//   \h \v \uHHHH    a hexadecimal digit, a vertical tab, a character
//   \p{Greek}       the script, not its extensions
//   (?m) (?m:...)   a point takes line ends too; ^ and $ always stand at lines (PCRE2_MULTILINE has to be set)
//   {,n} {n}? {n}+  from 0; optional; repeated, as no interval is possessive
// Fails (unsupported) for what it cannot say: sets within sets, intersections of sets, verbs, absent groups.
Expected<std::string> pcre2_pattern(std::string_view oniguruma, const std::string& where);

} // namespace fourfold
