// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

namespace {
const std::string kMixtral = "model.model_type=\"mixtral\"", kFour = "model.num_local_experts=4",
                  kTwoOfThem = "model.num_experts_per_tok=2", kBalanced = "model.router_aux_loss_coef=0.05";
const std::vector<std::string> kExperts{kMixtral, kFour, kTwoOfThem, kBalanced};
const std::string kMuonSteps = "training.optimizer=\"muon\"";
const std::vector<std::string> kMuonExperts{kMixtral, kFour, kTwoOfThem, kBalanced, kMuonSteps};
// Of eight experts some get no token in a micro-batch.
const std::vector<std::string> kSparse{
    kMixtral, "model.num_local_experts=8", "model.num_experts_per_tok=1", kBalanced, "training.micro_batch=1"};
const std::vector<std::string> kByMicroBatch{
    kMixtral, kFour, kTwoOfThem, kBalanced, "training.experts.balance=\"micro-batch\""};
const std::vector<std::string> kDropping{kMixtral, kFour, kTwoOfThem, kBalanced, "training.experts.capacity=0.8"};
const std::string kAlone = "layout.etp=1";
const std::vector<std::string> kQwen3{"model.model_type=\"qwen3\"", "model.head_dim=12"};
const std::vector<std::string> kQwen3Moe{"model.model_type=\"qwen3_moe\"", "model.num_experts=6",
    "model.num_experts_per_tok=3", "model.moe_intermediate_size=16"};
const std::vector<std::string> kDeepseek{
    R"(model={"model_type":"deepseek_v3","vocab_size":61,"hidden_size":32,"num_hidden_layers":3,"num_attention_heads":4,
    "intermediate_size":48,"moe_intermediate_size":16,"n_routed_experts":8,"num_experts_per_tok":3,"n_shared_experts":1,
    "n_group":4,"topk_group":2,"first_k_dense_replace":1,"q_lora_rank":12,"kv_lora_rank":8,"qk_nope_head_dim":6,
    "qk_rope_head_dim":4,"v_head_dim":8,"max_position_embeddings":64,"rms_norm_eps":1e-6,"rope_theta":100.0,
    "aux_loss_alpha":0.05,"tie_word_embeddings":false})"};
const std::vector<std::string> kAhead{kDeepseek[0], "model.num_nextn_predict_layers=2"};
const std::vector<std::string> kAheadTied{
    kDeepseek[0], "model.num_nextn_predict_layers=1", "model.tie_word_embeddings=true"};
// The exchange of one micro-batch's tokens behind the computation of another.
const std::string kBeside = "training.overlap.expert_exchange=true", kOneByOne = "training.micro_batch=1";
const std::vector<std::string> kManyExperts{kMixtral, kFour, kTwoOfThem, kBalanced, kOneByOne},
    kDeepExperts{
        kMixtral, kFour, kTwoOfThem, kBalanced, kOneByOne, "model.num_hidden_layers=4", "training.global_batch=16"};
const std::string kDualPipe = "training.schedule=\"dualpipe-v\"", kTwoChunks = "layout.virtual_stages=2";
} // namespace

std::vector<Case> exchange_cases()
{
    return {
        {"beside_ep2", {"gpus=2", "layout.dp=2", "layout.ep=2", kBeside}, kManyExperts},
        {"beside_ep2_etp2_zero2",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"gradients\"", kBeside},
            kManyExperts},
        {"beside_ep4_tp2_cp2_recompute",
            {"gpus=4", "layout.tp=2", "layout.cp=2", "layout.ep=4", kAlone, "training.recompute=\"full\"", kBeside},
            kManyExperts},
        {"beside_ep2_dp4_fsdp_operations",
            {"gpus=4", "layout.dp=4", "layout.ep=2", "training.sharding=\"parameters\"",
                "training.recompute=\"selective\"", "training.recompute_parts=[\"operations\"]", kBeside},
            {kMixtral, kFour, kTwoOfThem, kBalanced, kOneByOne, "training.global_batch=16"}},
        {"beside_deepseek_ep2_tp2_moe_away",
            {"gpus=4", "cluster=\"dgx-h100\"", "layout.tp=2", "layout.dp=2", "layout.ep=2",
                "training.offload=\"activations\"", kBeside},
            {kDeepseek[0], kOneByOne, "model.num_hidden_layers=4"}},
        {"beside_sparse_ep2_in_backward",
            {"gpus=2", "layout.dp=2", "layout.ep=2", kBeside, "training.optimizer_in_backward=true"},
            joined(kSparse, {"run.clip_norm=0", "run.watch.not_finite=\"stop\""})},
        {"beside_ramp_up_ep2_zero1",
            {"gpus=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"optimizer\"", kBeside},
            joined(kManyExperts, {R"(training.ramp_up={"start":2,"increment":2,"samples":8})"})},
        {"beside_dualpipe_v_ep2",
            {"gpus=4", "layout.pp=2", kTwoChunks, "layout.dp=2", "layout.ep=2", kDualPipe, kBeside}, kDeepExperts},
        {"beside_dualpipe_v_ep2_etp2_fsdp_recompute",
            {"gpus=8", "layout.pp=2", kTwoChunks, "layout.tp=2", "layout.dp=2", "layout.ep=2", kDualPipe,
                "training.sharding=\"parameters\"", "training.recompute=\"full\""},
            kDeepExperts},
        {"dualpipe_v_ep2_pp3_zero1",
            {"gpus=6", "layout.pp=3", kTwoChunks, "layout.dp=2", "layout.ep=2", kDualPipe,
                "training.sharding=\"optimizer\""},
            {kMixtral, kFour, kTwoOfThem, kBalanced, kOneByOne, "model.num_hidden_layers=6",
                "training.global_batch=16"}},
    };
}

std::vector<Case> expert_cases()
{
    return {
        {"mixtral_tp2", {"gpus=2", "layout.tp=2"}, kExperts},
        {"mixtral_tp2_plain", {"gpus=2", "layout.tp=2", "training.sequence_parallel=false"}, kExperts},
        {"mixtral_dp2_zero1", {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, kExperts},
        {"mixtral_cp2_pp2_recompute", {"gpus=4", "layout.cp=2", "layout.pp=2", "training.recompute=\"full\""},
            kExperts},
        {"mixtral_tp2_dp2_fsdp", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""}, kSparse},
        {"mixtral_tp2_cp2_counted_by_micro_batch", {"gpus=4", "layout.tp=2", "layout.cp=2"}, kByMicroBatch},
        {"mixtral_dropping_ep2_tp2_cp2", {"gpus=4", "layout.tp=2", "layout.cp=2", "layout.ep=2", kAlone}, kDropping},
        {"mixtral_dropping_ep2_etp2_plain",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2", "training.sequence_parallel=false"}, kDropping},
        {"mixtral_whole_experts_tp2", {"gpus=2", "layout.tp=2", kAlone}, kExperts},
        {"mixtral_ep2", {"gpus=2", "layout.dp=2", "layout.ep=2"}, kExperts},
        {"mixtral_ep2_zero1", {"gpus=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"optimizer\""}, kSparse},
        {"mixtral_ep2_dp4_zero2", {"gpus=4", "layout.dp=4", "layout.ep=2", "training.sharding=\"gradients\""}, kSparse},
        {"mixtral_ep2_dp4_fsdp_recompute",
            {"gpus=4", "layout.dp=4", "layout.ep=2", "training.sharding=\"parameters\"", "training.recompute=\"full\""},
            kExperts},
        {"mixtral_ep2_dp4_hsdp",
            {"gpus=4", "layout.dp=4", "layout.ep=2", "layout.dp_shard=2", "training.sharding=\"hybrid\""}, kExperts},
        {"mixtral_ep4_tp2_cp2", {"gpus=4", "layout.tp=2", "layout.cp=2", "layout.ep=4", kAlone}, kExperts},
        {"mixtral_ep2_pp2_interleaved",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", "layout.ep=2",
                "training.schedule=\"interleaved\""},
            {kMixtral, kFour, kTwoOfThem, kBalanced, "model.num_hidden_layers=4"}},
        {"muon_mixtral_ep2_etp2_dp4_zero1",
            {"gpus=8", "layout.tp=2", "layout.dp=4", "layout.ep=2", "training.sharding=\"optimizer\""}, kMuonExperts},
        {"muon_mixtral_ep2_dp4_hsdp",
            {"gpus=4", "layout.dp=4", "layout.ep=2", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            kMuonExperts},
        {"muon_deepseek_tp2_ep4_dp2_fsdp",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=4", kAlone, "training.sharding=\"parameters\""},
            {kDeepseek[0], kMuonSteps}},
        {"mixtral_ep2_etp2", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2"}, kExperts},
        {"mixtral_ep2_etp2_plain_zero1",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2", "training.sequence_parallel=false",
                "training.sharding=\"optimizer\""},
            kExperts},
        {"mixtral_etp2_over_replicas", {"gpus=2", "layout.dp=2", "layout.etp=2"}, kExperts},
        {"mixtral_ep2_etp2_tp1_fsdp",
            {"gpus=4", "layout.dp=4", "layout.ep=2", "layout.etp=2", "training.sharding=\"parameters\""}, kExperts},
        {"mixtral_ep2_tp2_pp2_dp2_fsdp",
            {"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2", "layout.ep=2", kAlone,
                "training.sharding=\"parameters\""},
            kExperts},
        {"qwen3_tp4_plain_pp2", {"gpus=8", "layout.tp=4", "layout.pp=2", "training.sequence_parallel=false"}, kQwen3},
        {"qwen3_moe_ep2_tp2_fsdp",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2", kAlone, "training.sharding=\"parameters\""},
            kQwen3Moe},
        {"gpt_oss_tp2_plain", {"gpus=2", "layout.tp=2", "training.sequence_parallel=false"}, {kGptOss}},
        {"gpt_oss_ep2_etp2_cp2_zero1",
            {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"optimizer\""},
            {kGptOss}},
        {"gpt_oss_ep2_etp2_pp2_fsdp",
            {"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"parameters\""},
            {kGptOss}},
        {"deepseek_tp2", {"gpus=2", "layout.tp=2"}, kDeepseek},
        {"deepseek_ep2_zero1", {"gpus=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"optimizer\""}, kDeepseek},
        {"deepseek_ep4_etp2_tp2_cp2_plain",
            {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.dp=2", "layout.ep=4", "training.sequence_parallel=false"},
            kDeepseek},
        {"deepseek_ep2_pp3_fsdp_recompute",
            {"gpus=6", "layout.pp=3", "layout.dp=2", "layout.ep=2", "training.sharding=\"parameters\"",
                "training.recompute=\"full\""},
            kDeepseek},
        {"deepseek_ep2_cp2_selective",
            {"gpus=4", "layout.cp=2", "layout.dp=2", "layout.ep=2", "training.recompute=\"selective\""}, kDeepseek},
        {"ahead_tp2_cp2", {"gpus=4", "layout.tp=2", "layout.cp=2"}, kAhead},
        {"ahead_ep2_zero2", {"gpus=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"gradients\""}, kAhead},
        {"ahead_fsdp", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, kAhead},
        {"ahead_pp2_ep2_fsdp_recompute",
            {"gpus=4", "layout.pp=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"parameters\"",
                "training.recompute=\"full\""},
            kAhead},
        {"ahead_pp3_tp2_plain", {"gpus=6", "layout.pp=3", "layout.tp=2", "training.sequence_parallel=false"}, kAhead},
        {"ahead_pp2_dp2_fsdp_each",
            {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\"",
                "training.fsdp.each_micro_batch=true"},
            joined(kAhead, {kOneByOne, "model.num_hidden_layers=4"})},
        {"ahead_tied_pp2_zero1", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"optimizer\""},
            kAheadTied},
        // The head has several weight gradients that wait: none of its ranks may sum up before the last.
        {"ahead_pp2_dp2_zb_h1", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.schedule=\"zb-h1\""},
            joined(kAhead, {kOneByOne})},
        {"ahead_tied_pp2_dp2_dualpipe_v_zero2",
            {"gpus=4", "layout.pp=2", kTwoChunks, "layout.dp=2", kDualPipe, "training.sharding=\"gradients\""},
            joined(kAheadTied, {kOneByOne, "model.num_hidden_layers=4"})},
        {"ahead_zb_v", {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"zb-v\""},
            {kDeepseek[0], "model.num_nextn_predict_layers=1", "model.num_hidden_layers=4"}},
    };
}

std::vector<Sabotage> expert_sabotages()
{
    return {
        {"expert_exchange", "ep.send_receive", {"gpus=2", "layout.dp=2", "layout.ep=2"}, kExperts},
        {"expert_exchange_beside", "ep.send_receive", {"gpus=2", "layout.dp=2", "layout.ep=2", kBeside}, kManyExperts},
        {"expert_slices", "etp.reduce_scatter", {"gpus=2", "layout.dp=2", "layout.etp=2"}, kExperts},
        {"expert_gradients", "expert_shard.all_reduce", {"gpus=4", "layout.dp=4", "layout.ep=2"}, kExperts},
        {"balance_over_sequence_parts", "cp.all_reduce", {"gpus=2", "layout.cp=2"}, kExperts},
    };
}

} // namespace fourfold::testing
