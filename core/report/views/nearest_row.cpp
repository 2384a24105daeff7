// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/views/nearest_row.h"

#include "core/base/text.h"

#include <cmath>

namespace fourfold {

std::string nearest_row_text(const NearestMeasured& nearest)
{
    std::string text = nearest.source + " row " + nearest.row + ", ";
    if (nearest.same)
        text += "this layout";
    else
        text += text_of("tp %d, cp %d, pp %d, dp %d, micro-batch %d", nearest.tp, nearest.cp, nearest.pp, nearest.dp,
            nearest.micro_batch);
    if (nearest.error)
        text += text_of("; predicted %+.1f %%%s", 100 * std::expm1(*nearest.error),
            nearest.inside ? "" : ", which its range does not hold");
    return text;
}

} // namespace fourfold
