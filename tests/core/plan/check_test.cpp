// SPDX-License-Identifier: GPL-3.0-or-later
// Every rule has a row that breaks it; the nearest value that the rule names must mend it.
#include "support.h"

#include <algorithm>
#include <set>

namespace fourfold::test {
namespace {

struct Row {
    const char* name;
    const char* model;
    const char* cluster;
    int gpus;
    std::vector<std::string> broken; // as in --set
    const char* code;
    const char* field;
    const char* nearest; // JSON text
    std::vector<std::string> passing; // the same plan with these settings breaks nothing
};

void PrintTo(const Row& row, std::ostream* out)
{
    *out << row.name;
}

const std::vector<Row>& rows()
{
    const std::string kInBackward = "training.optimizer_in_backward=true", kUnclipped = "run.clip_norm=0",
                      kStop = "run.watch.not_finite=stop", kTensorBeside = "training.overlap.tensor_parallel=true";
    static const std::vector<Row> kRows{
        {"product_dp", "small", "modern", 16, {"layout.tp=2", "layout.dp=4"}, "degrees_do_not_multiply", "layout.dp",
            "8", {"layout.tp=2", "layout.dp=8"}},
        {"product_gpus", "small", "modern", 10, {"layout.tp=4"}, "degrees_do_not_multiply", "gpus", "8",
            {"layout.tp=2"}},
        {"product_tp", "small", "modern", 16, {"layout.tp=3", "layout.dp=8"}, "degrees_do_not_multiply", "layout.tp",
            "2", {"layout.tp=2", "layout.dp=8"}},
        {"sequence_of_tp", "small", "modern", 24, {"layout.tp=3"}, "sequence_not_divisible_by_tp", "layout.tp", "2",
            {"layout.tp=4"}},
        {"heads", "small", "modern", 24, {"layout.tp=3", "training.seq_len=3072"}, "heads_not_divisible", "layout.tp",
            "2", {"layout.tp=4"}},
        {"heads_beyond", "small", "modern", 32, {"layout.tp=32"}, "heads_not_divisible", "layout.tp", "16",
            {"layout.tp=16"}},
        {"kv_heads_copied", "experts", "modern", 24, {"layout.tp=12", "layout.etp=1"}, "kv_heads_not_divisible",
            "layout.tp", "8", {"layout.tp=8"}},
        {"ffn", "narrow-mlp", "modern", 16, {"layout.tp=8"}, "ffn_not_divisible", "layout.tp", "4", {"layout.tp=4"}},
        {"sequence_parallel", "small", "modern", 16, {"layout.tp=4", "training.seq_len=4090"},
            "sequence_not_divisible_by_tp", "training.seq_len", "4088",
            {"layout.tp=4", "training.seq_len=4090", "training.sequence_parallel=false"}},
        {"cp", "small", "modern", 24, {"layout.cp=3"}, "sequence_not_divisible_by_cp", "layout.cp", "2",
            {"layout.cp=4"}},
        {"cp_halves", "small", "modern", 16, {"layout.cp=4", "training.seq_len=4084"}, "sequence_not_divisible_by_cp",
            "layout.cp", "2", {"layout.cp=4", "training.seq_len=4084", "training.cp_method=ulysses"}},
        {"ulysses_heads", "small", "modern", 32, {"layout.cp=32", "training.cp_method=ulysses"},
            "heads_not_divisible_by_cp", "layout.cp", "16", {"layout.cp=16", "training.cp_method=ulysses"}},
        {"more_stages", "small", "modern", 16, {"layout.pp=16"}, "more_stages_than_layers", "layout.pp", "8",
            {"layout.pp=8"}},
        {"more_chunks", "small", "modern", 16, {"layout.pp=4", "layout.virtual_stages=4"}, "more_stages_than_layers",
            "layout.virtual_stages", "2", {"layout.pp=4", "layout.virtual_stages=2"}},
        {"stage_count", "small", "modern", 16, {"layout.pp=2", "layout.stage_layers=[4,2,2]"}, "stage_layers_count",
            "layout.stage_layers", "[4,4]", {"layout.pp=2", "layout.stage_layers=[5,3]"}},
        {"stage_sum", "small", "modern", 16, {"layout.pp=2", "layout.stage_layers=[5,4]"}, "stage_layers_sum",
            "layout.stage_layers", "[4,4]", {"layout.pp=2", "layout.stage_layers=[1,7]"}},
        {"stage_empty", "small", "modern", 16, {"layout.pp=2", "layout.stage_layers=[8,0]"}, "stage_without_layers",
            "layout.stage_layers", "[4,4]", {"layout.pp=2", "layout.stage_layers=[7,1]"}},
        {"stage_negative_sum", "small", "modern", 16, {"layout.pp=4", "layout.stage_layers=[3,3,3,0]"},
            "stage_layers_sum", "layout.stage_layers", "[2,2,2,2]", {"layout.pp=4"}},
        {"virtual_without_pipeline", "small", "modern", 16, {"layout.virtual_stages=2"},
            "virtual_stages_without_pipeline", "layout.virtual_stages", "1", {"layout.virtual_stages=1"}},
        {"virtual_with_1f1b", "small", "modern", 16,
            {"layout.pp=2", "layout.virtual_stages=2", "training.schedule=1f1b"}, "virtual_stages_without_schedule",
            "training.schedule", "\"interleaved\"", {"layout.pp=2", "layout.virtual_stages=2"}},
        {"interleaved_without_virtual", "small", "modern", 16, {"layout.pp=2", "training.schedule=interleaved"},
            "schedule_needs_virtual_stages", "layout.virtual_stages", "2",
            {"layout.pp=2", "training.schedule=interleaved", "layout.virtual_stages=4"}},
        {"interleaved_too_few_layers", "small", "modern", 16, {"layout.pp=8", "training.schedule=interleaved"},
            "schedule_needs_virtual_stages", "training.schedule", "\"1f1b\"", {"layout.pp=8"}},
        {"zb_v", "small", "modern", 16, {"layout.pp=2", "layout.virtual_stages=3", "training.schedule=zb-v"},
            "schedule_needs_virtual_stages", "layout.virtual_stages", "2",
            {"layout.pp=2", "layout.virtual_stages=2", "training.schedule=zb-v"}},
        {"zb_v_too_few_layers", "small", "modern", 16, {"layout.pp=8", "training.schedule=zb-v"},
            "schedule_needs_virtual_stages", "training.schedule", "\"1f1b\"",
            {"layout.pp=4", "training.schedule=zb-v", "layout.virtual_stages=2"}},
        {"global_batch", "small", "modern", 8, {"training.micro_batch=2", "training.global_batch=100"},
            "global_batch_not_divisible", "training.global_batch", "96",
            {"training.micro_batch=2", "training.global_batch=96"}},
        {"global_batch_too_small", "small", "modern", 8, {"training.micro_batch=2", "training.global_batch=8"},
            "global_batch_not_divisible", "training.global_batch", "16", {"training.global_batch=8"}},
        {"batch_contradiction", "small", "modern", 8, {"training.micro_batches=3", "training.global_batch=16"},
            "batch_contradiction", "training.micro_batches", "2",
            {"training.micro_batches=2", "training.global_batch=16"}},
        {"interleaved_micro_batches", "small", "modern", 8,
            {"layout.pp=4", "layout.virtual_stages=2", "training.global_batch=12"}, "micro_batches_not_divisible",
            "training.global_batch", "8", {"layout.pp=4", "training.global_batch=12"}},
        {"ramp_start_above", "small", "modern", 8,
            {"training.global_batch=64", R"(training.ramp_up={"start":128,"increment":8,"samples":100})"},
            "ramp_up_start", "training.ramp_up.start", "64",
            {"training.global_batch=64", R"(training.ramp_up={"start":16,"increment":8,"samples":100})"}},
        {"ramp_start", "small", "modern", 8,
            {"training.global_batch=64", R"(training.ramp_up={"start":12,"increment":8,"samples":100})"},
            "ramp_up_start", "training.ramp_up.start", "8",
            {"training.global_batch=64", R"(training.ramp_up={"start":8,"increment":16,"samples":100})"}},
        {"ramp_increment", "small", "modern", 8,
            {"training.global_batch=64", R"(training.ramp_up={"start":8,"increment":3,"samples":100})"},
            "ramp_up_increment", "training.ramp_up.increment", "8", {"training.global_batch=64"}},
        {"ep_dense", "small", "modern", 16, {"layout.ep=2"}, "expert_parallel_without_experts", "layout.ep", "1", {}},
        {"etp_dense", "small", "modern", 16, {"layout.etp=7"}, "expert_parallel_without_experts", "layout.etp", "1",
            {}},
        {"ep_count", "experts", "modern", 24, {"layout.ep=3"}, "experts_not_divisible", "layout.ep", "2",
            {"layout.ep=4"}},
        {"ep_degrees", "experts", "modern", 12, {"layout.ep=8"}, "expert_degrees_not_divisible", "layout.ep", "4",
            {"layout.ep=4"}},
        {"exchange_of_none", "experts", "modern", 8, {"training.overlap.expert_exchange=true"}, "expert_exchange",
            "training.overlap.expert_exchange", "false",
            {"training.overlap.expert_exchange=true", "layout.ep=2", "training.global_batch=16"}},
        {"exchange_of_dense", "small", "modern", 8, {"training.overlap.expert_exchange=true"}, "expert_exchange",
            "training.overlap.expert_exchange", "false", {}},
        {"exchange_beside_nothing", "experts", "modern", 8,
            {"training.overlap.expert_exchange=true", "layout.ep=2", "layout.pp=2"}, "expert_exchange",
            "training.overlap.expert_exchange", "false",
            {"training.overlap.expert_exchange=true", "layout.ep=2", "layout.pp=2", "layout.virtual_stages=2",
                "training.schedule=dualpipe-v"}},
        {"exchange_of_one_micro_batch", "experts", "modern", 8,
            {"training.overlap.expert_exchange=true", "layout.ep=2", "training.global_batch=8"}, "expert_exchange",
            "training.overlap.expert_exchange", "false",
            {"training.overlap.expert_exchange=true", "layout.ep=2", "training.global_batch=16"}},
        {"etp_ffn", "experts", "modern", 24, {"layout.etp=3"}, "expert_ffn_not_divisible", "layout.etp", "2",
            {"layout.etp=4"}},
        {"etp_degrees", "experts", "modern", 12, {"layout.etp=8"}, "expert_degrees_not_divisible", "layout.etp", "4",
            {"layout.etp=2", "layout.ep=2"}},
        {"dp_shard", "small", "modern", 16, {"training.sharding=hybrid", "layout.dp_shard=6"}, "dp_shard_not_divisible",
            "layout.dp_shard", "4", {"training.sharding=hybrid", "layout.dp_shard=4"}},
        {"dp_shard_not_hybrid", "small", "modern", 16, {"training.sharding=parameters", "layout.dp_shard=8"},
            "dp_shard_without_hybrid", "layout.dp_shard", "16", {"training.sharding=parameters"}},
        {"fp8", "small", "middle", 8, {"training.precision=fp8"}, "precision_unsupported", "training.precision",
            "\"bf16\"", {"training.precision=fp16"}},
        {"nvfp4", "small", "modern", 8, {"training.precision=nvfp4"}, "precision_unsupported", "training.precision",
            "\"bf16\"", {"training.precision=fp8"}},
        {"bf16", "small", "old", 8, {"training.precision=bf16"}, "precision_unsupported", "training.precision",
            "\"fp16\"", {"training.precision=fp32"}},
        {"fp16", "small", "computer", 4, {"training.precision=fp16"}, "precision_unsupported", "training.precision",
            "\"fp32\"", {}},
        {"grad_dtype", "small", "modern", 8, {"training.grad_dtype=fp8"}, "grad_dtype_unsupported",
            "training.grad_dtype", "\"bf16\"", {"training.precision=fp8"}},
        {"recompute_layers", "small", "modern", 8,
            {"layout.pp=2", "training.recompute=full", "training.recompute_layers=5"}, "too_many_recompute_layers",
            "training.recompute_layers", "4",
            {"layout.pp=2", "training.recompute=full", "training.recompute_layers=4"}},
        {"recompute_layers_of_every", "small", "modern", 8,
            {"layout.pp=2", "training.recompute=full", "training.recompute_every=2", "training.recompute_layers=3"},
            "too_many_recompute_layers", "training.recompute_layers", "2",
            {"layout.pp=2", "training.recompute=full", "training.recompute_every=2", "training.recompute_layers=2"}},
        {"recompute_every", "small", "modern", 8,
            {"layout.pp=2", "training.recompute=full", "training.recompute_every=5"}, "too_rare_recompute_layers",
            "training.recompute_every", "4", {"layout.pp=2", "training.recompute=full", "training.recompute_every=4"}},
        {"recompute_moe", "small", "modern", 8, {"training.recompute=selective", "training.recompute_parts=[\"moe\"]"},
            "recompute_parts", "training.recompute_parts", "[\"mlp\"]",
            {"training.recompute=selective", "training.recompute_parts=[\"mlp\"]"}},
        {"recompute_parts", "small", "modern", 8,
            {"training.recompute=selective", "training.recompute_parts=[\"operations\",\"mlp\"]"}, "recompute_parts",
            "training.recompute_parts", "[\"operations\"]",
            {"training.recompute=selective", "training.recompute_parts=[\"operations\"]"}},
        {"recompute_latents", "small", "modern", 8,
            {"training.recompute=selective", "training.recompute_parts=[\"mla-up-proj\"]"}, "recompute_parts",
            "training.recompute_parts", "[\"core-attention\"]",
            {"training.recompute=selective", "training.recompute_parts=[\"core-attention\"]"}},
        {"recompute_expert_activation", "small", "modern", 8,
            {"training.recompute=selective", "training.recompute_parts=[\"moe-act\"]"}, "recompute_parts",
            "training.recompute_parts", "[\"mlp\"]",
            {"training.recompute=selective", "training.recompute_parts=[\"mlp\"]"}},
        {"offload_layers", "small", "modern", 8,
            {"layout.pp=2", "training.offload=activations", "training.offload_layers=5"}, "too_many_offload_layers",
            "training.offload_layers", "4",
            {"layout.pp=2", "training.offload=activations", "training.offload_layers=4"}},
        {"fsdp_unit", "small", "modern", 8, {"training.sharding=parameters", "training.fsdp.layers_per_unit=9"},
            "fsdp_unit_too_large", "training.fsdp.layers_per_unit", "8",
            {"training.sharding=parameters", "training.fsdp.layers_per_unit=8"}},
        {"offload", "small", "computer", 4, {"training.offload=optimizer"}, "offload_on_cpu", "training.offload",
            "\"none\"", {"training.offload=none"}},
        {"in_backward_clip", "small", "modern", 8, {kInBackward, kStop}, "optimizer_in_backward_clip", "run.clip_norm",
            "0", {kInBackward, kStop, kUnclipped}},
        {"in_backward_not_finite", "small", "modern", 8, {kInBackward, kUnclipped}, "optimizer_in_backward_watch",
            "run.watch.not_finite", "\"stop\"", {kInBackward, kStop, kUnclipped}},
        {"in_backward_spike", "small", "modern", 8, {kInBackward, kStop, kUnclipped, "run.watch.spike=skip"},
            "optimizer_in_backward_spike", "run.watch.spike", "\"warn\"",
            {kInBackward, kStop, kUnclipped, "run.watch.spike=stop"}},
        {"in_backward_documents", "small", "modern", 8, {kInBackward, kStop, kUnclipped, "run.documents.mask=true"},
            "optimizer_in_backward_documents", "run.documents.mask", "false", {"run.documents.mask=true"}},
        {"in_backward_padding", "small", "modern", 8,
            {kInBackward, kStop, kUnclipped, R"(run.environment={"FOURFOLD_PADDING":"5"})"},
            "optimizer_in_backward_padding", "run.environment", "{}", {kInBackward, kStop, kUnclipped}},
        {"in_backward_fp16", "small", "modern", 8, {kInBackward, kStop, kUnclipped, "training.precision=fp16"},
            "optimizer_in_backward_fp16", "training.precision", "\"bf16\"", {"training.precision=fp16"}},
        {"in_backward_muon", "small", "modern", 8, {kInBackward, kStop, kUnclipped, "training.optimizer=muon"},
            "optimizer_in_backward_of_muon", "training.optimizer", "\"fused-adamw\"", {"training.optimizer=muon"}},
        {"in_backward_offload", "small", "modern", 8, {kInBackward, kStop, kUnclipped, "training.offload=optimizer"},
            "optimizer_in_backward_offload", "training.offload", "\"none\"",
            {kInBackward, kStop, kUnclipped, "training.offload=activations"}},
        {"async_tp", "small", "modern", 8,
            {"layout.tp=2", "training.async_tp=true", "training.sequence_parallel=false"},
            "async_tp_without_sequence_parallel", "training.async_tp", "false",
            {"layout.tp=2", "training.async_tp=true"}},
        {"beside_tp1", "small", "modern", 8, {"training.async_tp=true", kTensorBeside}, "tensor_parallel_beside",
            "training.overlap.tensor_parallel", "false",
            {"layout.tp=2", "training.async_tp=true", kTensorBeside, "training.global_batch=16"}},
        {"beside_plain_tp", "small", "modern", 8, {"layout.tp=2", kTensorBeside}, "tensor_parallel_beside",
            "training.overlap.tensor_parallel", "false",
            {"layout.tp=2", "training.async_tp=true", kTensorBeside, "training.global_batch=16"}},
        {"beside_1f1b", "small", "modern", 8, {"layout.tp=2", "layout.pp=2", "training.async_tp=true", kTensorBeside},
            "tensor_parallel_beside", "training.overlap.tensor_parallel", "false",
            {"layout.tp=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=dualpipe-v",
                "training.async_tp=true", kTensorBeside}},
        {"beside_one_micro_batch", "small", "modern", 8,
            {"layout.tp=2", "training.async_tp=true", kTensorBeside, "training.global_batch=4"},
            "tensor_parallel_beside", "training.overlap.tensor_parallel", "false",
            {"layout.tp=2", "training.async_tp=true", kTensorBeside, "training.global_batch=8"}},
        {"deepspeed_pipeline", "small", "modern", 8,
            {"stack=megatron-deepspeed", "layout.pp=2", "training.sharding=gradients"}, "sharding_with_pipeline",
            "training.sharding", "\"optimizer\"",
            {"stack=megatron-deepspeed", "layout.pp=2", "training.sharding=optimizer"}},
        {"nanotron_few_micro_batches", "small", "modern", 8,
            {"stack=nanotron", "layout.pp=4", "layout.stage_layers=[2,2,2,2]", "training.micro_batches=2"},
            "too_few_micro_batches", "training.global_batch", "6",
            {"stack=nanotron", "layout.pp=4", "layout.stage_layers=[2,2,2,2]", "training.micro_batches=3"}},
        {"nanotron_empty_stage", "wide-vocab", "modern", 8,
            {"stack=nanotron", "layout.pp=8", "layout.stage_layers=[0,2,2,2,2,2,2,4]"}, "stage_without_layers",
            "layout.stage_layers", "[2,2,2,2,2,2,2,2]", {"stack=nanotron", "layout.pp=2"}},
    };
    return kRows;
}

std::vector<std::string> lines(const std::vector<Reason>& reasons)
{
    std::vector<std::string> out;
    for (const Reason& reason : reasons)
        out.push_back(reason.code + " " + reason.field + ": " + reason.message);
    return out;
}

const Reason* find(const std::vector<Reason>& reasons, const Row& row)
{
    for (const Reason& reason : reasons) {
        if (reason.code == row.code && reason.field == row.field)
            return &reason;
    }
    return nullptr;
}

class CheckRule : public testing::TestWithParam<Row> { };

TEST_P(CheckRule, IsBrokenAndItsNearestValueMendsIt)
{
    const Row& row = GetParam();
    const Plan plan = changed(base_plan(row.model, row.cluster, row.gpus), row.broken);
    const std::vector<Reason> reasons = check(resolved(plan));
    const Reason* reason = find(reasons, row);
    ASSERT_NE(reason, nullptr) << testing::PrintToString(lines(reasons));
    EXPECT_EQ(reason->nearest, row.nearest) << reason->message;
    EXPECT_EQ(reason->message.find('\n'), std::string::npos);
    EXPECT_NE(reason->message.find("; use "), std::string::npos) << reason->message;

    const Plan mended = must(with_field(plan, reason->field, reason->nearest));
    const std::vector<Reason> left = check(resolved(mended));
    EXPECT_EQ(find(left, row), nullptr) << testing::PrintToString(lines(left));
}

TEST_P(CheckRule, Passes)
{
    const Row& row = GetParam();
    const Plan plan = changed(base_plan(row.model, row.cluster, row.gpus), row.passing);
    EXPECT_EQ(lines(check(resolved(plan))), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Rules, CheckRule, testing::ValuesIn(rows()),
    [](const testing::TestParamInfo<Row>& info) { return std::string(info.param.name); });

TEST(Check, BasePlansBreakNothing)
{
    for (const char* model : {"small", "experts", "narrow-mlp", "wide-vocab"})
        for (const char* cluster : {"modern", "middle", "old", "computer"})
            EXPECT_EQ(lines(check(resolved(base_plan(model, cluster)))), std::vector<std::string>{})
                << model << " " << cluster;
}

TEST(Check, MessagesNameTheNumbers)
{
    const Plan plan = changed(base_plan("small", "modern", 24), {"layout.tp=3", "training.seq_len=3072"});
    const std::vector<Reason> reasons = check(resolved(plan));
    ASSERT_FALSE(reasons.empty());
    EXPECT_EQ(reasons.front().message, "tp 3 does not divide the 16 attention heads; use 2");
}

TEST(Check, GlobalBatchNamesBothNeighbours)
{
    const Plan plan = changed(base_plan("small", "modern", 8), {"training.micro_batch=2", "training.global_batch=100"});
    const std::vector<Reason> reasons = check(resolved(plan));
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_NE(reasons.front().message.find("96 or 112"), std::string::npos) << reasons.front().message;
}

TEST(Check, SeveralRulesAreAllReported)
{
    const Plan plan = changed(base_plan("small", "middle", 24),
        {"layout.tp=3", "layout.dp=5", "training.precision=fp8", "training.global_batch=7"});
    std::set<std::string> codes;
    for (const Reason& reason : check(resolved(plan)))
        codes.insert(reason.code);
    for (const char* code : {"degrees_do_not_multiply", "heads_not_divisible", "kv_heads_not_divisible",
             "ffn_not_divisible", "precision_unsupported", "global_batch_not_divisible"})
        EXPECT_TRUE(codes.contains(code)) << code;
}

// Each nearest value is a fixed point at most a few edits away: mending one reason after the other ends.
TEST(Check, MendingReasonsOneByOneEndsInAValidPlan)
{
    for (const int tp : {1, 2, 3, 5, 8, 12})
        for (const int cp : {1, 2, 3})
            for (const int pp : {1, 2, 5, 9})
                for (const int gpus : {8, 24, 60, 100}) {
                    Plan plan = changed(base_plan("small", "modern", gpus),
                        {"layout.tp=" + std::to_string(tp), "layout.cp=" + std::to_string(cp),
                            "layout.pp=" + std::to_string(pp), "training.global_batch=77"});
                    int edits = 0;
                    for (auto reasons = check(resolved(plan)); !reasons.empty() && edits < 20; ++edits) {
                        ASSERT_FALSE(reasons.front().nearest.empty()) << reasons.front().message;
                        plan = must(with_field(plan, reasons.front().field, reasons.front().nearest));
                        reasons = check(resolved(plan));
                    }
                    EXPECT_LT(edits, 20) << to_text(plan);
                }
}

} // namespace
} // namespace fourfold::test
