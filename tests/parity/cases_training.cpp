// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"
#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

namespace {
// 4 sequences in the first four steps, then 8.
const std::string kRampUp = R"(training.ramp_up={"start":4,"increment":4,"samples":16})";
const std::string kAdam = "training.optimizer=\"adam\"", kSmallStates = "training.optimizer_state_dtype=\"bf16\"";

} // namespace

std::vector<Case> precision_cases()
{
    const std::vector<std::string> half{kEveryPrecision, "training.precision=\"fp16\""};
    return {
        {"fp16_tp2_pp2", {"gpus=4", "layout.tp=2", "layout.pp=2"}, half},
        {"fp16_dp2_fsdp", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, half},
    };
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
    };
}

} // namespace fourfold::testing
