// SPDX-License-Identifier: GPL-3.0-or-later
// What pickers offer for the plan's enumerations: the spelling of the plan file and words for people.
#pragma once

#include <string>
#include <vector>

namespace fourfold {
class Presets;
}

namespace fourfold::view {

struct Choice {
    std::string spelling; // as in the plan file
    std::string label;
};
// `path`: of a field that is a word of several, as training.sharding; none for another field.
std::vector<Choice> choices_of(const std::string& path);
// Words for one value: "1f1b" -> "1F1B"; an unknown spelling stays as it is.
std::string choice_label(const std::string& path, const std::string& spelling);
// The same in one word, for the column of a table: "ZeRO-1".
std::string short_choice_label(const std::string& path, const std::string& spelling);
// What a plan may name of a kind of presets: of stacks also their releases.
std::vector<std::string> preset_choices(const Presets& presets, const std::string& kind);

} // namespace fourfold::view
