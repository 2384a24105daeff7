// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

namespace {
// 4 sequences in the first four steps, then 8.
const std::string kRampUp = R"(training.ramp_up={"start":4,"increment":4,"samples":16})";
const std::string kMuonStep = "training.optimizer=\"muon\"";
const std::string kAdam = "training.optimizer=\"adam\"", kSmallStates = "training.optimizer_state_dtype=\"bf16\"";
// Plans of GPUs alone have something to offload; the ranks that are compared copy within their memory.
const std::string kGpus = "cluster=\"dgx-h100\"", kActivationsAway = "training.offload=\"activations\"",
                  kOptimizerAway = "training.offload=\"optimizer\"";
const std::string kPlain = "training.compile=false";
const std::string kFourDeep = "model.num_hidden_layers=4";
// Beside it nothing may look at all gradients; the one rank updates when the backward pass has ended.
const std::string kInBackward = "training.optimizer_in_backward=true", kOneMicroBatch = "training.global_batch=4";
const std::vector<std::string> kUnclipped{"run.clip_norm=0", "run.watch.not_finite=\"stop\""};

// Sides of 16, or of a block, after tp 2; the first layer of DeepSeek's is dense.
std::vector<std::string> fp8_experts(const std::string& recipe, int side = 16)
{
    return joined(fp8_model(recipe, side),
        {"model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2",
            "model.router_aux_loss_coef=0.05"});
}
std::vector<std::string> fp8_latents(const std::string& recipe, int times = 1)
{
    std::string model = R"({"model_type":"deepseek_v3","vocab_size":61,"num_hidden_layers":2,"n_routed_experts":4,
        "num_experts_per_tok":2,"n_shared_experts":1,"n_group":2,"topk_group":1,"first_k_dense_replace":1,
        "rms_norm_eps":1e-6,"rope_theta":100.0,"aux_loss_alpha":0.05,"tie_word_embeddings":false,
        "num_attention_heads":2,"max_position_embeddings":64)";
    for (const auto& [name, side] :
        {std::pair("hidden_size", 32), {"intermediate_size", 64}, {"moe_intermediate_size", 32}, {"q_lora_rank", 16},
            {"kv_lora_rank", 32}, {"qk_nope_head_dim", 16}, {"qk_rope_head_dim", 16}, {"v_head_dim", 16}})
        model += ",\"" + std::string(name) + "\":" + std::to_string(side * times);
    return {"model=" + model + '}', kEveryPrecision, "training.precision=\"fp8\"",
        "training.fp8_recipe=\"" + recipe + '"', "training.seq_len=64", "training.micro_batch=1",
        "training.global_batch=4", "run.steps=4"};
}
} // namespace

std::vector<Case> precision_cases()
{
    const std::vector<std::string> half{kEveryPrecision, "training.precision=\"fp16\""};
    return {
        {"fp16_tp2_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2"}, half},
        {"fp16_dp2_fsdp", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, half},
        {"fp8_tp2_async_dp2_fsdp",
            {"gpus=4", "layout.tp=2", "training.async_tp=true", "layout.dp=2", "training.sharding=\"parameters\""},
            fp8_model("tensorwise", 16)},
        {"fp8_rowwise_tp2_async_pp2_zb_h1",
            {"gpus=4", "layout.tp=2", "training.async_tp=true", "layout.pp=2", "training.schedule=\"zb-h1\""},
            fp8_model("rowwise", 16)},
        {"fp8_experts_ep2_etp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2"}, fp8_experts("rowwise")},
        {"mxfp8_experts_ep2_etp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2"},
            fp8_experts("mxfp8", 32)},
        {"fp8_latents_tp2_plain_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2", "training.sequence_parallel=false"},
            fp8_latents("rowwise")},
        {"fp8_latents_tp2_dp2_ep2", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2"}, fp8_latents("tensorwise")},
        {"fp8_latents_ep2_dp2_fsdp", {"gpus=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"parameters\""},
            fp8_latents("tensorwise")},
    };
}

std::vector<Case> more_precision_cases()
{
    return {
        {"fp8_experts_tp2_etp2_dp2_fsdp", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""},
            fp8_experts("tensorwise")},
        {"fp8_experts_tp2_dp2_ep4_recompute",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=4", "layout.etp=1", "training.recompute=\"full\""},
            fp8_experts("rowwise")},
        {"fp8_experts_ep2_dp4_hsdp",
            {"gpus=4", "layout.dp=4", "layout.ep=2", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            fp8_experts("tensorwise")},
        {"fp8_blockwise_experts_ep2_etp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2"},
            fp8_experts("blockwise", 128)},
        {"mxfp8_experts_ep2_etp2_dp2_capacity", {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2"},
            joined(fp8_experts("mxfp8", 32), {"training.experts.capacity=0.8"})},
        {"mxfp8_experts_etp2_over_replicas_zero1",
            {"gpus=4", "layout.dp=4", "layout.etp=2", "layout.ep=2", "training.sharding=\"optimizer\""},
            fp8_experts("mxfp8", 32)},
        {"mxfp8_ceil_experts_pp2_ep2_zb_h1_recompute",
            {"gpus=4", "layout.dp=2", "layout.pp=2", "layout.ep=2", "training.schedule=\"zb-h1\"",
                "training.recompute=\"full\""},
            joined(fp8_experts("mxfp8", 32), {"training.mx_rounding=\"ceil\""})},
        {"fp8_latents_rowwise_tp2_cp2_ep4", {"gpus=4", "layout.tp=2", "layout.cp=2", "layout.ep=4", "layout.etp=1"},
            fp8_latents("rowwise")},
        {"mxfp8_latents_tp2_dp2_fsdp_recompute",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "layout.ep=2", "training.sharding=\"parameters\"",
                "training.recompute=\"full\""},
            fp8_latents("mxfp8", 2)},
        {"fp8_latents_of_whole_queries_tp2_pp2_zb_h1",
            {"gpus=4", "layout.tp=2", "layout.pp=2", "training.schedule=\"zb-h1\""},
            joined(fp8_latents("rowwise"), {"model.q_lora_rank=null"})},
        {"fp8_latents_pp2_zb_h1_cp2", {"gpus=4", "layout.pp=2", "layout.cp=2", "training.schedule=\"zb-h1\""},
            fp8_latents("rowwise")},
        {"fp8_blockwise_tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, fp8_model("blockwise", 128)},
        {"fp8_tp2_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2"}, fp8_model("tensorwise", 16)},
        {"fp8_tp2_async_beside_dp2",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "training.async_tp=true", "training.overlap.tensor_parallel=true"},
            fp8_model("tensorwise", 16)},
        {"fp8_tp2_async_cp2_dp2_fsdp_recompute",
            {"gpus=8", "layout.tp=2", "training.async_tp=true", "layout.cp=2", "layout.dp=2",
                "training.sharding=\"parameters\"", "training.recompute=\"full\""},
            fp8_model("tensorwise", 16)},
        {"fp8_tp2_pp2_dp2_cp2_operations",
            {"gpus=16", "layout.tp=2", "layout.pp=2", "layout.dp=2", "layout.cp=2", "training.recompute=\"selective\"",
                "training.recompute_parts=[\"operations\"]"},
            fp8_model("tensorwise", 16)},
        {"fp8_tp2_plain_dp2_operations",
            {"gpus=4", "layout.tp=2", "training.sequence_parallel=false", "layout.dp=2",
                "training.recompute=\"selective\"", "training.recompute_parts=[\"operations\"]"},
            fp8_model("tensorwise", 16)},
        {"fp8_dp4_hsdp", {"gpus=4", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            fp8_model("tensorwise", 16)},
        {"fp8_rowwise_tp2_cp2_dp2", {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.dp=2"}, fp8_model("rowwise", 16)},
        {"fp8_rowwise_dp2_fsdp", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""},
            fp8_model("rowwise", 16)},
        {"mxfp8_tp2_async_cp2", {"gpus=4", "layout.tp=2", "training.async_tp=true", "layout.cp=2"},
            fp8_model("mxfp8", 32)},
        {"mxfp8_ceil_pp2_dp2_zero2", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"gradients\""},
            joined(fp8_model("mxfp8", 32), {"training.mx_rounding=\"ceil\""})},
    };
}

// Fully sharded ranks add up nothing over all of them but the magnitudes behind their scales.
std::vector<Sabotage> precision_sabotages()
{
    return {{"scales_of_each_replica", "dp.all_reduce", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""},
        fp8_model("tensorwise", 16)}};
}

std::vector<Case> training_cases()
{
    return {
        // The one rank has fused kernels.
        {"plain_tp2_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2", kPlain}, {}},
        {"plain_cp2_fsdp", {"gpus=4", "layout.cp=2", "layout.dp=2", "training.sharding=\"parameters\"", kPlain}, {}},
        {"plain_experts", {"gpus=2", "layout.dp=2", "layout.ep=2", kPlain},
            {"model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2", kAdam}},
        {"adam_dp2_zero1", {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {kAdam}},
        {"adam_states_in_bf16_tp2_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2"}, {kAdam, kSmallStates}},
        {"states_in_bf16_dp2_fsdp", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, {kSmallStates}},
        {"ramp_up_dp2_zero2", {"gpus=2", "layout.dp=2", "training.sharding=\"gradients\""}, {kRampUp}},
        {"ramp_up_pp2_interleaved_tp2",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.tp=2", "training.schedule=\"interleaved\""},
            {kRampUp, "model.num_hidden_layers=4", "run.steps=20"}},
        {"ramp_up_adam_pp2_dp2_fsdp", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""},
            {kRampUp, kAdam, kSmallStates}},
        {"muon_tp4_shared_keys", {"gpus=4", "layout.tp=4"}, {kMuonStep}},
        {"muon_dp4", {"gpus=4", "layout.dp=4"}, {kMuonStep}},
        {"muon_dp3_zero1", {"gpus=3", "layout.dp=3", "training.sharding=\"optimizer\""},
            {kMuonStep, "training.global_batch=12"}},
        {"muon_tp2_cp2_dp2_zero2",
            {"gpus=8", "layout.tp=2", "layout.cp=2", "layout.dp=2", "training.sharding=\"gradients\""}, {kMuonStep}},
        {"muon_neox_tp2_pp2_dp2_fsdp",
            {"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""},
            {kMuonStep, kNeox}},
        {"muon_tp2_dp4_hsdp",
            {"gpus=8", "layout.tp=2", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            {kMuonStep, kSmallStates, "run.momentum=0.8"}},
        {"activations_away", {"gpus=1", kGpus, kActivationsAway}, {kFourDeep}},
        {"optimizer_away", {"gpus=1", kGpus, kOptimizerAway}, {kAdam}},
        {"muon_away_tp2_dp2_zero1",
            {"gpus=4", kGpus, kOptimizerAway, "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""},
            {kMuonStep}},
        {"muon_away_pp2_dp4_hsdp",
            {"gpus=8", kGpus, kOptimizerAway, "layout.pp=2", "layout.dp=4", "layout.dp_shard=2",
                "training.sharding=\"hybrid\""},
            {kMuonStep, kSmallStates}},
        {"tp2_dp2_zero1_optimizer_away",
            {"gpus=4", kGpus, kOptimizerAway, "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""},
            {kSmallStates}},
        {"pp2_dp2_fsdp_optimizer_away",
            {"gpus=4", kGpus, kOptimizerAway, "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"tp2_pp2_interleaved_activations_away_operations",
            {"gpus=4", kGpus, kActivationsAway, "layout.tp=2", "layout.pp=2", "layout.virtual_stages=2",
                "training.schedule=\"interleaved\"", "training.recompute=\"selective\"",
                "training.recompute_parts=[\"operations\"]"},
            {"model.num_hidden_layers=8", "training.micro_batch=1"}},
        {"cp2_dp2_fsdp_activations_away_recompute",
            {"gpus=4", kGpus, kActivationsAway, "layout.cp=2", "layout.dp=2", "training.sharding=\"parameters\"",
                "training.recompute=\"full\""},
            {kFourDeep}},
        {"experts_ep2_zb_h1_activations_away",
            {"gpus=4", kGpus, kActivationsAway, "layout.dp=2", "layout.ep=2", "layout.pp=2",
                "training.schedule=\"zb-h1\""},
            {kFourDeep, "model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2"}},
        {"in_backward", {"gpus=1", kInBackward}, joined(kUnclipped, {kAdam})},
        {"in_backward_tp2_dp2_fsdp",
            {"gpus=4", kInBackward, "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""},
            joined(kUnclipped, {kOneMicroBatch})},
        {"in_backward_tp4_dp2_fsdp_of_two_layers",
            {"gpus=8", kInBackward, "layout.tp=4", "layout.dp=2", "training.sharding=\"parameters\"",
                "training.fsdp.layers_per_unit=2", "training.recompute=\"full\""},
            joined(kUnclipped, {kFourDeep, kSmallStates})},
        {"in_backward_dp2_zero1", {"gpus=2", kInBackward, "layout.dp=2", "training.sharding=\"optimizer\""},
            joined(kUnclipped, {kOneMicroBatch})},
        {"in_backward_cp2_dp2_zero2_late",
            {"gpus=4", kInBackward, "layout.cp=2", "layout.dp=2", "training.sharding=\"gradients\"",
                "training.overlap={\"grad_reduce\":false,\"param_gather\":false,\"p2p\":false}"},
            joined(kUnclipped, {kRampUp})},
        {"in_backward_tp2_dp4_hsdp",
            {"gpus=8", kInBackward, "layout.tp=2", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            kUnclipped},
        {"in_backward_tp2_pp2_dp2_tied",
            {"gpus=8", kInBackward, "layout.tp=2", "layout.pp=2", "layout.dp=2", "training.schedule=\"zb-h1\""},
            joined(kUnclipped, {"model.tie_word_embeddings=true"})},
        {"in_backward_pp2_interleaved_dp2_fsdp",
            {"gpus=4", kInBackward, "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"interleaved\"",
                "layout.dp=2", "training.sharding=\"parameters\""},
            joined(kUnclipped, {kFourDeep})},
        {"in_backward_experts_ep2_dp2_fsdp",
            {"gpus=2", kInBackward, "layout.dp=2", "layout.ep=2", "training.sharding=\"parameters\""},
            joined(kUnclipped,
                {"model.model_type=\"mixtral\"", "model.num_local_experts=4", "model.num_experts_per_tok=2"})},
    };
}

// What an update in the backward pass takes has come together before it.
std::vector<Sabotage> training_sabotages()
{
    return {
        {"norms_of_each_tp_rank_in_backward", "tp.all_reduce", {"gpus=2", kInBackward, "layout.tp=2"}, kUnclipped},
        {"hsdp_copies_in_backward", "dp_replicate.all_reduce",
            {"gpus=2", kInBackward, "layout.dp=2", "layout.dp_shard=1", "training.sharding=\"hybrid\""}, kUnclipped},
    };
}

} // namespace fourfold::testing
