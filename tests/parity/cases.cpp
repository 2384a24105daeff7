// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/cases.h"

#include "tests/parity/tiny_plans.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace fourfold::testing {

namespace {
template <typename Row>
std::vector<Row> together(std::initializer_list<std::vector<Row>> parts)
{
    std::vector<Row> rows;
    for (const auto& part : parts)
        rows.insert(rows.end(), part.begin(), part.end());
    return rows;
}
} // namespace

std::string words(const std::vector<std::string>& assignments)
{
    std::string text;
    for (const std::string& assignment : assignments) {
        text += text.empty() ? "`" : "` `";
        // Too long for a cell; and a line that ends within one ends the table.
        if (assignment == kEveryPrecision)
            text += "cluster: a CPU of every precision";
        else
            std::ranges::copy_if(assignment, std::back_inserter(text), [](char c) { return c != '\n' && c != ' '; });
    }
    return text.empty() ? "" : text + "`";
}

std::vector<Case> all_cases()
{
    return together({tensor_cases(), tensor_beside_cases(), data_cases(), context_cases(), attention_cases(),
        pipeline_cases(), training_cases(), expert_cases(), exchange_cases()});
}

std::vector<Case> covering_cases()
{
    std::vector<Case> left = all_cases();
    const auto settings = [](const Case& c) {
        std::vector<std::string> list = c.mesh;
        list.insert(list.end(), c.model.begin(), c.model.end());
        return list;
    };
    const auto ranks = [](const Case& c) { return std::stod(c.mesh.front().substr(c.mesh.front().find('=') + 1)); };
    std::set<std::string> covered;
    std::vector<Case> chosen;
    for (;;) {
        const auto worth = [&](const Case& c) {
            const auto list = settings(c);
            return double(std::ranges::count_if(list, [&](const std::string& each) { return !covered.contains(each); }))
                / (1 + ranks(c)); // one rank computes what is compared with
        };
        const auto best = std::ranges::max_element(left, {}, worth);
        if (best == left.end() || worth(*best) == 0)
            return chosen;
        const auto list = settings(*best);
        covered.insert(list.begin(), list.end());
        chosen.push_back(std::move(*best));
        left.erase(best);
    }
}

std::vector<Sabotage> all_sabotages()
{
    return together({tensor_sabotages(), data_sabotages(), context_sabotages(), attention_sabotages(),
        pipeline_sabotages(), expert_sabotages(), precision_sabotages(), training_sabotages()});
}

std::vector<Case> unpadded_cases()
{
    return {
        {"tp2", {"gpus=2", "layout.tp=2"}, {}},
        {"tp4_shared_keys", {"gpus=4", "layout.tp=4"}, {}},
        {"tp2_plain", {"gpus=2", "layout.tp=2", "training.sequence_parallel=false"}, {}},
        {"tp2_async", {"gpus=2", "layout.tp=2", "training.async_tp=true"}, {}},
        {"tp2_async_beside",
            {"gpus=2", "layout.tp=2", "training.async_tp=true", "training.overlap.tensor_parallel=true"}, {}},
        {"tp2_recompute", {"gpus=2", "layout.tp=2", "training.recompute=\"full\""}, {}},
        {"tp2_operations",
            {"gpus=2", "layout.tp=2", "training.recompute=\"selective\"", "training.recompute_parts=[\"operations\"]"},
            {}},
        {"tp2_mlp_and_norms",
            {"gpus=2", "layout.tp=2", "training.recompute=\"selective\"",
                "training.recompute_parts=[\"mlp\",\"layer-norm\"]"},
            {}},
        {"tp2_every_second_mlp",
            {"gpus=2", "layout.tp=2", "training.recompute=\"selective\"", "training.recompute_parts=[\"mlp\"]",
                "training.recompute_every=2"},
            {}},
        {"fp8_tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, fp8_model("tensorwise", 16)},
        {"fp8_rowwise_tp2_async_cp2", {"gpus=4", "layout.tp=2", "training.async_tp=true", "layout.cp=2"},
            fp8_model("rowwise", 16)},
        {"mxfp8_tp2_recompute", {"gpus=2", "layout.tp=2", "training.recompute=\"full\""}, fp8_model("mxfp8", 32)},
        {"dp2", {"gpus=2", "layout.dp=2"}, {}},
        {"tp2_dp2_zero1", {"gpus=4", "layout.tp=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
        {"dp2_zero2", {"gpus=2", "layout.dp=2", "training.sharding=\"gradients\""}, {}},
        {"dp2_fsdp", {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"dp2_fsdp_kept",
            {"gpus=2", "layout.dp=2", "training.sharding=\"parameters\"", "training.fsdp.reshard_after_forward=false"},
            {}},
        {"dp4_hsdp", {"gpus=4", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""}, {}},
        {"pp2_dp2_fsdp", {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"pp2_dp2_fsdp_each",
            {"gpus=4", "layout.pp=2", "layout.dp=2", "training.sharding=\"parameters\"",
                "training.fsdp.each_micro_batch=true", "training.micro_batch=1"},
            {"model.num_hidden_layers=4"}},
        {"pp2_dp2_fsdp_each_kept_interleaved",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", "training.schedule=\"interleaved\"",
                "training.sharding=\"parameters\"", "training.fsdp.each_micro_batch=true",
                "training.fsdp.reshard_after_forward=false", "training.micro_batch=1"},
            {"model.num_hidden_layers=4"}},
        {"pp2_dp4_hsdp_each_zb_v",
            {"gpus=8", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=4", "layout.dp_shard=2",
                "training.schedule=\"zb-v\"", "training.sharding=\"hybrid\"", "training.fsdp.each_micro_batch=true",
                "training.micro_batch=1"},
            {"model.num_hidden_layers=4"}},
        {"pp2_tp2_dp2_fsdp",
            {"gpus=8", "layout.pp=2", "layout.tp=2", "layout.dp=2", "training.sharding=\"parameters\""}, {}},
        {"pp2_dp4_hsdp", {"gpus=8", "layout.pp=2", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            {}},
        {"muon_tp2_dp2", {"gpus=4", "layout.tp=2", "layout.dp=2"}, {"training.optimizer=\"muon\""}},
        {"muon_tp4_dp2_zero1", {"gpus=8", "layout.tp=4", "layout.dp=2", "training.sharding=\"optimizer\""},
            {"training.optimizer=\"muon\""}},
        {"muon_dp4_hsdp", {"gpus=4", "layout.dp=4", "layout.dp_shard=2", "training.sharding=\"hybrid\""},
            {"training.optimizer=\"muon\""}},
        {"cp2_ring", {"gpus=2", "layout.cp=2"}, {}},
        {"cp4_ring_recompute", {"gpus=4", "layout.cp=4", "training.recompute=\"full\""}, {}},
        {"cp2_gather", {"gpus=2", "layout.cp=2", "training.cp_method=\"all-gather\""}, {}},
        {"pp2", {"gpus=2", "layout.pp=2"}, {}},
        {"pp2_tied_tp2", {"gpus=4", "layout.pp=2", "layout.tp=2"}, {"model.tie_word_embeddings=true"}},
        {"pp2_zb_h1_tp2", {"gpus=4", "layout.pp=2", "layout.tp=2", "training.schedule=\"zb-h1\""}, {}},
        {"pp2_zb_v_dp2",
            {"gpus=4", "layout.pp=2", "layout.virtual_stages=2", "layout.dp=2", "training.schedule=\"zb-v\""},
            {"model.num_hidden_layers=4"}},
        {"pp2_cp2_dp2", {"gpus=8", "layout.pp=2", "layout.cp=2", "layout.dp=2", "training.sharding=\"optimizer\""}, {}},
    };
}

} // namespace fourfold::testing
