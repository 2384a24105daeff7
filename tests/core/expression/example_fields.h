// SPDX-License-Identifier: GPL-3.0-or-later
// A small set of fields with values, for the tests of the language itself.
#pragma once

#include "core/expression/expression.h"

#include <cmath>
#include <limits>

namespace fourfold {

inline const FieldSet& example_fields()
{
    static const FieldSet fields({
        {"tp", ValueKind::number, "", "tensor parallel", {}, {"layout.tp"}},
        {"dp", ValueKind::number, "", "data parallel"},
        {"heads", ValueKind::number, "", "attention heads"},
        {"micro_batch", ValueKind::number, "sequences", "micro-batch", {}, {"mbs"}},
        {"memory_gib", ValueKind::number, "GiB", "memory"},
        {"unknown_s", ValueKind::number, "s", "a figure that is not known"},
        {"recompute", ValueKind::text, "", "recomputation", {"none", "selective", "full"}},
        {"schedule", ValueKind::text, "", "schedule", {"gpipe", "1f1b", "zb-h1", "zb-v"}},
        {"feasible", ValueKind::truth, "", "whether it can run"},
    });
    return fields;
}

// tp 8, dp 12, heads 96, micro_batch 2, memory 61.5 GiB, recompute full, schedule zb-h1, feasible.
inline std::vector<double> example_values()
{
    return {8, 12, 96, 2, 61.5, std::numeric_limits<double>::quiet_NaN(), 2, 2, 1};
}

} // namespace fourfold
