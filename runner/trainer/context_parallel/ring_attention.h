// SPDX-License-Identifier: GPL-3.0-or-later
// The ring of context_attention.h as an operation with gradient: inputs query, key, value; one output.
#pragma once

#include "runner/trainer/autograd/gradient_function.h"
#include "runner/trainer/comm/communicator.h"

namespace fourfold::trainer {

std::shared_ptr<GradientFunction> ring_attention(const Communicator& cp);

} // namespace fourfold::trainer
