// SPDX-License-Identifier: GPL-3.0-or-later
// How the parts of a step look.
#pragma once

#include "app/tui/look.h"
#include "core/program/operation.h"

namespace fourfold::tui {

inline Fill fill_of(Part part)
{
    static constexpr Fill kFills[kParts]{{Ink::blue, U'#'}, {Ink::sky, U'%'}, {Ink::orange, U'T'}, {Ink::yellow, U'C'},
        {Ink::green, U'P'}, {Ink::vermilion, U'D'}, {Ink::purple, U'E'}, {Ink::grey, U'.'}, {Ink::green, U'O'},
        {Ink::grey, U'-'}};
    return kFills[static_cast<int>(part)];
}

} // namespace fourfold::tui
