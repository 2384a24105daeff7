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
        {"tp2_async", {"gpus=2", "layout.tp=2", "training.async_tp=true"}, {}},
        {"tp4_async_uneven_pieces", {"gpus=4", "layout.tp=4", "training.async_tp=true"},
            {"training.seq_len=24", "model.tie_word_embeddings=true", "training.global_batch=2"}},
        {"tp2_dp2_async_recompute",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "training.async_tp=true", "training.recompute=\"full\""}, {}},
        {"tp2_async_qwen2_biases", {"gpus=2", "layout.tp=2", "training.async_tp=true"},
            {"model.model_type=\"qwen2\"", "model.hidden_act=\"silu\""}},
        {"tp2_cp2_pp2_async_zb_h1",
            {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.pp=2", "training.async_tp=true",
                "training.schedule=\"zb-h1\""},
            {}},
        {"tp2_gpipe", {"gpus=2", "layout.tp=2", "training.schedule=\"gpipe\""}, {}},
    };
}

std::vector<Case> tensor_beside_cases()
{
    const std::string async = "training.async_tp=true", beside = "training.overlap.tensor_parallel=true",
                      full = "training.recompute=\"full\"", experts = "model.model_type=\"mixtral\"";
    return {
        {"tp2_async_beside", {"gpus=2", "layout.tp=2", async, beside}, {}},
        {"tp4_async_beside_uneven_pieces_recompute", {"gpus=4", "layout.tp=4", async, full, beside},
            {"training.seq_len=24", "model.tie_word_embeddings=true", "training.global_batch=6"}},
        {"tp2_async_beside_cp2_dp2_fsdp",
            {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.dp=2", "training.sharding=\"parameters\"", async, beside},
            {}},
        {"tp2_async_beside_in_backward_operations",
            {"gpus=2", "layout.tp=2", async, beside, "training.recompute=\"selective\"",
                "training.recompute_parts=[\"operations\"]", "training.optimizer_in_backward=true"},
            {"run.clip_norm=0", "run.watch.not_finite=\"stop\""}},
        {"tp2_async_beside_pp2_dualpipe_v",
            {"gpus=4", "layout.tp=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"dualpipe-v\"",
                async, beside},
            {"model.num_hidden_layers=4", "training.micro_batch=1"}},
        {"tp2_async_beside_ep2_dp2_zero2",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"gradients\"", async, beside,
                "training.overlap.expert_exchange=true"},
            {experts, "model.num_local_experts=4", "model.num_experts_per_tok=2", "training.micro_batch=1"}},
        {"tp2_async_beside_ramp_up", {"gpus=2", "layout.tp=2", async, beside},
            {R"(training.ramp_up={"start":2,"increment":2,"samples":12})"}},
    };
}

std::vector<Sabotage> tensor_sabotages()
{
    return {
        {"sequence_gather", "tp.all_gather", {"gpus=2", "layout.tp=2"}, {}},
        {"sequence_scatter", "tp.reduce_scatter", {"gpus=2", "layout.tp=2"}, {}},
        {"asynchronous_gather", "tp.all_gather", {"gpus=2", "layout.tp=2", "training.async_tp=true"}, {}},
        {"asynchronous_scatter", "tp.reduce_scatter", {"gpus=2", "layout.tp=2", "training.async_tp=true"}, {}},
        {"asynchronous_gather_beside", "tp.all_gather",
            {"gpus=2", "layout.tp=2", "training.async_tp=true", "training.overlap.tensor_parallel=true"}, {}},
        {"softmax_and_norms", "tp.all_reduce", {"gpus=2", "layout.tp=2"}, {}},
        {"shared_kv_heads", "kv.all_reduce", {"gpus=4", "layout.tp=4"}, {}},
    };
}

} // namespace fourfold::testing
