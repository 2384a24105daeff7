// SPDX-License-Identifier: GPL-3.0-or-later
// The exact text of each table format.
#include "core/report/table/table.h"

#include <gtest/gtest.h>

#include <limits>

namespace fourfold {
namespace {

Table sample()
{
    Table table;
    table.columns = {
        {"name", "Name"}, {"gpus", "GPUs"}, {"tps_per_gpu", "TPS/GPU", 1}, {"error", "Error", 1, 100, " %"}, {"note"}};
    table.rows = {
        {"8B, tp2", std::int64_t{16}, 7598.44, 0.049, "50 % of $_{x} & more"},
        {"caf\xc3\xa9 \"x\"", std::int64_t{16384}, Cell{}, -0.0001, "a|b\nc\\"},
        {"[short]", Cell{}, 12.0, Cell{}, true},
    };
    return table;
}

// Each column is looked at once: looking at it for each cell would take this hours.
TEST(Table, ALongTableIsWrittenInOnePass)
{
    Table table;
    table.columns = {{"a"}, {"b"}};
    table.rows.assign(300'000, {std::int64_t{1}, 2.0});
    EXPECT_EQ(table.write(TableFormat::text).size(), std::size_t(300'001 * 5));
}

TEST(Table, Text)
{
    EXPECT_EQ(sample().write(TableFormat::text),
        "Name        GPUs  TPS/GPU  Error  note\n"
        "8B, tp2       16  7,598.4  4.9 %  50 % of $_{x} & more\n"
        "caf\xc3\xa9 \"x\"  16,384        -  0.0 %  a|b c\\\n"
        "[short]        -     12.0      -  yes\n");
}

TEST(Table, Csv)
{
    EXPECT_EQ(sample().write(TableFormat::csv),
        "name,gpus,tps_per_gpu,error,note\r\n"
        "\"8B, tp2\",16,7598.44,0.049,50 % of $_{x} & more\r\n"
        "\"caf\xc3\xa9 \"\"x\"\"\",16384,,-0.0001,\"a|b\nc\\\"\r\n"
        "[short],,12,,true\r\n");
}

TEST(Table, CsvHasNoFormulas)
{
    const std::pair<const char*, const char*> fields[] = {
        {"=1+1", "'=1+1"},
        {"+1+1", "'+1+1"},
        {"-2+cmd|' /C calc'!A0", "'-2+cmd|' /C calc'!A0"},
        {"@SUM(1)", "'@SUM(1)"},
        {"\t=1", "\"'\t=1\""},
        {"\r=1", "\"'\n=1\""},
        {"=\"a\",1", "\"'=\"\"a\"\",1\""},
        {"a;=1", "\"a;=1\""}, // some spreadsheets divide here
        {"'=1", "''=1"},
        {"-A1", "'-A1"},
        {"-1e5*A1", "'-1e5*A1"},
        {"-3.5", "-3.5"},
        {"+4.9 %", "+4.9 %"},
        {"-1,234.5 tokens/s", "\"-1,234.5 tokens/s\""},
        {"-1e-05", "-1e-05"},
        {"-", "-"},
        {"a=b", "a=b"},
        {"'tis", "'tis"},
        {"a\x1b[31m\xc2\x9b", "a\\u001b[31m\\u009b"},
    };
    for (const auto& [field, expected] : fields)
        EXPECT_EQ(csv_field(field), expected);
    Table table;
    table.columns = {{"error", "Error", 1, 100, " %"}};
    table.rows = {{-0.035}};
    EXPECT_EQ(table.write(TableFormat::csv), "error\r\n-0.035\r\n");
}

TEST(Table, Markdown)
{
    EXPECT_EQ(sample().write(TableFormat::markdown),
        "| Name | GPUs | TPS/GPU | Error | note |\n"
        "| --- | ---: | ---: | ---: | --- |\n"
        "| 8B, tp2 | 16 | 7,598.4 | 4.9 % | 50 % of $\\_{x} & more |\n"
        "| caf\xc3\xa9 \"x\" | 16,384 | - | 0.0 % | a\\|b c\\\\ |\n"
        "| \\[short\\] | - | 12.0 | - | yes |\n");
}

TEST(Table, Latex)
{
    EXPECT_EQ(sample().write(TableFormat::latex),
        "% needs \\usepackage{booktabs}\n"
        "\\begin{tabular}{lrrrl}\n"
        "\\toprule\n"
        "Name & GPUs & TPS/GPU & Error & note \\\\\n"
        "\\midrule\n"
        "8B, tp2 & 16 & 7,598.4 & 4.9 \\% & 50 \\% of \\$\\_\\{x\\} \\& more \\\\\n"
        "caf\xc3\xa9 \"x\" & 16,384 & - & 0.0 \\% & a|b c\\textbackslash{} \\\\\n"
        "{}[short] & - & 12.0 & - & yes \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n");
    EXPECT_EQ(latex_text("a~b^c<d>#"), "a\\textasciitilde{}b\\textasciicircum{}c\\textless{}d\\textgreater{}\\#");
}

TEST(Table, Json)
{
    const Json json = sample().to_json();
    ASSERT_EQ(json.size(), 3u);
    EXPECT_EQ(json[0].dump(),
        R"({"name":"8B, tp2","gpus":16,"tps_per_gpu":7598.44,"error":0.049,"note":"50 % of $_{x} & more"})");
    EXPECT_TRUE(json[1]["tps_per_gpu"].is_null());
    EXPECT_EQ(json[2]["note"], true);
    EXPECT_EQ(Json::parse(sample().write(TableFormat::json)), json);
}

TEST(Table, WithoutRows)
{
    Table table = sample();
    table.rows.clear();
    EXPECT_EQ(table.write(TableFormat::text), "Name  GPUs  TPS/GPU  Error  note\n");
    EXPECT_EQ(table.write(TableFormat::csv), "name,gpus,tps_per_gpu,error,note\r\n");
    EXPECT_EQ(table.write(TableFormat::json), "[]\n");
}

TEST(Table, Numbers)
{
    EXPECT_EQ(shown_number(0, 0), "0");
    EXPECT_EQ(shown_number(999, 0), "999");
    EXPECT_EQ(shown_number(1000, 0), "1,000");
    EXPECT_EQ(shown_number(-1234567.891, 2), "-1,234,567.89");
    EXPECT_EQ(shown_number(-0.001, 1), "0.0");
    EXPECT_EQ(shown_number(-100, 0), "-100");
    EXPECT_EQ(shown_number(4917.196, -4), "4,917");
    EXPECT_EQ(shown_number(0.20834, -4), "0.2083");
    EXPECT_EQ(shown_number(12345678, -4), "12,345,678");
    EXPECT_EQ(shown_number(0, -4), "0");
    EXPECT_EQ(shown_number(std::numeric_limits<double>::quiet_NaN(), 1), "nan");
    EXPECT_EQ(shown_number(-std::numeric_limits<double>::infinity(), 1), "-inf");
    EXPECT_EQ(shown(Cell{std::int64_t{8030261248}}, {"n", "", 2, 1e-9, " B"}), "8.03 B");
}

TEST(Table, FormatNames)
{
    for (const std::string& name : table_format_names())
        EXPECT_TRUE(table_format(name));
    EXPECT_EQ(*table_format("table"), TableFormat::text);
    EXPECT_EQ(table_format("PDF").error().exit_status(), 2);
}

} // namespace
} // namespace fourfold
