// SPDX-License-Identifier: GPL-3.0-or-later
// Grids and shapes beside measurements: the file of layouts, which rows belong to a plan, errors by hand.
#include "core/calibration/measured_grid.h"
#include "core/calibration/measured_shapes.h"
#include "tests/core/calibration/presets_of_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace fourfold::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MeasuredTable table(const std::string& text)
{
    const auto sources
        = TableSources::from_json(*read_json_file(kPresets / "published" / "sources.json"), "sources.json");
    const auto read = parse_measured_table(text, "ours.csv", *sources, presets());
    if (!read)
        throw std::runtime_error(read.error().line());
    return *read;
}

const std::string kHead = "source,table,row,model,layers,hidden,heads,kv_heads,ffn,gated_mlp,vocab,seq_len,gpu,gpus,"
                          "gpus_per_node,tp,cp,pp,dp,micro_batch,global_batch,metric,value,status,assumed,anomaly\n";

std::string row(const std::string& seq_len, int gpus, const std::string& layout, const std::string& result)
{
    return "4d-parallelism-2024-10-22,H100,r,Llama-3.1-8B,32,4096,32,8,14336,1,128256," + seq_len + ",H100-94GB,"
        + std::to_string(gpus) + ",4," + layout + ",1024," + result + ",sharding=optimizer,\n";
}

ResolvedPlan llama()
{
    const auto plan = plan_from_json(
        {{"model", "llama-3.1-8b"}, {"cluster", "tsubame4"}, {"gpus", 16}, {"stack", "megatron-lm"},
            {"training",
                {{"seq_len", 8192}, {"global_batch", 1024}, {"sharding", "optimizer"}, {"sequence_parallel", true}}}},
        "grid test");
    return *resolve(*plan, presets());
}

TEST(GridLayouts, AreRead)
{
    const auto layouts = read_grid_layouts("pp,tp,cp,micro_batch\r\n# two of them\n1,2,1,4\n2, 4,1,1\n", "l.csv");
    ASSERT_TRUE(layouts) << layouts.error().line();
    EXPECT_THAT(*layouts, ElementsAre(GridLayout{2, 1, 1, 4, 1}, GridLayout{4, 1, 2, 1, 1}));
    const auto virtual_stages
        = read_grid_layouts("tp,cp,pp,micro_batch,virtual_stages\n2,1,4,1,\n2,1,4,1,2\n", "l.csv");
    EXPECT_THAT(*virtual_stages, ElementsAre(GridLayout{2, 1, 4, 1, 1}, GridLayout{2, 1, 4, 1, 2}));
}

TEST(GridLayouts, BadCellsAreNamed)
{
    const std::pair<const char*, const char*> cases[] = {
        {"", "l.csv: the file holds nothing"},
        {"tp,cp,pp\n1,1,1\n", "l.csv:1: micro_batch: the column is missing"},
        {"tp,cp,pp,mbs\n1,1,1,1\n", "l.csv:1: mbs: unknown column"},
        {"tp,cp,pp,micro_batch,tp\n", "l.csv:1: tp: the column stands there twice"},
        {"tp,cp,pp,micro_batch\n", "no layout follows"},
        {"tp,cp,pp,micro_batch\n1,1,1,1\n2,x,1,1\n", "l.csv:3: cp: found \"x\", expected a whole number"},
        {"tp,cp,pp,micro_batch\n0,1,1,1\n", "l.csv:2: tp: found \"0\""},
        {"tp,cp,pp,micro_batch\n1,1,1\n", "l.csv:2: found 3 cells, the head line has 4"},
        {"tp,cp,pp,micro_batch\n1,1,1,\n-1,1,1,1\n", "1 more bad cell"},
    };
    for (const auto& [text, expected] : cases) {
        const auto layouts = read_grid_layouts(text, "l.csv");
        ASSERT_FALSE(layouts) << text;
        EXPECT_THAT(layouts.error().line(), HasSubstr(expected));
    }
    EXPECT_THAT(*read_grid_gpus("32,8,16,8", "--gpus"), ElementsAre(8, 16, 32));
    for (const char* text : {"", "8,", "eight", "0", "8;16"})
        EXPECT_FALSE(read_grid_gpus(text, "--gpus")) << text;
}

TEST(MeasuredGrid, RowsOfThePlanOnly)
{
    const ResolvedPlan plan = llama();
    const MeasuredTable measured = table(kHead + row("8192", 16, "2,1,1,8,1", "tps_per_gpu,7700,ok")
        + row("8192", 16, "1,1,1,16,1", ",,oom") + row("16384", 16, "2,1,1,8,2", "tps_per_gpu,6000,ok")
        + row("8192", 8, "2,1,1,4,1", "tflops_per_gpu,440,ok"));
    ASSERT_TRUE(measured.problems.empty()) << measured.problems.front().line();
    const MeasuredGrid grid(measured, plan);
    EXPECT_THAT(grid.layouts(), ElementsAre(GridLayout{2, 1, 1, 1, 1}, GridLayout{1, 1, 1, 1, 1}));
    EXPECT_THAT(grid.gpus(), ElementsAre(8, 16));
    EXPECT_EQ(grid.find({2, 1, 1, 2, 1}, 16), nullptr); // another sequence length
    ASSERT_NE(grid.find({2, 1, 1, 1, 1}, 8), nullptr);
    EXPECT_NEAR(*value_of(*grid.find({2, 1, 1, 1, 1}, 8), GridValue::tflops_per_gpu), 440, 1e-9);
    EXPECT_EQ(grid.find({1, 1, 1, 1, 1}, 16)->status, CellStatus::oom);
    EXPECT_FALSE(value_of(*grid.find({1, 1, 1, 1, 1}, 16), GridValue::tps_per_gpu));

    // By hand: one cell with both values at 16 GPUs, one at 8.
    const LayoutGrid predicted = sweep_layouts(plan, grid.layouts(), grid.gpus(), 1);
    const double at_16 = *predicted.cells[0][1].tps_per_gpu / 7700 - 1;
    const double at_8 = *predicted.cells[0][0].tps_per_gpu / *grid.find({2, 1, 1, 1, 1}, 8)->tps_per_gpu - 1;
    const GridAgreement found = agreement(predicted, grid, GridValue::tps_per_gpu);
    EXPECT_EQ(found.compared, 2);
    EXPECT_NEAR(found.mean_error, (std::abs(at_16) + std::abs(at_8)) / 2, 1e-12);
    EXPECT_NEAR(found.largest_error, std::max(std::abs(at_16), std::abs(at_8)), 1e-12);
    EXPECT_EQ(found.verdicts, 3);
    EXPECT_EQ(found.verdicts_right, 2 + (predicted.cells[1][1].status == GridStatus::does_not_fit ? 1 : 0));
}

TEST(MeasuredGrid, ThePublishedTableIsCovered)
{
    const auto sources
        = TableSources::from_json(*read_json_file(kPresets / "published" / "sources.json"), "sources.json");
    const auto measured
        = read_measured_table(kPresets / "published" / "llama31_8b_4d_a100_h100.csv", *sources, presets());
    ASSERT_TRUE(measured);
    const MeasuredGrid grid(*measured, llama());
    EXPECT_EQ(grid.layouts().size(), 17u); // of sequence 8192 on H100
    EXPECT_THAT(grid.gpus(), ElementsAre(4, 8, 16, 32, 64, 128));
}

TEST(MeasuredShapes, LossesAgainstTheBestOfTheGroup)
{
    const std::string head = "source,table,row,model,layers,hidden,heads,ffn,gated_mlp,vocab,seq_len,gpu,gpus,"
                             "gpus_per_node,tp,cp,pp,dp,micro_batch,global_batch,metric,value,status,assumed,anomaly\n";
    const auto shape = [](int heads, const char* value) {
        return "bloom-prequel-2022-02,NHEADs,r,BLOOM-173B,72,14336," + std::to_string(heads)
            + ",57344,0,250880,2048,A100-80GB,384,8,8,1,6,8,4,2048,tps_per_gpu," + value
            + ",ok,precision=bf16;recompute=full;schedule=1f1b;sequence_parallel=false;stack=megatron-deepspeed,\n";
    };
    const MeasuredTable measured = table(head + shape(64, "90") + shape(112, "72") + shape(32, "88"));
    ASSERT_TRUE(measured.problems.empty()) << measured.problems.front().line();
    const std::vector<ShapeGroup> groups = measured_shapes(measured);
    ASSERT_EQ(groups.size(), 1u);
    ASSERT_EQ(groups.front().shapes.size(), 3u);
    const MeasuredShape& best = groups.front().shapes.front();
    EXPECT_EQ(best.row->plan.model.heads, 64);
    EXPECT_EQ(best.measured_loss, 0);
    const MeasuredShape& worst = groups.front().shapes.back();
    EXPECT_EQ(worst.row->plan.model.heads, 112);
    EXPECT_NEAR(worst.measured_loss, 1 - 72.0 / 90, 1e-9); // the same parameters
    EXPECT_EQ(worst.predicted_tps, *predict(worst.row->plan).tps_per_gpu);
    const ShapeAgreement found = agreement(groups);
    EXPECT_EQ(found.shapes, 3);
    EXPECT_EQ(found.wasteful, 1);
    EXPECT_EQ(found.found, worst.predicted_loss > kWastefulShape ? 1 : 0);
}

} // namespace
} // namespace fourfold::test
