// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

namespace fourfold::testing {

std::vector<Case> context_cases()
{
    const std::string gather = "training.cp_method=\"all-gather\"";
    return {
        {"cp2", {"gpus=2", "layout.cp=2"}, {}},
        {"cp4", {"gpus=4", "layout.cp=4"}, {}},
        {"cp2_gather", {"gpus=2", "layout.cp=2", gather}, {}},
        {"cp4_gather", {"gpus=4", "layout.cp=4", gather}, {}},
        {"cp3_uneven_ring", {"gpus=3", "layout.cp=3"}, {"training.seq_len=24"}},
        {"tp2_cp2", {"gpus=4", "layout.tp=2", "layout.cp=2"}, {}},
        {"tp2_cp2_gather_plain_tied",
            {"gpus=4", "layout.tp=2", "layout.cp=2", gather, "training.sequence_parallel=false"},
            {"model.tie_word_embeddings=true"}},
        {"cp2_dp2_recompute", {"gpus=4", "layout.cp=2", "layout.dp=2", "training.recompute=\"full\""}, {}},
        {"cp2_dp2_cp_outside",
            {"gpus=4", "layout.cp=2", "layout.dp=2", "layout.order=[\"tp\",\"dp\",\"pp\",\"cp\"]", gather}, {}},
        {"tp4_cp2_with_two_kv_heads", {"gpus=8", "layout.tp=4", "layout.cp=2"}, {}},
    };
}

std::vector<Sabotage> context_sabotages()
{
    return {
        {"ring_messages", "cp.send_receive", {"gpus=2", "layout.cp=2"}, {}},
        {"gathered_keys", "cp.all_gather", {"gpus=2", "layout.cp=2", "training.cp_method=\"all-gather\""}, {}},
        {"key_gradients", "cp.reduce_scatter", {"gpus=2", "layout.cp=2", "training.cp_method=\"all-gather\""}, {}},
        {"wrong_balance", "cp.balance", {"gpus=2", "layout.cp=2"}, {}},
        {"gradient_reduction_over_cp", "dp.all_reduce", {"gpus=2", "layout.cp=2"}, {}},
    };
}

} // namespace fourfold::testing
