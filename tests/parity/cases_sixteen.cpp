// SPDX-License-Identifier: GPL-3.0-or-later
// Techniques beside each other where every dimension is cut: tp, cp, pp and dp of two each.
#include "tests/parity/cases.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

namespace {
const std::vector<std::string> kMixtral{"model.model_type=\"mixtral\"", "model.num_local_experts=4",
    "model.num_experts_per_tok=2", "model.router_aux_loss_coef=0.05"};
const std::string kFourDeep = "model.num_hidden_layers=4", kAsync = "training.async_tp=true",
                  kFsdp = "training.sharding=\"parameters\"", kTwoChunks = "layout.virtual_stages=2";

// The four dimensions, and more.
std::vector<std::string> at_two(const std::vector<std::string>& more)
{
    return joined({"gpus=16", "layout.tp=2", "layout.cp=2", "layout.pp=2", "layout.dp=2"}, more);
}
} // namespace

std::vector<Case> sixteen_rank_cases()
{
    return {
        {"fp8_experts_ep2", at_two({"layout.ep=2"}), joined(fp8_model("rowwise", 16), kMixtral)},
        {"fp8_async_zb_h1", at_two({kAsync, "training.schedule=\"zb-h1\""}), fp8_model("tensorwise", 16)},
        {"async_fsdp_zb_v", at_two({kAsync, kFsdp, kTwoChunks, "training.schedule=\"zb-v\""}),
            {kFourDeep, "training.micro_batch=1"}},
        {"experts_ep2_async_fsdp", at_two({"layout.ep=2", kAsync, kFsdp}), kMixtral},
        {"experts_ep2_dualpipe_v", at_two({"layout.ep=2", kTwoChunks, "training.schedule=\"dualpipe-v\""}),
            joined(kMixtral, {kFourDeep, "training.micro_batch=1", "training.global_batch=16"})},
    };
}

} // namespace fourfold::testing
