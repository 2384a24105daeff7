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
const std::string kFourDeep = "model.num_hidden_layers=4";
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
    };
}

std::vector<Case> more_precision_cases()
{
    return {
        {"fp8_blockwise_tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, fp8_model("blockwise", 128)},
        {"fp8_tp2_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2"}, fp8_model("tensorwise", 16)},
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
    };
}

} // namespace fourfold::testing
