// SPDX-License-Identifier: GPL-3.0-or-later
// Measured tables as people bring them: what is read, and how each bad cell is named.
#include "core/calibration/csv.h"
#include "core/calibration/measured_table.h"
#include "core/calibration/score_card.h"
#include "core/model/flops.h"
#include "core/report/table/table.h"
#include "tests/core/calibration/presets_of_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace fourfold::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const TableSources& sources()
{
    static const TableSources all
        = *TableSources::from_json(*read_json_file(kPresets / "published" / "sources.json"), "sources.json");
    return all;
}

const std::string kHeader = "source,table,row,model,layers,hidden,heads,kv_heads,ffn,gated_mlp,vocab,seq_len,gpu,gpus,"
                            "gpus_per_node,tp,cp,pp,dp,micro_batch,global_batch,precision,metric,value,step_time_s,"
                            "memory_gib,status,assumed,anomaly\n";

// One row of a table; `changes` replaces cells by column.
std::string row_text(const std::map<std::string, std::string>& changes = {})
{
    std::map<std::string, std::string> cells{{"source", "4d-parallelism-2024-10-22"}, {"table", "H100"}, {"row", "r1"},
        {"model", "Llama-3.1-8B"}, {"layers", "32"}, {"hidden", "4096"}, {"heads", "32"}, {"kv_heads", "8"},
        {"ffn", "14336"}, {"gated_mlp", "1"}, {"vocab", "128256"}, {"seq_len", "8192"}, {"gpu", "H100-94GB"},
        {"gpus", "16"}, {"gpus_per_node", "4"}, {"tp", "2"}, {"cp", "1"}, {"pp", "1"}, {"dp", "8"},
        {"micro_batch", "1"}, {"metric", "tps_per_gpu"}, {"value", "7700"}, {"status", "ok"},
        {"assumed", "global_batch=1024;sharding=optimizer"}};
    for (const auto& [column, text] : changes)
        cells[column] = text;
    const auto header = read_csv(kHeader, "");
    std::string line;
    for (const std::string& column : header->front().fields)
        line += (line.empty() ? "" : ",") + cells[column];
    return line + "\n";
}

MeasuredTable table_of(const std::string& rows)
{
    auto table = parse_measured_table(kHeader + rows, "ours.csv", sources(), presets());
    EXPECT_TRUE(table) << table.error().line();
    return *std::move(table);
}

// The single problem of a table with one good row and one with these changes.
std::string problem_of(const std::map<std::string, std::string>& changes)
{
    const MeasuredTable table = table_of(row_text() + row_text(changes));
    EXPECT_EQ(table.rows.size(), 1U) << "the good row stays";
    EXPECT_EQ(table.lines, 2);
    if (table.problems.size() != 1)
        return std::to_string(table.problems.size()) + " problems";
    return table.problems.front().line();
}

TEST(MeasuredTable, ARowBecomesThePlanThatItsSourceRan)
{
    const MeasuredTable table = table_of(row_text());
    ASSERT_EQ(table.rows.size(), 1U);
    const MeasuredRow& row = table.rows.front();
    EXPECT_TRUE(row.ran());
    EXPECT_EQ(row.line, 2);
    EXPECT_EQ(row.plan.model.id, "llama-3.1-8b");
    EXPECT_EQ(row.plan.cluster.id, "tsubame4");
    EXPECT_EQ(row.plan.stack.id, "megatron-lm");
    EXPECT_EQ(row.plan.layout.dp, 8);
    EXPECT_EQ(row.plan.training.global_batch, 1024);
    EXPECT_EQ(row.plan.training.sharding, Sharding::optimizer);
    EXPECT_THAT(row.assumed, ElementsAre("global_batch=1024", "sharding=optimizer"));
    EXPECT_EQ(*row.tps_per_gpu, 7700);
    EXPECT_NEAR(*row.step_time_s, 1024 * 8192.0 / (7700 * 16), 1e-9);
    EXPECT_EQ(table.name, "ours");
    EXPECT_TRUE(table.problems.empty());
}

// What a source says in running text: of a model's name and of the notes.
TEST(MeasuredTable, PhrasesOfRunningTextSaySettings)
{
    const auto read = [](const std::string& model, const std::string& notes, const std::string& more = "") {
        std::string header = kHeader,
                    row
            = row_text({{"source", "megatron-bridge"}, {"table", "25.11"}, {"model", model}, {"layers", "61"},
                {"hidden", "7168"}, {"heads", "128"}, {"kv_heads", "128"}, {"ffn", "2048"}, {"vocab", "129280"},
                {"seq_len", "4096"}, {"gpu", "B200"}, {"gpus_per_node", "8"}, {"tp", "1"}, {"pp", "16"}, {"dp", "1"},
                {"precision", "fp8"}, {"value", "2000"}, {"assumed", "global_batch=64;sharding=optimizer" + more}});
        header.insert(header.size() - 1, ",notes");
        row.insert(row.size() - 1, ",\"" + notes + "\"");
        auto table = parse_measured_table(header + row, "ours.csv", sources(), presets());
        EXPECT_TRUE(table && table->rows.size() == 1) << (table ? table->problems.front().line() : "");
        return table->rows.front();
    };
    const MeasuredRow plain = read("DeepSeekV3", "release 25.11; FP8-CS (FP8-MX)");
    EXPECT_EQ(plain.plan.training.experts.capacity, 0);
    EXPECT_EQ(plain.plan.model.predicted_ahead, 0);
    EXPECT_EQ(plain.plan.training.fp8_recipe, Fp8Recipe::tensorwise);
    const MeasuredRow ahead = read("DeepSeekV3 (w/ MTP)", "release 25.11; FP8-MX");
    EXPECT_EQ(ahead.plan.model.predicted_ahead, 1);
    EXPECT_EQ(ahead.plan.model.parameters(), plain.plan.model.parameters());
    EXPECT_EQ(ahead.plan.training.fp8_recipe, Fp8Recipe::mxfp8);
    EXPECT_EQ(ahead.assumed, plain.assumed) << "what is printed is not assumed";
    EXPECT_EQ(read("DeepSeekV3", "", ";expert_capacity=1.25").plan.training.experts.capacity, 1.25);
    EXPECT_EQ(read("DeepSeekV3", "x; FP8-MX", ";fp8_recipe=blockwise").plan.training.fp8_recipe, Fp8Recipe::blockwise)
        << "a field of its own wins";
}

// What a source's own scripts set takes the place of stand-ins, not of what is printed; the first recipe that tells a
// field holds.
TEST(MeasuredTable, RecipesTellWhatATableDoesNotPrint)
{
    const Json json{{"sources",
        {{"ours",
            {{"stack", "megatron-core"}, {"clusters", {{"H100-94GB", "tsubame4"}}},
                {"recipes",
                    {{{"from", "a file"}, {"where", {{"table", {"T1", "T2"}}, {"tp", {"2"}}}},
                         {"sets", {{"recompute", "selective"}, {"recompute_parts", "mlp+layer-norm"}}}},
                        {{"from", "another"}, {"where", {{"table", {"T1"}}}},
                            {"sets",
                                {{"recompute", "full"}, {"offload", "activations"}, {"offload_layers", "4"}}}}}}}}}}};
    const auto ours = TableSources::from_json(json, "test");
    ASSERT_TRUE(ours) << ours.error().line();
    const auto read = [&](const std::map<std::string, std::string>& cells) {
        std::map<std::string, std::string> all{
            {"source", "ours"}, {"table", "T1"}, {"assumed", "recompute=none;sharding=optimizer;global_batch=64"}};
        for (const auto& [column, text] : cells)
            all[column] = text;
        auto table = parse_measured_table(kHeader + row_text(all), "ours.csv", *ours, presets());
        EXPECT_TRUE(table && table->rows.size() == 1) << (table ? table->problems.front().line() : "");
        return table->rows.front();
    };
    const MeasuredRow told = read({});
    EXPECT_EQ(told.plan.training.recompute, Recompute::selective);
    EXPECT_EQ(
        told.plan.training.recompute_parts, (WordSet<RecomputePart>{RecomputePart::mlp, RecomputePart::layer_norm}));
    EXPECT_EQ(told.plan.training.offload_layers, 4);
    EXPECT_FALSE(told.recompute_untold);
    EXPECT_THAT(told.assumed,
        UnorderedElementsAre("recompute=selective", "recompute_parts=mlp+layer-norm", "offload=activations",
            "offload_layers=4", "sharding=optimizer", "global_batch=64"));
    const MeasuredRow untold = read({{"table", "T3"}});
    EXPECT_EQ(untold.plan.training.recompute, Recompute::none);
    EXPECT_TRUE(untold.recompute_untold);
}

TEST(MeasuredTable, WhatIsPrintedWinsOverWhatIsAssumed)
{
    const MeasuredTable table = table_of(row_text({{"global_batch", "512"}}));
    EXPECT_EQ(table.rows.at(0).plan.training.global_batch, 512);
    EXPECT_THAT(table.rows.at(0).assumed, ElementsAre("sharding=optimizer"));
}

TEST(MeasuredTable, EveryMetricGivesTheSameThroughput)
{
    const MeasuredTable table = table_of(row_text() + row_text({{"metric", "tflops_per_gpu"}, {"value", "400"}})
        + row_text({{"metric", "step_time_s"}, {"value", "68"}}) + row_text({{"metric", "mfu"}, {"value", "0.45"}})
        + row_text({{"metric", "tflops_per_gpu"}, {"value", "1"}, {"step_time_s", "68"}}));
    ASSERT_EQ(table.rows.size(), 5U);
    const ResolvedPlan& plan = table.rows[0].plan;
    const double flops = reported_flops_per_token(plan.model, plan.padded_vocab, 8192, plan.training.flop_convention);
    EXPECT_NEAR(*table.rows[1].tps_per_gpu * flops, 400e12, 1e6);
    EXPECT_NEAR(*table.rows[2].step_time_s, 68, 1e-9);
    EXPECT_NEAR(*table.rows[3].tps_per_gpu * model_flops_per_token(plan.model, 8192),
        0.45 * plan.cluster.gpu.peak_flops(Precision::bf16), 1e6);
    EXPECT_NEAR(*table.rows[4].step_time_s, 68, 1e-9) << "a printed step time needs no FLOP convention";
}

TEST(MeasuredTable, ShapesThatNoPresetHasAreBuilt)
{
    const MeasuredTable table = table_of(
        row_text({{"layers", "20"}}) + row_text({{"model", "Ours"}, {"gated_mlp", "0"}, {"kv_heads", "32"}}));
    ASSERT_EQ(table.rows.size(), 2U) << table.problems.at(0).line();
    EXPECT_EQ(table.rows[0].plan.model.id, "");
    EXPECT_EQ(table.rows[0].plan.model.layers, 20);
    EXPECT_EQ(table.rows[0].plan.model.kv_heads, 8);
    EXPECT_EQ(table.rows[1].plan.model.model_type, "gpt2");
}

TEST(MeasuredTable, StatusesAndAnomalies)
{
    const MeasuredTable table = table_of(row_text({{"status", "oom"}, {"value", ""}})
        + row_text({{"status", "not_run"}, {"value", ""}}) + row_text({{"anomaly", "outlier"}})
        + row_text({{"anomaly", "mojibake_dash"}}) + row_text({{"status", "invalid"}, {"value", ""}, {"gpus", "0"}}));
    ASSERT_EQ(table.rows.size(), 5U) << table.problems.at(0).line();
    EXPECT_TRUE(table.rows[0].crashed());
    EXPECT_EQ(table.rows[1].plan.gpus, 0);
    EXPECT_TRUE(table.rows[2].excluded);
    EXPECT_FALSE(table.rows[3].excluded) << "sources.json says that it leaves the row in";
    EXPECT_EQ(table.rows[4].status, CellStatus::invalid);
}

TEST(MeasuredTable, EachBadCellIsNamed)
{
    EXPECT_EQ(problem_of({{"value", "fast"}}), "ours.csv:3: value: found \"fast\", expected a number above 0");
    EXPECT_EQ(problem_of({{"value", "0"}}), "ours.csv:3: value: found \"0\", expected a number above 0");
    EXPECT_EQ(problem_of({{"value", "-5"}}), "ours.csv:3: value: found \"-5\", expected a number above 0");
    EXPECT_EQ(problem_of({{"value", "nan"}}), "ours.csv:3: value: found \"nan\", expected a number above 0");
    EXPECT_THAT(problem_of({{"value", ""}}), HasSubstr("ours.csv:3: value: empty, expected a number above 0"));
    EXPECT_EQ(problem_of({{"memory_gib", "-1"}}), "ours.csv:3: memory_gib: found \"-1\", expected a number above 0");
    EXPECT_EQ(
        problem_of({{"step_time_s", "1e999"}}), "ours.csv:3: step_time_s: found \"1e999\", expected a number above 0");
    EXPECT_EQ(problem_of({{"tp", "two"}}), "ours.csv:3: tp: found \"two\", expected a whole number of at least 1");
    EXPECT_EQ(problem_of({{"micro_batch", "0"}}),
        "ours.csv:3: micro_batch: found \"0\", expected a whole number of at least 1");
    EXPECT_EQ(problem_of({{"seq_len", "81.5"}}),
        "ours.csv:3: seq_len: found \"81.5\", expected a whole number of at least 1");
    EXPECT_THAT(problem_of({{"status", "great"}}), HasSubstr("ours.csv:3: status: found \"great\", expected ok, oom"));
    EXPECT_THAT(problem_of({{"status", ""}}), HasSubstr("ours.csv:3: status: empty, expected ok"));
    EXPECT_THAT(problem_of({{"status", "oom"}}), HasSubstr("beside a measured value"));
    EXPECT_THAT(
        problem_of({{"metric", "speed"}}), HasSubstr("ours.csv:3: metric: found \"speed\", expected tps_per_gpu"));
    EXPECT_THAT(problem_of({{"gpu", "B200"}}), HasSubstr("expected A100-40GB or H100-94GB"));
    EXPECT_THAT(problem_of({{"source", "hearsay"}}), HasSubstr("ours.csv:3: source: found \"hearsay\""));
    EXPECT_THAT(problem_of({{"precision", "bf8"}}), HasSubstr("ours.csv:3: training.precision"));
    EXPECT_THAT(problem_of({{"gated_mlp", "yes"}}), HasSubstr("expected 0, 1, true or false"));
    EXPECT_THAT(problem_of({{"gpus_per_node", "8"}}), HasSubstr("found 8, expected 4 as cluster tsubame4 has"));
    EXPECT_THAT(
        problem_of({{"assumed", "global_batch=8;globl_batch=4"}}), HasSubstr("no field is called \"globl_batch\""));
    EXPECT_THAT(problem_of({{"assumed", "fast;global_batch=8"}}), HasSubstr("expected field=value"));
    EXPECT_THAT(problem_of({{"assumed", ""}}), HasSubstr("ours.csv:3: global_batch: empty"));
    EXPECT_THAT(problem_of({{"model", "Ours"}, {"heads", ""}}), HasSubstr("\"Ours\" is no model preset"));
    EXPECT_THAT(problem_of({{"model", "Ours"}, {"heads", "33"}}), HasSubstr("33"));
}

// A percent, all GPUs' tokens, GFLOP/s: such a row would drag every constant along.
TEST(MeasuredTable, WhatNoGpuCanDoIsInAnotherUnit)
{
    EXPECT_EQ(problem_of({{"metric", "mfu"}, {"value", "44.6"}}),
        "ours.csv:3: value: found 44.6, expected a share of the peak, at most 1 (50 % is 0.5)");
    EXPECT_THAT(problem_of({{"metric", "tflops_per_gpu"}, {"value", "441000"}}),
        HasSubstr("ours.csv:3: value: found 441000, which is more than twice what the GPUs can compute; expected "
                  "tflops_per_gpu (is it in another unit"));
    EXPECT_THAT(problem_of({{"value", "121817"}}), HasSubstr("or of all GPUs?"));
    EXPECT_THAT(problem_of({{"value", "1e-300"}}), HasSubstr("under a millionth"));
    EXPECT_THAT(problem_of({{"step_time_s", "0.001"}}),
        ::testing::AllOf(HasSubstr("step_time_s: found 0.001, which is "), HasSubstr("and value says 7700")));
}

TEST(MeasuredTable, MoreRowsThanCanBePredictedAreRefusedAtOnce)
{
    std::string text = *read_text_file(kPresets / "published/torchtitan_llama31_h100.csv");
    text = text.substr(0, text.find('\n') + 1);
    for (int row = 0; row <= 10'000; ++row)
        text += "x\n";
    const auto table = parse_measured_table(text, "x.csv", sources(), presets());
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().line(), HasSubstr("x.csv: has 10001 rows, expected at most 10000"));
    EXPECT_EQ(table.error().exit_status(), 2);
}

TEST(MeasuredTable, ImpossibleLayoutsAreNamed)
{
    EXPECT_EQ(problem_of({{"tp", "3"}}),
        "ours.csv:3: gpus: tp x cp x pp = 3 x 1 x 1 does not divide 16 GPUs, expected a multiple of it");
    EXPECT_THAT(problem_of({{"tp", "32"}}), HasSubstr("32 x 1 x 1 does not divide 16 GPUs"));
    EXPECT_EQ(problem_of({{"dp", "4"}}), "ours.csv:3: dp: found 4, expected 8: tp x cp x pp = 2 x 1 x 1 on 16 GPUs");
    EXPECT_THAT(problem_of({{"tp", "1000000000000"}, {"cp", "1000000000000"}}), HasSubstr("does not divide"));
    // A table that marks the row itself: the GPUs decide, and it is told.
    const MeasuredTable table = table_of(row_text({{"dp", "4"}, {"anomaly", "product_mismatch"}}));
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0].plan.layout.dp, 8);
    EXPECT_THAT(table.rows[0].assumed, testing::Contains("dp=8"));
}

TEST(MeasuredTable, ARowWithTooManyFieldsDoesNotShiftItsCells)
{
    const MeasuredTable table = table_of(row_text() + "a,b,c\n" + row_text());
    EXPECT_EQ(table.rows.size(), 2U);
    ASSERT_EQ(table.problems.size(), 1U);
    EXPECT_THAT(table.problems[0].line(), HasSubstr("ours.csv:3: the row has 3 fields, expected 29"));
}

TEST(MeasuredTable, FilesThatAreNoTables)
{
    const auto error = [](const std::string& text) {
        const auto table = parse_measured_table(text, "x.csv", sources(), presets());
        return table ? std::string("read") : table.error().line();
    };
    EXPECT_THAT(error(""), HasSubstr("x.csv: the file is empty"));
    EXPECT_THAT(error("a,b\n1,2\n"), HasSubstr("x.csv:1: missing columns source, table, row, model, gpu, gpus"));
    EXPECT_THAT(error(kHeader.substr(0, kHeader.find(",status")) + "\n"), HasSubstr("missing column status"));
    EXPECT_THAT(error("tp,tp\n"), HasSubstr("column \"tp\" stands there twice"));
    EXPECT_THAT(error("a,\"b\n1,2\n"), HasSubstr("x.csv:1: a quote that opens here is never closed"));
    EXPECT_THAT(error("a,\xff\n"), HasSubstr("not UTF-8"));
    EXPECT_THAT(
        read_measured_table("/nowhere/x.csv", sources(), presets()).error().line(), HasSubstr("/nowhere/x.csv"));
}

TEST(MeasuredTable, ColumnsThatNothingReadsAreTold)
{
    const auto table = parse_measured_table("memory_gb," + kHeader + "3," + row_text(), "x.csv", sources(), presets());
    ASSERT_TRUE(table);
    EXPECT_THAT(table->remarks, ElementsAre("x.csv:1: column \"memory_gb\" is not read"));
}

TEST(Csv, QuotesLineBreaksAndBom)
{
    const auto records = read_csv("\xEF\xBB\xBF"
                                  "a,b\r\n\"x, \"\"y\"\"\",\"two\nlines\"\n\n,\n",
        "x.csv");
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 3U);
    EXPECT_THAT((*records)[0].fields, ElementsAre("a", "b"));
    EXPECT_THAT((*records)[1].fields, ElementsAre("x, \"y\"", "two\nlines"));
    EXPECT_EQ((*records)[1].line, 2);
    EXPECT_EQ((*records)[2].line, 5);
    EXPECT_THAT((*records)[2].fields, ElementsAre("", ""));
}

TEST(Csv, BlanksBesideACommaAreNoPartOfACell)
{
    const auto records = read_csv("tp, cp ,\"pp \"\n 2 ,, \"a, b\"\n", "t.csv");
    ASSERT_TRUE(records) << records.error().line();
    ASSERT_EQ(records->size(), 2u);
    EXPECT_EQ((*records)[0].fields, (std::vector<std::string>{"tp", "cp", "pp "}));
    EXPECT_EQ((*records)[1].fields, (std::vector<std::string>{"2", "", "a, b"}));
}

TEST(Csv, OtherSeparatorsAreNamed)
{
    for (const char* text : {"tp;cp\n1;2\n", "# a; note\ntp\tcp\n1\t2\n"}) {
        const auto records = read_csv(text, "t.csv");
        ASSERT_FALSE(records) << text;
        EXPECT_NE(records.error().line().find("stand between the cells, expected commas"), std::string::npos);
    }
}

TEST(Csv, EveryKindOfLineEndEndsALine)
{
    for (const char* text : {"a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\r1,2\r", "a,b\r1,2"}) {
        const auto records = read_csv(text, "x.csv");
        ASSERT_TRUE(records);
        ASSERT_EQ(records->size(), 2U) << text;
        EXPECT_THAT((*records)[1].fields, ElementsAre("1", "2"));
        EXPECT_EQ((*records)[1].line, 2);
    }
}

TEST(Csv, WhatWasKeptFromASpreadsheetReadsAsItWas)
{
    for (const std::string field :
        {"=1+1", "-2+cmd|' /C calc'!A0", "@x", "'=1", "-3.5", "+4.9 %", "-", "'tis", "a;b"}) {
        const auto records = read_csv("a\n" + csv_field(field) + "\n", "x.csv");
        ASSERT_TRUE(records);
        EXPECT_THAT((*records)[1].fields, ElementsAre(field));
    }
}

TEST(PublishedTables, AllRowsOfTheShippedTablesAreRead)
{
    for (const auto& [file, lines] : {std::pair("llama31_8b_4d_a100_h100", 342),
             std::pair("torchtitan_llama31_h100", 18), std::pair("bloom_prequel_a100", 116)}) {
        const auto table
            = read_measured_table(kPresets / "published" / (std::string(file) + ".csv"), sources(), presets());
        ASSERT_TRUE(table) << table.error().line();
        EXPECT_EQ(table->lines, lines);
        EXPECT_EQ(int(table->rows.size()), lines);
        EXPECT_TRUE(table->problems.empty()) << table->problems.front().line();
        EXPECT_TRUE(table->remarks.empty());
    }
}

// The words of a source are not always the planner's: its sources.json translates them.
TEST(TableReader, ReadsExpertsAndTranslatesTheWordsOfItsSource)
{
    const std::map<std::string, std::string> qwen{{"source", "megatron-bridge"}, {"table", "25.11"},
        {"model", "Qwen3_30B_a3B"}, {"layers", "48"}, {"hidden", "2048"}, {"kv_heads", "4"}, {"ffn", "768"},
        {"vocab", "151936"}, {"seq_len", "4096"}, {"gpu", "GB200"}, {"gpus", "8"}, {"gpus_per_node", "4"}, {"tp", "1"},
        {"dp", "8"}, {"precision", "fp8"},
        {"assumed",
            "head_dim=128;experts=128;experts_per_token=8;fp8_recipe=mxfp8;stack=megatron-lm;global_batch=512"}};
    const MeasuredTable table = table_of(row_text(qwen));
    ASSERT_EQ(table.problems.size(), 0U) << table.problems.front().line();
    const ResolvedPlan& plan = table.rows.front().plan;
    EXPECT_EQ(plan.stack.id, "megatron-core") << "the source's 'megatron-lm' is the software of 2025";
    EXPECT_EQ(plan.cluster.id, "gb200-nvl72") << "4 GPUs of a tray, 72 of a link domain";
    ASSERT_TRUE(plan.model.experts);
    EXPECT_EQ(plan.model.experts->count, 128);
    EXPECT_EQ(plan.model.experts->active, 8);
    EXPECT_EQ(plan.model.experts->ffn, 768);
    EXPECT_EQ(plan.model.head_dim, 128);

    auto deepseek = qwen;
    deepseek.insert_or_assign("model", "DeepSeekV3 (w/o MTP)");
    for (const auto& [column, text] : std::map<std::string, std::string>{{"layers", "61"}, {"hidden", "7168"},
             {"heads", "128"}, {"kv_heads", "128"}, {"ffn", "2048"}, {"vocab", "129280"},
             {"assumed", "experts=256;experts_per_token=8;attention=mla;stack=megatron-lm;global_batch=512"}})
        deepseek.insert_or_assign(column, text);
    EXPECT_EQ(table_of(row_text(deepseek)).rows.front().plan.model.id, "deepseek-v3");
}

TEST(Releases, OneThatIsSlowerThanTheOneBeforeIsTold)
{
    const auto run = [](const char* row, const char* release, const char* value, const char* micro_batch = "1") {
        return row_text({{"source", "megatron-bridge"}, {"table", release}, {"row", row}, {"gpu", "H100"},
            {"gpus_per_node", "8"}, {"micro_batch", micro_batch}, {"value", value}});
    };
    const MeasuredTable table = table_of(run("3", "26.02", "7900") + run("1", "25.09", "8000")
        + run("2", "25.11", "6000") + run("4", "26.02.01", "7850") + run("5", "26.02.01", "5000", "2"));
    ASSERT_EQ(table.rows.size(), 5U) << table.problems.front().line();
    EXPECT_THAT(table.remarks,
        ElementsAre(
            "release 25.11 is slower than 25.09 by 25 %: Llama 3.1 8B on 16 NVIDIA H100 SXM5 80GB (rows 1 and 2)"))
        << "26.02 is faster than 25.11, 26.02.01 within the scatter of runs, another micro-batch another set-up";
}

// Of a table that is no list of releases a column says them; what no row says is not known.
TEST(Releases, AColumnSaysThem)
{
    std::string header = kHeader;
    header.insert(header.size() - 1, ",release");
    const auto run = [](const std::string& row, const std::string& release, const std::string& value,
                         const char* assumed = "stack=megatron-core") {
        std::string text = row_text({{"row", row}, {"value", value},
            {"assumed", std::string("global_batch=1024;sharding=optimizer;") + assumed}});
        text.insert(text.size() - 1, "," + release);
        return text;
    };
    const auto read = [&](const std::string& rows) {
        auto table = parse_measured_table(header + rows, "ours.csv", sources(), presets());
        EXPECT_TRUE(table) << table.error().line();
        return *std::move(table);
    };
    const MeasuredTable table = read(run("1", "v25.09", "7000") + run("2", "25.12", "6000") + run("3", "", "7100")
        + run("4", "25.11", "7050") + run("5", "", "5000", "stack=megatron-core@26.02") + run("6", "2 5", "7000"));
    ASSERT_EQ(table.rows.size(), 5U);
    std::vector<std::string> releases;
    for (const MeasuredRow& row : table.rows) {
        EXPECT_EQ(row.plan.stack.id, "megatron-core");
        releases.push_back(row.plan.stack.release);
    }
    EXPECT_THAT(releases, ElementsAre("25.09", "25.12", "", "25.11", "26.02"));
    ASSERT_EQ(table.problems.size(), 1U);
    EXPECT_THAT(table.problems.front().line(), HasSubstr("found \"2 5\", expected a release's number"));
    ASSERT_EQ(table.remarks.size(), 3U) << testing::PrintToString(table.remarks);
    EXPECT_EQ(
        table.remarks[0], "release 25.12 of stack megatron-core is not known: predicted as 25.11, the nearest that is");
    EXPECT_THAT(table.remarks[1], HasSubstr("release 25.12 is slower than 25.11 by 15 %"));
    EXPECT_THAT(table.remarks[2], HasSubstr("release 26.02 is slower than 25.12 by 17 %"));

    std::vector<std::string> sections;
    const ScoreCard card = make_score_card(table, {});
    for (const Figures& figures : card.views.front().sections)
        sections.push_back(figures.name + ": " + std::to_string(figures.throughput.rows));
    EXPECT_THAT(sections,
        ElementsAre("all rows: 5", "release 25.09: 1", "release 25.11: 1", "release 25.12: 1", "release 26.02: 1"));
}

} // namespace
} // namespace fourfold::test
