// SPDX-License-Identifier: GPL-3.0-or-later
// The user's guide as text: its chapters, and Markdown in lines.
#pragma once

#include "core/base/expected.h"

#include <cstddef>
#include <string>
#include <vector>

namespace fourfold::view {

struct GuideChapter {
    int number = 0;
    std::string title, name, text; // "In a terminal", "-terminal" (of its file), Markdown
};
// In their order; a Problem where the guide did not come with the program.
Expected<std::vector<GuideChapter>> guide_chapters();

// Markdown in lines of at most `width` cells, but for code.
std::string guide_text(const std::string& markdown, std::size_t width);

} // namespace fourfold::view
