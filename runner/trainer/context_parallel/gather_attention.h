// SPDX-License-Identifier: GPL-3.0-or-later
// The all-gather of context_attention.h, see sequence_attention.h.
#pragma once

#include "runner/trainer/comm/communicator.h"
#include "runner/trainer/context_parallel/sequence_attention.h"

namespace fourfold::trainer {

std::shared_ptr<GradientFunction> gather_attention(const AttentionRule& rule, const Communicator& cp);

} // namespace fourfold::trainer
