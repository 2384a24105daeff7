// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/plan/steps.h"

#include <cstdlib>

namespace fourfold::view {

int stepped_degree(int value, int steps, int dividend)
{
    constexpr int kMost = 1 << 20;
    for (int i = 0; i < std::abs(steps); ++i) {
        const int before = value;
        if (dividend > 0) {
            int next = value;
            do
                next += steps > 0 ? 1 : -1;
            while (next > 0 && next <= dividend && dividend % next != 0);
            if (next >= 1 && next <= dividend)
                value = next;
            else if (steps < 0)
                value = dividend;
        } else {
            value = steps > 0 ? value * 2 : value / 2;
        }
        value = value < 1 ? 1 : value > kMost ? kMost : value;
        if (value == before)
            break;
    }
    return value;
}

} // namespace fourfold::view
