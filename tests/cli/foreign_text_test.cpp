// SPDX-License-Identifier: GPL-3.0-or-later
// Text of plans, presets, tables and stored runs never gives orders to the terminal, whatever shows it, and a
// spreadsheet runs none of what is exported.
#include "core/history/annotations.h"
#include "tests/cli/program.h"
#include "tests/history/history_test_support.h"

#include <fstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;

// Colours, a window title, the same with C1, text that runs backwards, line ends of all kinds.
const std::string kEvil
    = "evil\x1b[31m\x1b]0;title\x07 \xc2\x9b"
      "31m\xc2\x9d"
      "0;x\xc2\x9c \xd8\x9c\xe2\x80\x8f\xe2\x80\xae\xe2\x81\xa6 \x7f\xe2\x80\xa8\r\nfourfold: forged\b";

// Empty when a terminal shows `text` as it is; else the bytes that it would obey. "\r" alone is one, "\r\n" is not.
std::string orders_in(const std::string& text)
{
    static const std::vector<std::string> sequences = [] {
        std::vector<std::string> list{"\x7f", "\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f"};
        for (unsigned char c = 0x80; c < 0xa0; ++c)
            list.push_back("\xc2" + std::string(1, static_cast<char>(c)));
        for (unsigned char c = 0xa8; c <= 0xae; ++c)
            list.push_back("\xe2\x80" + std::string(1, static_cast<char>(c)));
        for (unsigned char c = 0xa6; c <= 0xa9; ++c)
            list.push_back("\xe2\x81" + std::string(1, static_cast<char>(c)));
        return list;
    }();
    std::string found;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool line_end = c == '\n' || c == '\t' || (c == '\r' && text[i + 1] == '\n');
        if (c < 0x20 && !line_end)
            found += std::to_string(c) + " at " + std::to_string(i) + "; ";
    }
    for (const std::string& sequence : sequences) {
        if (text.find(sequence) != std::string::npos)
            found += ::testing::PrintToString(sequence) + "; ";
    }
    return found;
}

class ForeignText : public ProgramTest {
protected:
    // Runs the program; what it says holds `part` and no orders.
    Output harmless(const std::vector<std::string>& arguments, const std::string& part = "evil") const
    {
        SCOPED_TRACE(::testing::PrintToString(arguments));
        const Output output = fourfold(arguments);
        EXPECT_EQ(orders_in(output.out), "") << output.out;
        EXPECT_EQ(orders_in(output.err), "") << output.err;
        EXPECT_THAT(output.out + output.err, HasSubstr(part));
        // Only within the quotes of a CSV field a line may end.
        if (arguments.back() != "csv") {
            EXPECT_EQ((output.out + output.err).find("\nfourfold: forged"), std::string::npos) << "a line of its own";
        }
        return output;
    }
    [[nodiscard]] std::string text_of(const std::string& name) const
    {
        std::ifstream in(folder() / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
};

TEST_F(ForeignText, OfAPlan)
{
    Json edits = {{"name", kEvil},
        {"model",
            {{"name", kEvil}, {"model_type", "llama"}, {"hidden_size", 1024}, {"intermediate_size", 2048},
                {"num_hidden_layers", 4}, {"num_attention_heads", 16}, {"vocab_size", 32000}}}};
    const std::string plan = file("p.json", plan_text(edits.dump().c_str()));
    harmless({"predict", plan});
    const Output json = harmless({"predict", plan, "--json"});
    EXPECT_THAT(json_of(json)["plan"]["name"].get<std::string>(), HasSubstr("evil"));
    harmless({"predict", plan, "--explain", "memory_gib"}, "GiB");
    harmless({"run", plan, "--dry-run"}, "");
    harmless({"search", plan, "--top", "1"}, "");
    for (const std::string name : {"t.svg", "t.json"}) {
        harmless({"timeline", plan, "--output", name}, "wrote");
        EXPECT_NE(text_of(name), "") << name;
        EXPECT_EQ(orders_in(text_of(name)), "") << name;
    }
    edits = {{"stack", kEvil}};
    harmless({"predict", file("stack.json", plan_text(edits.dump().c_str()))});
    edits = {{"training", {{"schedule", kEvil}}}};
    harmless({"predict", file("schedule.json", plan_text(edits.dump().c_str()))});
    harmless({"predict", "evil\x1b[2J.json"});
    harmless({"predict", plan, "--evil\x1b[2J"});
    const std::string lines = "{\"model\": \"evil\xc2\x9b\"}\n";
    const Output batch = fourfold({"predict", "--batch", "/dev/stdin", "--json"}, lines);
    EXPECT_EQ(orders_in(batch.out), "");
    EXPECT_THAT(batch.out, HasSubstr("\"error\""));
}

TEST_F(ForeignText, OfAPreset)
{
    std::filesystem::create_directories(folder() / "config/fourfold/presets/gpus");
    Json gpu = {{"id", "evil-gpu"}, {"name", kEvil}, {"memory_gib", 80}, {"memory_bandwidth_gb_s", 2000},
        {"peak_tflops", {{"bf16", 100}}}, {"source", {{"memory_gib", kEvil}}}};
    file("config/fourfold/presets/gpus/evil-gpu.json", gpu.dump());
    for (const std::string format : {"text", "json", "csv", "markdown", "latex"})
        harmless({"presets", "gpus", "--format", format}, "evil-gpu");
}

TEST_F(ForeignText, OfStoredRuns)
{
    HistoryStore store = open_store(history_file());
    NewRun run = sample_run("01EVIL");
    run.name = run.target = run.stack = kEvil;
    run.plan["name"] = kEvil;
    run.plan["model"]["name"] = kEvil;
    run.plan["cluster"]["name"] = kEvil;
    run.hosts = {kEvil};
    run.environment = {{"EVIL", kEvil}};
    must(store.create_run(run));
    const auto line = [](int seq, Json event) {
        event["seq"] = seq;
        event["time"] = "2026-01-01T00:00:00.000Z";
        return event.dump();
    };
    must(store.append_events("01EVIL", "events",
        {line(0, {{"event", "start"}, {"software", {{"evil", kEvil}}}, {"hardware", {{kEvil, kEvil}}}}),
            line(1, {{"event", "warning"}, {"message", kEvil}}),
            line(2, {{"event", "error"}, {"message", kEvil}, {"host", kEvil}, {"log", Json::array({kEvil})}}),
            line(3, {{"event", "end"}, {"status", "fail"}, {"message", kEvil}})}));
    must(set_note(store, "01EVIL", kEvil.substr(0, kEvil.find('\r'))));
    must(store.create_run(sample_run("01GOOD")));
    for (const std::string format : {"text", "json", "csv", "markdown", "latex"}) {
        harmless({"history", "list", "--format", format});
        harmless({"history", "show", "01EVIL", "--format", format}, format == "text" || format == "json" ? "evil" : "");
        harmless({"history", "compare", "01EVIL", "01GOOD", "--format", format}, "");
        harmless({"history", "export", "01EVIL", "--format", format});
    }
    harmless({"attach", "01EVIL", "--json"});
    harmless({"history", "tag", "01EVIL", "--add", "evil\xc2\x9b"}, "is no tag");
    harmless({"history", "note", "01EVIL", "evil\x1b[1m"}, "");
    harmless({"history", "show", "01EVIL"}, "note       evil\\u001b[1m");
    const Output exported = harmless({"history", "export", "01EVIL"});
    must(set_deleted(store, {"01EVIL"}, true));
    must(purge(store));
    harmless({"history", "import", file("run.json", exported.out)}, "imported 01EVIL");
    const Json events = json_of(fourfold({"history", "show", "01EVIL", "--json"}))["other_events"];
    EXPECT_EQ(events.at(1)["message"], kEvil) << "what the node said is stored as it was";
}

TEST_F(ForeignText, OfALogOfOtherSoftware)
{
    const std::string log = file("evil\xc2\x9b.log",
        "[rank0]:[titan] 2026-01-01 00:00:00,000 - root - INFO - step: 10  loss:  7.1234  memory: 38.17GiB(40.85%)  "
        "tps: 5,762  tflops: 333.65  mfu: 33.74%\n");
    const Json name = {{"name", kEvil}};
    harmless({"history", "import", log, "--plan", file("p.json", plan_text(name.dump().c_str()))});
    harmless({"history", "show", "last"});
}

// In a spreadsheet a cell that begins with one of = + - @ is a formula, and some formulas start programs.
TEST_F(ForeignText, IsNoFormulaInASpreadsheet)
{
    HistoryStore store = open_store(history_file());
    NewRun run = sample_run("01EVIL");
    run.name = "=cmd|' /C calc'!A0";
    run.plan["model"]["name"] = "@SUM(1;1)";
    run.plan["cluster"]["name"] = "-2+3+cmd|' /C calc'!A0";
    must(store.create_run(run));
    const std::string csv = fourfold({"history", "export", "--format", "csv"}).out;
    EXPECT_THAT(csv, HasSubstr(",'=cmd|' /C calc'!A0,"));
    EXPECT_THAT(csv, HasSubstr(",\"'@SUM(1;1)\","));
    EXPECT_THAT(csv, HasSubstr(",'-2+3+cmd|' /C calc'!A0,"));
}

} // namespace
} // namespace fourfold::test
