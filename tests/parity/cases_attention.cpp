// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"
#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

namespace {
const std::string kGather = "training.cp_method=\"all-gather\"", kUlysses = "training.cp_method=\"ulysses\"";
const std::string kSmallBloom
    = R"(model={"model_type":"bloom","vocab_size":61,"hidden_size":32,"n_layer":2,"n_head":4})";
const std::vector<std::string> kSmallQwen3{"model.model_type=\"qwen3\"", "model.head_dim=12"};
const std::string kDocuments = R"(run.documents={"mask":true,"end":8})",
                  kRestarting = "run.documents.restart_positions=true";
} // namespace

std::vector<Case> attention_cases()
{
    return {
        {"cp2_ulysses", {"gpus=2", "layout.cp=2", kUlysses}, {}},
        {"cp4_ulysses_with_two_kv_heads", {"gpus=4", "layout.cp=4", kUlysses}, {}},
        {"tp2_cp2_ulysses", {"gpus=4", "layout.tp=2", "layout.cp=2", kUlysses}, {}},
        {"cp3_ulysses_uneven", {"gpus=3", "layout.cp=3", kUlysses},
            {"training.seq_len=15", "model.num_attention_heads=6", "model.hidden_size=48"}},
        {"cp2_ulysses_recompute", {"gpus=2", "layout.cp=2", kUlysses, "training.recompute=\"selective\""}, {}},
        {"bloom_cp2", {"gpus=2", "layout.cp=2"}, {kSmallBloom}},
        {"bloom_tp2_cp2_gather", {"gpus=4", "layout.tp=2", "layout.cp=2", kGather}, {kSmallBloom}},
        {"bloom_cp2_ulysses", {"gpus=2", "layout.cp=2", kUlysses}, {kSmallBloom}},
        {"bloom_unfused", {"gpus=2", "layout.tp=2", "training.attention=\"unfused\""}, {kSmallBloom}},
        {"qwen3_tp2", {"gpus=2", "layout.tp=2"}, kSmallQwen3},
        {"qwen3_tp4_plain_with_two_kv_heads", {"gpus=4", "layout.tp=4", "training.sequence_parallel=false"},
            kSmallQwen3},
        {"qwen3_tp2_cp2_dp2_fsdp",
            {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.dp=2", "training.sharding=\"parameters\""}, kSmallQwen3},
        {"gemma_tp2_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2"}, {kGemma}},
        {"gemma_cp2", {"gpus=2", "layout.cp=2"}, {kGemma}},
        {"mistral_window_tp2_cp2", {"gpus=4", "layout.tp=2", "layout.cp=2"},
            {"model.model_type=\"mistral\"", "model.sliding_window=5"}},
        {"gemma_cp4_gather", {"gpus=4", "layout.cp=4", kGather}, {kGemma}},
        {"gemma_cp2_ulysses_fused_softmax", {"gpus=2", "layout.cp=2", kUlysses, "training.attention=\"fused-softmax\""},
            {kGemma}},
        {"neox_tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, {kNeox}},
        {"documents_tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, {kDocuments}},
        {"documents_cp2_restarting", {"gpus=2", "layout.cp=2"}, {kDocuments, kRestarting}},
        {"documents_cp4_gather", {"gpus=4", "layout.cp=4", kGather}, {kDocuments}},
        {"documents_cp2_ulysses", {"gpus=2", "layout.cp=2", kUlysses}, {kDocuments, kRestarting}},
        {"documents_pp2_tp2_cp2_gather_restarting",
            {"gpus=8", "layout.pp=2", "layout.tp=2", "layout.cp=2", kGather, "training.recompute=\"selective\""},
            {kDocuments, kRestarting}},
        {"documents_bloom_tp2_cp2", {"gpus=4", "layout.tp=2", "layout.cp=2"}, {kSmallBloom, kDocuments}},
        {"documents_gemma_cp2_gather", {"gpus=2", "layout.cp=2", kGather}, {kGemma, kDocuments}},
        {"documents_pp2_zb_v", {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"zb-v\""},
            {"model.num_hidden_layers=4", kDocuments}},
        {"documents_gpt2_tp2_dp2_fsdp", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""},
            {R"(model={"model_type":"gpt2","vocab_size":61,"n_embd":32,"n_layer":2,"n_head":4,"n_positions":32})",
                kDocuments, kRestarting}},
        {"epochs_dp2_pp2", {"gpus=4", "layout.dp=2", "layout.pp=2"}, {"run.data_order=\"epochs\"", kDocuments}},
        {"neox_pp2_cp2", {"gpus=4", "layout.pp=2", "layout.cp=2"}, {kNeox}},
    };
}

std::vector<Sabotage> attention_sabotages()
{
    return {
        {"head_exchange", "cp.send_receive", {"gpus=2", "layout.cp=2", kUlysses}, {}},
        {"norms_of_heads", "tp.all_reduce", {"gpus=2", "layout.tp=2"}, kSmallQwen3},
        {"biases_of_distant_keys", "cp.balance", {"gpus=2", "layout.cp=2", kGather}, {kSmallBloom}},
    };
}

} // namespace fourfold::testing
