// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

namespace fourfold::testing {

std::vector<Case> tensor_cases()
{
    return {
        {"tp2", {"gpus=2", "layout.tp=2"}, {}},
        {"tp2_plain", {"gpus=2", "layout.tp=2", "training.sequence_parallel=false"},
            {"model.tie_word_embeddings=true"}},
        {"tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, {}},
        {"tp2_dp2_tied_dp_inside",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.order=[\"dp\",\"tp\",\"cp\",\"pp\"]"},
            {"model.tie_word_embeddings=true"}},
        {"tp4_with_two_kv_heads", {"gpus=4", "layout.tp=4"}, {}},
        {"tp4_plain_with_two_kv_heads", {"gpus=4", "layout.tp=4", "training.sequence_parallel=false"}, {}},
        {"tp2_dp2_recompute", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.recompute=\"full\""}, {}},
        {"tp2_qwen2_biases", {"gpus=2", "layout.tp=2"}, {"model.model_type=\"qwen2\"", "model.hidden_act=\"silu\""}},
        {"tp2_gpipe", {"gpus=2", "layout.tp=2", "training.schedule=\"gpipe\""}, {}},
    };
}

std::vector<Sabotage> tensor_sabotages()
{
    return {
        {"sequence_gather", "tp.all_gather", {"gpus=2", "layout.tp=2"}, {}},
        {"sequence_scatter", "tp.reduce_scatter", {"gpus=2", "layout.tp=2"}, {}},
        {"softmax_and_norms", "tp.all_reduce", {"gpus=2", "layout.tp=2"}, {}},
        {"shared_kv_heads", "kv.all_reduce", {"gpus=4", "layout.tp=4"}, {}},
    };
}

} // namespace fourfold::testing
