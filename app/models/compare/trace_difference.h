// SPDX-License-Identifier: GPL-3.0-or-later
// Two timelines in words: what an average stage spends on each kind of span in one and in the other.
#pragma once

#include "core/schedule/steady_part.h"

#include <QString>

namespace fourfold::ui {

// "Step 1.20 s → 1.31 s (+110 ms). An average stage: backward 58.0 ms → 150 ms (+92.0 ms), ...", the furthest apart
// first; at most `most` terms, the rest counted. Empty where one of the two has no span.
QString traceDifference(const ListedStep& first, const ListedStep& second, int most);

} // namespace fourfold::ui
