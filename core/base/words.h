// SPDX-License-Identifier: GPL-3.0-or-later
// How the values of an enum are written in files, on the command line and in tables: one word for each, in the order of
// the enum, told beside it as
//
//   template <>
//   inline constexpr auto kWords<Fit> = std::to_array<std::string_view>({"fits", "tight", "no"});
#pragma once

#include "core/base/expected.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace fourfold {

template <typename Enum>
inline constexpr auto kWords = nullptr;

template <typename Enum>
concept Spelled = std::is_enum_v<Enum> && !std::is_same_v<decltype(kWords<Enum>), const std::nullptr_t>;

template <Spelled Enum>
constexpr std::string_view name(Enum value)
{
    return kWords<Enum>[static_cast<std::size_t>(value)];
}
template <Spelled Enum>
std::string to_text(Enum value)
{
    return std::string(name(value));
}

// Every value as written, in order; for choices in front ends.
template <typename Enum>
std::vector<std::string> spellings()
{
    return {kWords<Enum>.begin(), kWords<Enum>.end()};
}

// "found "optimiser", expected one of none, optimizer (did you mean optimizer?)"
Problem unknown_word(const std::string& text, const std::vector<std::string>& known, const std::string& where);

template <typename Enum>
Expected<Enum> from_text(const std::string& text, const std::string& where)
{
    const std::vector<std::string> known = spellings<Enum>();
    const auto found = std::find(known.begin(), known.end(), text);
    if (found == known.end())
        return unknown_word(text, known, where);
    return static_cast<Enum>(found - known.begin());
}

} // namespace fourfold
