// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

namespace fourfold::testing {

namespace {
const std::string kTied = "model.tie_word_embeddings=true";
const std::string kFourLayers = "model.num_hidden_layers=4";
const std::string kGpt = "model={\"model_type\":\"gpt2\",\"vocab_size\":61,\"n_embd\":32,\"n_layer\":4,\"n_head\":4,"
                         "\"n_positions\":32}";
const std::string kSeed = "run.seed=3"; // one with which ten steps of GPT-2 learn something
const std::string kBloom = "model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":4,"
                           "\"n_head\":4,\"tie_word_embeddings\":true}";
const std::string kSelective = "training.recompute=\"selective\"";
const std::string kOperations = "training.recompute_parts=[\"operations\"]";

std::string schedule_file(const std::string& name)
{
    return "training.schedule=\"" FOURFOLD_SOURCE_DIR "/tests/parity/schedules/" + name + ".csv\"";
}
} // namespace

Case pipeline_case(const std::string& name, const std::string& schedule, int pp, int chunks, int micro_batches)
{
    return {name,
        {"gpus=" + std::to_string(pp), "layout.pp=" + std::to_string(pp),
            "layout.virtual_stages=" + std::to_string(chunks), "training.schedule=\"" + schedule + '"'},
        {"model.num_hidden_layers=" + std::to_string(pp * chunks), "training.micro_batch=1",
            "training.global_batch=" + std::to_string(micro_batches)}};
}

std::vector<Case> pipeline_cases()
{
    const std::string one_by_one = "training.micro_batch=1"; // eight micro-batches
    return {
        {"pp2", {"gpus=2", "layout.pp=2"}, {}},
        {"pp2_gpipe", {"gpus=2", "layout.pp=2", "training.schedule=\"gpipe\""}, {kTied}},
        {"pp4_tied", {"gpus=4", "layout.pp=4"}, {kFourLayers, kTied}},
        {"pp4_gpipe_one_by_one", {"gpus=4", "layout.pp=4", "training.schedule=\"gpipe\"", "training.overlap.p2p=false"},
            {kFourLayers, "training.micro_batch=1"}},
        {"pp2_interleaved", {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"interleaved\""},
            {kFourLayers, kTied}},
        {"pp2_interleaved_uneven_three_chunks",
            {"gpus=2", "layout.pp=2", "layout.virtual_stages=3", "layout.stage_layers=[2,1,1,1,1,2]",
                "training.schedule=\"interleaved\""},
            {"model.num_hidden_layers=8"}},
        {"pp3_uneven", {"gpus=3", "layout.pp=3", "layout.stage_layers=[2,1,3]"}, {"model.num_hidden_layers=6"}},
        {"pp2_tp2", {"gpus=4", "layout.pp=2", "layout.tp=2"}, {kTied}},
        {"pp2_tp2_plain_pipeline_inside",
            {"gpus=4", "layout.pp=2", "layout.tp=2", "training.sequence_parallel=false",
                "layout.order=[\"pp\",\"tp\",\"cp\",\"dp\"]"},
            {}},
        {"pp2_dp2", {"gpus=4", "layout.pp=2", "layout.dp=2"}, {kTied}},
        {"pp2_dp2_zero1_tied", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {kTied}},
        {"pp2_tp2_dp2_recompute",
            {"gpus=8", "layout.pp=2", "layout.tp=2", "layout.dp=2", "training.recompute=\"full\"",
                "training.recompute_layers=1"},
            {kFourLayers}},
        {"pp2_selective", {"gpus=2", "layout.pp=2", "training.recompute=\"selective\""}, {}},
        {"pp2_dp2_fsdp_every_second",
            {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\"", "training.recompute=\"full\"",
                "training.recompute_every=2"},
            {kFourLayers}},
        {"tp2_async_pp2_zb_h1_operations",
            {"gpus=4", "layout.tp=2", "training.async_tp=true", "layout.pp=2", "training.schedule=\"zb-h1\"",
                kSelective, kOperations, "training.recompute_every=2"},
            {kFourLayers}},
        {"gpt2_tp2_pp2_mlp_and_norms",
            {"gpus=4", "layout.tp=2", "layout.pp=2", kSelective, "training.recompute_parts=[\"mlp\",\"layer-norm\"]"},
            {kGpt, kSeed}},
        {"pp2_zb_h1", {"gpus=2", "layout.pp=2", "training.schedule=\"zb-h1\""}, {kTied}},
        {"pp4_zb_h1_one_by_one", {"gpus=4", "layout.pp=4", "training.schedule=\"zb-h1\""}, {kFourLayers, one_by_one}},
        {"pp2_tp2_dp2_zb_h1_recompute",
            {"gpus=8", "layout.pp=2", "layout.tp=2", "layout.dp=2", "training.schedule=\"zb-h1\"",
                "training.recompute=\"full\"", "training.sharding=\"optimizer\""},
            {kFourLayers}},
        {"pp2_cp2_dp2_zb_h1_zero2",
            {"gpus=8", "layout.pp=2", "layout.cp=2", "layout.dp=2", "training.schedule=\"zb-h1\"",
                "training.sharding=\"gradients\""},
            {}},
        {"pp2_zb_v", {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"zb-v\""}, {kFourLayers}},
        {"pp2_dp2_zb_v_fsdp_tied_selective",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", "training.schedule=\"zb-v\"",
                "training.sharding=\"parameters\"", "training.recompute=\"selective\""},
            {kFourLayers, kTied, one_by_one}},
        {"pp2_dualpipe_v", {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", "training.schedule=\"dualpipe-v\""},
            {kFourLayers, kTied, one_by_one}},
        {"pp2_tp2_dualpipe_v_plain",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.tp=2", "training.schedule=\"dualpipe-v\"",
                "training.sequence_parallel=false"},
            {kFourLayers}},
        {"pp2_file_ends_on_the_second_rank",
            {"gpus=2", "layout.pp=2", "layout.virtual_stages=2", schedule_file("pp2_ends_on_the_second_rank")},
            {kFourLayers, kTied}},
        {"pp2_dp2_lowered_file",
            {"gpus=4", "layout.pp=2", "layout.dp=2", schedule_file("pp2_lowered"), "training.sharding=\"optimizer\""},
            {kTied, "training.global_batch=16"}},
        {"gpt2_pp2_tp2_zb_v",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.tp=2", "training.schedule=\"zb-v\""},
            {kGpt, kSeed}},
        {"gpt2_tp2", {"gpus=2", "layout.tp=2"}, {kGpt, kSeed}},
        {"gpt2_pp2_tp2_plain", {"gpus=4", "layout.pp=2", "layout.tp=2", "training.sequence_parallel=false"},
            {kGpt, kSeed}},
        {"gpt2_pp4_dp2_zero1", {"gpus=8", "layout.pp=4", "layout.dp=2", "training.sharding=\"optimizer\""},
            {kGpt, kSeed}},
        {"bloom_pp2_tp2", {"gpus=4", "layout.pp=2", "layout.tp=2"}, {kBloom}},
    };
}

std::vector<Case> more_pipeline_cases()
{
    return {
        {"tp2_dp2_fsdp_operations",
            {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\"", kSelective, kOperations}, {}},
        {"tp2_cp2_operations", {"gpus=4", "layout.tp=2", "layout.cp=2", kSelective, kOperations}, {}},
        {"tp2_plain_norms_and_attention",
            {"gpus=2", "layout.tp=2", "training.sequence_parallel=false", kSelective,
                "training.recompute_parts=[\"core-attention\",\"layer-norm\"]"},
            {}},
        {"tp2_async_norms",
            {"gpus=2", "layout.tp=2", "training.async_tp=true", kSelective,
                "training.recompute_parts=[\"layer-norm\"]"},
            {}},
    };
}

std::vector<Sabotage> pipeline_sabotages()
{
    const std::vector<std::string> mesh{"gpus=2", "layout.pp=2"};
    return {
        {"missing_tied_reduction", "ends.all_reduce", mesh, {kTied}},
        {"dropped_micro_batch", "pp_back.dropped", mesh, {}},
        {"wrong_micro_batch", "pp.swapped", mesh, {}},
        {"dropped_micro_batch_of_a_split_backward", "pp_back.dropped",
            {"gpus=2", "layout.pp=2", "training.schedule=\"zb-h1\""}, {}},
    };
}

} // namespace fourfold::testing
