// SPDX-License-Identifier: GPL-3.0-or-later
// A way that pipeline messages go: activations or their gradients, from one pipeline rank to another.
#pragma once

#include <compare>

namespace fourfold::trainer {

struct PipelineLink {
    bool activations = true; // else gradients of activations
    int from = 0, to = 0; // pipeline ranks
    auto operator<=>(const PipelineLink&) const = default;
};

} // namespace fourfold::trainer
