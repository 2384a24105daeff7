// SPDX-License-Identifier: GPL-3.0-or-later
// What the memory of a stage holds, in the order in which it is stacked.
#pragma once

#include "app/tui/look.h"
#include "core/predict/prediction.h"

namespace fourfold::tui {

struct MemoryLook {
    const char* label;
    double StageMemory::*gib;
    Fill fill;
};
inline constexpr MemoryLook kMemoryLooks[]{{"weights", &StageMemory::weights, {Ink::blue, U'#'}},
    {"gradients", &StageMemory::gradients, {Ink::orange, U'+'}},
    {"optimizer", &StageMemory::optimizer, {Ink::green, U'='}},
    {"activations", &StageMemory::activations, {Ink::sky, U'-'}},
    {"buffers", &StageMemory::other, {Ink::purple, U'.'}}};

} // namespace fourfold::tui
