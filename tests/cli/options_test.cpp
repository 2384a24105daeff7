// SPDX-License-Identifier: GPL-3.0-or-later
// Each option of each command with values that nobody means, as the parser itself lists them: a new option is held to
// the contract without being named here. What every answer must be is the same for all: an exit status of the contract,
// one line where it fails, nothing of the user's lost.
#include "core/base/text.h"
#include "tests/cli/program.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

namespace fourfold::test {
namespace {

using ::testing::Not;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// What each command is called with, to which an option is added. Nothing trains, reaches another computer, or takes
// long.
const std::map<std::string, Words> kCalls{
    {"predict", {"p.json"}},
    {"search", {"p.json", "--gpus", "8", "--top", "1"}},
    {"recipe", {"story-15m"}},
    {"recommend", {"llama-3.2-1b", "--gpus", "1", "--cluster", "dgx-h100"}},
    {"sweep", {"p.json", "--layouts", "layouts.csv", "--gpus", "8"}},
    {"timeline", {"p.json", "--output", "o.json"}},
    {"profile", {"p.json", "trace.json"}},
    {"table", {"p.json", "memory"}},
    {"compare", {"p.json", "p.json"}},
    {"find", {"local", "--no-save", "--dry-run"}},
    {"probe", {"local", "--dry-run"}},
    {"run", {"this-computer", "--dry-run"}},
    {"attach", {"last", "--dry-run"}},
    {"stop", {"last", "--dry-run"}},
    {"queue list", {}},
    {"queue remove", {"1"}},
    {"queue move", {"1", "1"}},
    {"gc", {"local", "--dry-run"}},
    {"history list", {}},
    {"history show", {"last"}},
    {"history compare", {"last", "last"}},
    {"history export", {"last"}},
    {"history import", {"measured.csv"}},
    {"history tag", {"last"}},
    {"history note", {"last", "text"}},
    {"history delete", {"last"}},
    {"history restore", {"last"}},
    {"history purge", {}},
    {"presets", {"gpus"}},
    {"model import", {"config.json", "--id", "mine"}},
    {"libtorch where", {}},
    {"pack", {"text.txt", "--tokenizer", "tokenizer.json", "--output", "tokens"}},
    {"validate", {"measured.csv"}},
    {"calibrate", {"measured.csv", "--stack", "generic", "--dry-run"}},
    {"guide", {"1"}},
    {"completion", {"bash"}},
    {"manual", {}},
};
// Those that rehearse, go on by themselves, fetch something, or belong to a terminal.
const std::set<std::string> kNotCalled{"rehearse", "queue pause", "queue resume", "queue clear", "queue work",
    "libtorch get", "tui", "queue", "history", "model", "libtorch"};

struct Option {
    std::string name;
    bool takes_value = false;
};

class Options : public ProgramTest, public ::testing::WithParamInterface<std::string> {
protected:
    Options()
    {
        for (const char* ending : kEndings)
            static_cast<void>(file(std::string("kept.") + ending, "keep me\n"));
        plan_ = plan_text();
        static_cast<void>(file("p.json", plan_));
        static_cast<void>(file("layouts.csv", "tp,cp,pp,micro_batch\n2,1,1,1\n"));
        static_cast<void>(file("trace.json",
            R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 5, "pid": 0, "tid": 7}]})"));
        static_cast<void>(file("measured.csv",
            "source,table,row,model,gpu,gpus,tp,cp,pp,micro_batch,global_batch,seq_len,cluster,stack,metric,value,"
            "status\nlab,t,a,llama-3.1-8b,H100,8,2,1,1,1,64,8192,dgx-h100,generic,tps_per_gpu,6240,ok\n"));
        static_cast<void>(file("config.json",
            R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                "intermediate_size": 128, "vocab_size": 100})"));
        static_cast<void>(file("text.txt", "ab"));
        static_cast<void>(file("tokenizer.json",
            R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
                "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}})"));
        static_cast<void>(file("nul", std::string("a\0b\0", 4)));
        fs::create_directories(folder() / "sub");
    }

    // By command ("history list"), as the completion script has them.
    [[nodiscard]] std::map<std::string, std::vector<Option>> all_options() const
    {
        std::map<std::string, std::vector<Option>> all;
        for (const std::string& line : lines_of(fourfold({"completion", "bash"}).out)) {
            if (line.find("') commands='") == std::string::npos)
                continue;
            std::string command = between(line, "'", "'");
            std::replace(command.begin(), command.end(), ':', ' ');
            std::set<std::string> with_value;
            for (const std::string& value : words(between(line, "values='", "'")))
                with_value.insert(value.substr(0, value.find('=')));
            for (const std::string& option : words(between(line, "options='", "'")))
                all[command.empty() ? "" : command.substr(1)].push_back({option, with_value.contains(option)});
        }
        return all;
    }

    void expect_contract(const Words& arguments) const
    {
        std::string shown = joined(arguments, " ");
        SCOPED_TRACE("fourfold " + printable(shown));
        const std::vector<std::string> before = kept();
        const Output output = fourfold(arguments);
        EXPECT_THAT(output.status, ::testing::AnyOf(0, 1, 2)) << output.err;
        EXPECT_THAT(output.err,
            Not(::testing::ContainsRegex(
                "terminate called|what\\(\\)|bad_alloc|basic_string|nlohmann|std::|filesystem error|CLI::")));
        std::size_t problems = 0;
        for (const std::string& line : lines_of(output.err)) {
            problems += line.starts_with("fourfold: ") && !line.starts_with("fourfold: warning: ");
            EXPECT_LT(line.size(), 1500u) << line.substr(0, 200);
            EXPECT_EQ(line, printable(line, kUncut)) << "what a terminal would obey";
        }
        if (output.status != 0) {
            EXPECT_EQ(problems, 1u) << output.err;
            EXPECT_EQ(output.out, "") << "half an answer";
            EXPECT_EQ(kept(), before) << "what is there is replaced by a whole answer or not at all";
        }
        EXPECT_EQ(*read_text_file(folder() / "p.json"), plan_) << "what is read is never written";
        for (const auto& entry : fs::recursive_directory_iterator(folder()))
            EXPECT_FALSE(entry.path().extension() == ".tmp") << entry.path();
    }

    [[nodiscard]] Words call(const std::string& option = "") const
    {
        Words all = words(GetParam());
        const Words& more = kCalls.at(GetParam());
        for (std::size_t i = 0; i < more.size(); ++i) {
            if (more[i] == option && more[i].starts_with("--")) // its own value takes the place of this one
                ++i;
            else
                all.push_back(more[i]);
        }
        return all;
    }

private:
    [[nodiscard]] std::vector<std::string> kept() const
    {
        std::vector<std::string> contents;
        for (const char* ending : kEndings)
            contents.push_back(*read_text_file(folder() / (std::string("kept.") + ending)));
        return contents;
    }
    static std::string between(const std::string& text, const std::string& before, const std::string& behind)
    {
        const std::size_t begin = text.find(before) + before.size();
        return text.substr(begin, text.find(behind, begin) - begin);
    }
    static Words words(const std::string& text)
    {
        std::istringstream in(text);
        return {std::istream_iterator<std::string>(in), {}};
    }

    static constexpr std::array kEndings{"json", "svg", "pdf", "csv", "md"};
    std::string plan_;
};

TEST_P(Options, WithOddValuesAreOneLineAndLoseNothing)
{
    ASSERT_EQ(fourfold({"history", "import", "measured.csv"}).status, 0);
    // Each has a value that means something else where it is empty (see the command's help).
    const std::set<std::string> may_be_empty{"--eos", "--filter"}, may_stand_alone{"--explain"};
    const auto options = all_options();
    for (const Option& option : options.at(GetParam())) {
        if (option.name == "--help" || option.name == "-h")
            continue;
        Words arguments = call(option.name);
        if (!option.takes_value) {
            arguments.push_back(option.name + "=zzz");
            expect_contract(arguments);
            arguments.back() = option.name;
            expect_contract(arguments);
            continue;
        }
        arguments.push_back(option.name);
        if (!may_stand_alone.contains(option.name)) {
            EXPECT_EQ(fourfold(arguments).status, 2) << "no value behind " << option.name;
        }
        expect_contract(arguments);
        const std::string ending = option.name == "--picture" ? "svg" : option.name == "--report" ? "pdf" : "json";
        for (const std::string& value : Words{"", "zzz", "sub", "none/none.json", "nul", "a\nb\x1b[31m",
                 std::string(5'000, 'x'), "/proc/none/o." + ending, "kept." + ending}) {
            arguments.push_back(value);
            expect_contract(arguments);
            if (value.empty() && !may_be_empty.contains(option.name) && !may_stand_alone.contains(option.name)) {
                EXPECT_EQ(fourfold(arguments).status, 2) << "an empty value of " << option.name;
            }
            arguments.pop_back();
        }
    }
}

TEST_P(Options, ArgumentsThatAreNoneAreNamed)
{
    // More arguments of this one are tables, of which each is answered for itself.
    const bool takes_more = GetParam() == "validate";
    for (const char* more : {"--nonsense", "nul", "", "a\nb"}) {
        if (takes_more && std::string(more) != "--nonsense")
            continue;
        Words arguments = call();
        arguments.emplace_back(more);
        expect_contract(arguments);
    }
    for (std::size_t i = 0; i < call().size(); ++i) {
        for (const std::string& odd : Words{"", "nul", "sub", "none.json", std::string(5'000, 'x'), "\x1b[31m"}) {
            Words arguments = call();
            if (arguments[i].starts_with("--") || (i > 0 && arguments[i - 1] == "--output"))
                continue;
            arguments[i] = odd;
            expect_contract(arguments);
        }
    }
}

std::vector<std::string> called()
{
    std::vector<std::string> names;
    for (const auto& [name, arguments] : kCalls)
        names.push_back(name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Of, Options, ::testing::ValuesIn(called()), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
});

class AllOptions : public ProgramTest { };

TEST_F(AllOptions, AreThoseOfCommandsThatAreCalled)
{
    for (const std::string& line : lines_of(fourfold({"completion", "bash"}).out)) {
        if (!line.starts_with("        ':"))
            continue;
        std::string command = line.substr(10, line.find('\'', 10) - 10);
        std::replace(command.begin(), command.end(), ':', ' ');
        EXPECT_TRUE(kCalls.contains(command) || kNotCalled.contains(command))
            << command << ": add a call to kCalls, so that its options are held to the contract";
    }
}

} // namespace
} // namespace fourfold::test
