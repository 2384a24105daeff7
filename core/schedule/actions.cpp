// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/actions.h"

namespace fourfold {

double duration_of(ActionKind kind, const ChunkTimes& times)
{
    switch (kind) {
    case ActionKind::forward:
        return times.forward_s;
    case ActionKind::backward:
        return times.backward_s;
    case ActionKind::input_gradient:
        return times.backward_s - times.weight_gradient_s;
    case ActionKind::weight_gradient:
        break;
    }
    return times.weight_gradient_s;
}

} // namespace fourfold
