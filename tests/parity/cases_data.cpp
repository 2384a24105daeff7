// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

namespace fourfold::testing {

namespace {
const std::string kPadded = R"(run.environment={"FOURFOLD_PADDING":"5"})";
const std::string kAllSharded = "training.sharding=\"parameters\"",
                  kEachGathered = "training.fsdp.each_micro_batch=true", kStagesOfTwo = "model.num_hidden_layers=4",
                  kEachAlone = "training.micro_batch=1", kOneTable = "model.tie_word_embeddings=true";
} // namespace

std::vector<Case> data_cases()
{
    return {
        {"dp2", {"gpus=2", "layout.dp=2"}, {}},
        {"dp4_without_overlap", {"gpus=4", "layout.dp=4", "training.overlap.grad_reduce=false"}, {}},
        {"dp2_zero1", {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
        {"dp3_zero1_uneven", {"gpus=3", "layout.dp=3", "training.sharding=\"optimizer\""},
            {"training.global_batch=6", "model.intermediate_size=50", "model.tie_word_embeddings=true"}},
        {"dp2_zero2", {"gpus=2", "layout.dp=2", "training.sharding=\"gradients\""}, {}},
        {"tp2_dp2_zero2_tied", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"gradients\""},
            {"model.tie_word_embeddings=true"}},
        {"dp2_fsdp", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"dp3_fsdp_uneven", {"gpus=3", "layout.dp=3", "training.sharding=\"parameters\""},
            {"training.global_batch=6", "model.intermediate_size=50", "model.tie_word_embeddings=true"}},
        {"dp2_fsdp_kept_without_overlap",
            {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\"", "training.fsdp.reshard_after_forward=false",
                "training.fsdp.prefetch=false", "training.overlap.grad_reduce=false"},
            {}},
        {"dp2_fsdp_one_unit_recompute",
            {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\"", "training.fsdp.layers_per_unit=2",
                "training.recompute=\"full\""},
            {}},
        {"tp2_dp2_fsdp", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"cp2_dp2_fsdp", {"gpus=4", "layout.cp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"dp4_hsdp", {"gpus=4", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""}, {}},
        {"cp2_dp2_hsdp", {"gpus=4", "layout.cp=2", "layout.dp=2", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            {}},
        {"dp2_fsdp_gpipe", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\"", "training.schedule=\"gpipe\""},
            {}},
        {"dp2_zero1_gathered_before_the_step",
            {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\"", "training.overlap={\"param_gather\":false}"},
            {}},
        {"pp2_dp2_fsdp", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"pp2_dp2_fsdp_each", {"gpus=4", "layout.pp=2", "layout.dp=2", kAllSharded, kEachGathered},
            {kStagesOfTwo, kEachAlone}},
        {"pp2_dp2_fsdp_interleaved_tied_recompute",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", "training.sharding=\"parameters\"",
                "training.schedule=\"interleaved\"", "training.recompute=\"full\""},
            {"model.num_hidden_layers=4", "model.tie_word_embeddings=true"}},
        {"pp2_dp4_hsdp", {"gpus=8", "layout.pp=2", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            {}},
        {"pp2_tp2_cp2_fsdp",
            {"gpus=8", "layout.pp=2", "layout.tp=2", "layout.cp=2", "training.sharding=\"parameters\""}, {}},
        // Labels that are padding: they fall unevenly on ranks and micro-batches.
        {"padded_dp4", {"gpus=4", "layout.dp=4"}, {kPadded}},
        {"padded_dp2_zero2_one_by_one",
            {"gpus=2", "layout.dp=2", "training.sharding=\"gradients\"", "training.micro_batch=1"}, {kPadded}},
        {"padded_pp2_tp2_cp2", {"gpus=8", "layout.pp=2", "layout.tp=2", "layout.cp=2"}, {kPadded}},
        {"tp2_dp2_zero1", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
    };
}

std::vector<Case> more_data_cases()
{
    const auto schedule = [](const std::string& name) { return "training.schedule=\"" + name + '"'; };
    return {
        {"pp2_dp2_fsdp_each_interleaved_tied_recompute",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", kAllSharded, kEachGathered,
                schedule("interleaved"), "training.recompute=\"full\""},
            {kStagesOfTwo, kOneTable, kEachAlone}},
        {"pp2_dp2_fsdp_each_gpipe_two_layers_a_unit",
            {"gpus=4", "layout.pp=2", "layout.dp=2", kAllSharded, kEachGathered, schedule("gpipe"),
                "training.fsdp.layers_per_unit=2"},
            {"model.num_hidden_layers=6", kEachAlone}},
        {"pp2_dp2_fsdp_each_kept_without_overlap",
            {"gpus=4", "layout.pp=2", "layout.dp=2", kAllSharded, kEachGathered,
                "training.fsdp.reshard_after_forward=false", "training.overlap.grad_reduce=false"},
            {kEachAlone}},
        {"pp2_dp2_fsdp_each_without_overlap",
            {"gpus=4", "layout.pp=2", "layout.dp=2", kAllSharded, kEachGathered, "training.fsdp.prefetch=false",
                "training.overlap.grad_reduce=false"},
            {kStagesOfTwo, kEachAlone}},
        {"pp3_dp2_fsdp_each_uneven_zb_h1",
            {"gpus=6", "layout.pp=3", "layout.dp=2", "layout.stage_layers=[2,1,3]", kAllSharded, kEachGathered,
                schedule("zb-h1")},
            {"model.num_hidden_layers=6", kEachAlone}},
        {"pp2_dp2_fsdp_each_zb_v",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", kAllSharded, kEachGathered,
                schedule("zb-v"), "training.fsdp.layers_per_unit=2"},
            {"model.num_hidden_layers=8", kEachAlone}},
        {"pp2_dp2_fsdp_each_dualpipe_v_tied",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", kAllSharded, kEachGathered,
                schedule("dualpipe-v")},
            {kStagesOfTwo, kOneTable, kEachAlone}},
        {"pp2_dp4_hsdp_each",
            {"gpus=8", "layout.pp=2", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\"",
                kEachGathered},
            {}},
        {"pp2_tp2_cp2_fsdp_each", {"gpus=8", "layout.pp=2", "layout.tp=2", "layout.cp=2", kAllSharded, kEachGathered},
            {kStagesOfTwo, kEachAlone}},
        {"bloom_pp2_dp2_fsdp_each", {"gpus=4", "layout.pp=2", "layout.dp=2", kAllSharded, kEachGathered},
            {"model={\"model_type\":\"bloom\",\"vocab_size\":61,\"hidden_size\":32,\"n_layer\":4,\"n_head\":4,"
             "\"tie_word_embeddings\":true}",
                kEachAlone}},
        {"pp2_dp2_fsdp_each_in_backward",
            {"gpus=4", "layout.pp=2", "layout.dp=2", kAllSharded, kEachGathered, "training.optimizer_in_backward=true"},
            {"run.clip_norm=0", "run.watch.not_finite=\"stop\"", kEachAlone}},
    };
}

std::vector<Sabotage> data_sabotages()
{
    return {
        {"gradient_reduction", "dp.all_reduce", {"gpus=2", "layout.dp=2"}, {}},
        {"sharded_gradient_reduction", "dp.reduce_scatter",
            {"gpus=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
        {"fsdp_gather", "dp.all_gather", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"fsdp_gradient_reduction", "dp.reduce_scatter", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""},
            {}},
        {"hsdp_copies", "dp_replicate.all_reduce",
            {"gpus=2", "layout.dp=2", "layout.dp_shard=1", "training.sharding=\"hybrid\""}, {}},
    };
}

} // namespace fourfold::testing
