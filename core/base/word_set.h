// SPDX-License-Identifier: GPL-3.0-or-later
// Some of the values of an enum with words (words.h): a set as small as a number.
#pragma once

#include "core/base/words.h"

#include <initializer_list>

namespace fourfold {

template <Spelled Enum>
class WordSet {
public:
    using Word = Enum;

    constexpr WordSet() = default;
    constexpr WordSet(std::initializer_list<Enum> values)
    {
        for (const Enum value : values)
            insert(value);
    }
    constexpr void insert(Enum value) { bits_ |= bit(value); }
    [[nodiscard]] constexpr bool contains(Enum value) const { return (bits_ & bit(value)) != 0; }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    // In the order of the enum.
    [[nodiscard]] std::vector<Enum> values() const
    {
        std::vector<Enum> out;
        for (std::size_t i = 0; i < kWords<Enum>.size(); ++i)
            if (const auto value = static_cast<Enum>(i); contains(value))
                out.push_back(value);
        return out;
    }
    bool operator==(const WordSet&) const = default;

private:
    static constexpr unsigned bit(Enum value) { return 1U << static_cast<unsigned>(value); }
    unsigned bits_ = 0;
};

} // namespace fourfold
