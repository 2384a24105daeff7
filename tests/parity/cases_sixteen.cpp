// SPDX-License-Identifier: GPL-3.0-or-later
// Techniques beside each other where every dimension is cut: tp, cp, pp and dp of two each.
#include "tests/parity/cases.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

namespace {
const std::vector<std::string> kSixteenExperts{"model.model_type=\"mixtral\"", "model.num_local_experts=4",
    "model.num_experts_per_tok=2", "model.router_aux_loss_coef=0.05"};
const std::string kSixteenDeep = "model.num_hidden_layers=4", kSixteenPieces = "training.async_tp=true",
                  kSixteenSharded = "training.sharding=\"parameters\"", kSixteenChunks = "layout.virtual_stages=2";

// The four dimensions, and more.
std::vector<std::string> sixteen_ranks(const std::vector<std::string>& more)
{
    return joined({"gpus=16", "layout.tp=2", "layout.cp=2", "layout.pp=2", "layout.dp=2"}, more);
}
} // namespace

std::vector<Case> sixteen_rank_cases()
{
    return {
        {"fp8_experts_ep2", sixteen_ranks({"layout.ep=2"}), joined(fp8_model("rowwise", 16), kSixteenExperts)},
        {"fp8_async_zb_h1", sixteen_ranks({kSixteenPieces, "training.schedule=\"zb-h1\""}),
            fp8_model("tensorwise", 16)},
        {"async_fsdp_zb_v",
            sixteen_ranks({kSixteenPieces, kSixteenSharded, kSixteenChunks, "training.schedule=\"zb-v\""}),
            {kSixteenDeep, "training.micro_batch=1"}},
        {"experts_ep2_async_fsdp", sixteen_ranks({"layout.ep=2", kSixteenPieces, kSixteenSharded}), kSixteenExperts},
        {"experts_ep2_dualpipe_v", sixteen_ranks({"layout.ep=2", kSixteenChunks, "training.schedule=\"dualpipe-v\""}),
            joined(kSixteenExperts, {kSixteenDeep, "training.micro_batch=1", "training.global_batch=16"})},
    };
}

} // namespace fourfold::testing
