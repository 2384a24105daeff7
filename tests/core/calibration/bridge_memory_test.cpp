// SPDX-License-Identifier: GPL-3.0-or-later
// All rows of Megatron-Bridge's table ran, so that none may be said not to fit. Held where a checkout has the table
// beside it.
#include "core/calibration/score.h"
#include "tests/core/calibration/presets_of_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

namespace fourfold::test {
namespace {

class BridgeMemory : public testing::Test {
protected:
    void SetUp() override
    {
        const auto file = std::filesystem::path(FOURFOLD_SHARED_DIR) / "published" / "nvidia_megatron_bridge.csv";
        if (!std::filesystem::exists(file))
            GTEST_SKIP() << file << " is only in ../shared/published, which is not here";
        const auto json = read_json_file(kPresets / "published" / "sources.json");
        ASSERT_TRUE(json);
        auto sources = TableSources::from_json(*json, "sources.json");
        ASSERT_TRUE(sources) << sources.error().line();
        auto table = read_measured_table(file, *sources, presets());
        ASSERT_TRUE(table && table->problems.empty());
        table_ = *std::move(table);
    }
    // Rows that would not fit, by what is said of them.
    [[nodiscard]] static std::pair<std::set<std::string>, std::set<std::string>> refused(const MeasuredTable& table)
    {
        std::pair<std::set<std::string>, std::set<std::string>> rows; // does not fit, upper bound
        const ScoredTable scored = score_table(table, nullptr);
        for (const ScoredRow& row : scored.rows) {
            if (row.out_of_memory)
                rows.first.insert(row.row->row);
            if (row.memory_unknown)
                rows.second.insert(row.row->row);
        }
        return rows;
    }
    [[nodiscard]] const MeasuredRow& row(const std::string& name) const
    {
        for (const MeasuredRow& row : table_.rows)
            if (row.row == name)
                return row;
        throw std::runtime_error("no row " + name);
    }
    MeasuredTable table_;
};

TEST_F(BridgeMemory, WhatRanIsNotSaidNotToFit)
{
    ASSERT_EQ(table_.rows.size(), 55U);
    const auto [wrong, unknown] = refused(table_);
    EXPECT_EQ(wrong, std::set<std::string>());
    // Printed with a layout that no recipe of its release has: micro-batches of 2 sequences in one chunk a stage.
    EXPECT_EQ(unknown, std::set<std::string>{"382"});
}

// Each of the terms that were too large earns its place: without it rows that ran would not fit.
TEST_F(BridgeMemory, NoTermOfTheMendIsIdle)
{
    const auto wrong_with = [&](auto&& change) {
        MeasuredTable table = table_;
        for (MeasuredRow& row : table.rows)
            change(row.plan);
        return refused(table).first.size();
    };
    const auto constant = [&](const char* name, double value) {
        return wrong_with([&](ResolvedPlan& plan) { plan.stack.constants[name] = value; });
    };
    EXPECT_GE(constant("quantized_inputs", 0), 6U) << "inputs of fp8 products in 8 bits";
    EXPECT_GE(constant("expert_outputs_kept", 1), 1U) << "outputs of experts are not kept";
    EXPECT_GE(wrong_with([](ResolvedPlan& plan) { plan.training.offload = Offload::none; }), 7U)
        << "layers whose activations leave";
    EXPECT_GE(wrong_with([](ResolvedPlan& plan) { plan.training.recompute = Recompute::none; }), 1U)
        << "what recomputes";
}

TEST_F(BridgeMemory, RecipesTellWhatTheTableDoesNotPrint)
{
    const MeasuredRow& fsdp = row("385"); // Llama 3 70B, fully sharded over 64 GB200
    EXPECT_EQ(fsdp.plan.training.offload, Offload::activations);
    EXPECT_EQ(fsdp.plan.training.offload_layers, 40);
    EXPECT_FALSE(fsdp.recompute_untold);
    EXPECT_THAT(fsdp.assumed, testing::Contains("offload_layers=40"));
    const MeasuredRow& experts = row("491"); // DeepSeek-V3 on H100, TP 2
    EXPECT_EQ(experts.plan.layout.etp, 1);
    EXPECT_EQ(experts.plan.training.recompute, Recompute::selective);
    EXPECT_EQ(experts.plan.training.recompute_parts,
        (WordSet<RecomputePart>{RecomputePart::mla_up_proj, RecomputePart::mlp}));
    EXPECT_EQ(experts.plan.training.optimizer_state_dtype, Precision::bf16);
    EXPECT_THAT(experts.assumed, testing::Not(testing::Contains("recompute=none"))) << "the stand-in is replaced";
    EXPECT_TRUE(row("382").recompute_untold);
}

} // namespace
} // namespace fourfold::test
