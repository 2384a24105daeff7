// SPDX-License-Identifier: GPL-3.0-or-later
// Small numbers that ranks tell each other within passes.
#pragma once

#include "core/plan/plan.h"

namespace fourfold {

// Do the replicas (dp x cp) tell each other numbers within their passes: the largest magnitudes behind scales of fp8,
// or how often experts were chosen? The bundled trainer gives these a communicator of their own: on one with gathered
// weights and reduced gradients a pass would wait for those first.
inline bool replicas_share_numbers(const ResolvedPlan& plan)
{
    if (plan.layout.dp * plan.layout.cp == 1)
        return false;
    const Training& training = plan.training;
    const bool whole_rows = training.fp8_recipe == Fp8Recipe::tensorwise || training.fp8_recipe == Fp8Recipe::rowwise;
    const bool scales
        = training.precision == Precision::fp8 && whole_rows && training.fp8_scale_group == Fp8ScaleGroup::micro_batch;
    const bool balance
        = plan.model.experts && plan.model.experts->balance > 0 && training.experts.balance == Balance::micro_batch;
    return scales || balance;
}

} // namespace fourfold
