// SPDX-License-Identifier: GPL-3.0-or-later
// Bad input of every kind: one clear line, the contract's exit status, nothing half-written.
#include "tests/cli/program.h"

#include <cstdlib>
#include <fstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Problems : public ProgramTest { };

TEST_F(Problems, OfTheArguments)
{
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{}, "subcommand is required"},
        {{"predct"}, "did you mean predict?"},
        {{"predict"}, "no plan is given"},
        {{"predict", "a.json", "--batch", "b"}, "both"},
        {{"predict", "--jsn", "this-computer"}, "did you mean --json?"},
        {{"predict", "this-computer", "--set"}, "--set"},
        {{"history"}, "fourfold history --help"},
        {{"history", "compare", "one"}, "RUN"},
        {{"history", "list", "--format", "pdf"}, "use text, json, csv, markdown or latex"},
        {{"history", "list", "--limit", "-3"}, "--limit"},
        {{"timeline", "this-computer"}, "--output is required"},
        {{"run", "this-computer", "--steps", "0"}, "--steps"},
        {{"run", "this-computer", "--steps", "many"}, "--steps"},
        {{"presets", "model"}, "did you mean models?"},
        {{"model", "import", "x.json"}, "--id is required"},
    };
    for (const auto& [arguments, expected] : cases) {
        SCOPED_TRACE(::testing::PrintToString(arguments));
        expect_problem(fourfold(arguments), 2, expected);
    }
}

TEST_F(Problems, OfTheFile)
{
    file("folder/x", "");
    const std::pair<std::string, std::vector<const char*>> cases[] = {
        {"missing.plan.json", {"missing.plan.json: "}},

        {file("empty.json", ""), {"empty.json"}},
        {file("cut.json", "{\n  \"model\": \"x\",\n  \"gpus\": }"), {"cut.json", "line 3", "column"}},
        {file("list.json", "[]"), {"list.json", "object"}},
        {file("twice.json", R"({"gpus": 1, "gpus": 2})"), {"twice.json", "gpus"}},
        {file("binary.json", std::string("\x00\xff\x01", 3)), {"binary.json"}},
        {file("deep.json", std::string(100000, '[')), {"deep.json"}},
        {"lama-3.1-8b-tsubame4-16", {"did you mean llama-3.1-8b-tsubame4-16"}},
    };
    expect_problem(fourfold({"predict", "folder"}), 2, "folder: is a folder, expected a file");
    for (const auto& [plan, expected] : cases) {
        SCOPED_TRACE(plan);
        const Output output = fourfold({"predict", plan});
        for (const char* text : expected)
            expect_problem(output, 2, text);
    }
}

// Whatever else happens, such a name cannot be used.
TEST_F(Problems, OfTheFilesName)
{
    std::filesystem::create_symlink("loop.json", folder() / "loop.json");
    const std::string plan = file("p.json", plan_text());
    expect_problem(fourfold({"predict", (folder() / "loop.json").string()}), 2, "Too many levels of symbolic links");
    expect_problem(fourfold({"predict", plan + "/"}), 2, "Not a directory");
    expect_problem(fourfold({"predict", std::string(300, 'x') + ".json"}), 2, "File name too long");
}

// A link to a file that is not there yet stays a link: the file is made where it leads.
TEST_F(Problems, OfAnOutputBehindALink)
{
    const std::string plan = file("p.json", plan_text());
    std::filesystem::create_directory(folder() / "large");
    std::filesystem::create_symlink("large/real.svg", folder() / "link.svg");
    EXPECT_EQ(fourfold({"timeline", plan, "--output", (folder() / "link.svg").string()}).status, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(folder() / "link.svg"));
    EXPECT_TRUE(std::filesystem::is_regular_file(folder() / "large/real.svg"));
    std::filesystem::create_symlink("nowhere/real.svg", folder() / "lost.svg");
    expect_problem(
        fourfold({"timeline", plan, "--output", (folder() / "lost.svg").string()}), 2, "No such file or directory");
    EXPECT_TRUE(std::filesystem::is_symlink(folder() / "lost.svg"));
    std::filesystem::create_symlink("circle.svg", folder() / "circle.svg");
    expect_problem(fourfold({"timeline", plan, "--output", (folder() / "circle.svg").string()}), 1,
        "Too many levels of symbolic links");
}

TEST_F(Problems, OfThePlan)
{
    const std::pair<const char*, std::vector<const char*>> cases[] = {
        {R"({"model": null})", {"model", "missing"}},
        {R"({"gpus": null})", {"gpus", "missing"}},
        {R"({"gpus": "sixteen"})", {"p.json: gpus", "integer"}},
        {R"({"gpus": 0})", {"p.json: gpus"}},
        {R"({"model": "llama-3.1-8"})", {"p.json: model", "did you mean llama-3.1-8b"}},
        {R"({"cluster": "tsubame"})", {"p.json: cluster", "did you mean tsubame4"}},
        {R"({"stack": "megatron"})", {"p.json: stack", "megatron-lm"}},
        {R"({"layout": {"tp": "two"}})", {"p.json: layout.tp"}},
        {R"({"layout": {"tp": 0}})", {"p.json: layout.tp"}},
        {R"({"layout": {"tp": 4}})", {"p.json: layout.dp", "tp 4", "use 4"}},
        {R"({"layout": {"tp": 5}, "gpus": 40})", {"p.json: layout.tp", "use "}},
        {R"({"training": {"recompute": "some"}})", {"p.json: training.recompute", "selective"}},
        {R"({"training": {"global_batch": 63}})", {"p.json: training.global_batch", "use "}},
        {R"({"fourfold_plan": 2})", {"p.json: fourfold_plan", "format 1"}},
    };
    for (const auto& [edits, expected] : cases) {
        SCOPED_TRACE(edits);
        const Output output = fourfold({"predict", file("p.json", plan_text(edits))});
        for (const char* text : expected)
            expect_problem(output, 2, text);
    }
}

TEST_F(Problems, OfAssignments)
{
    const std::string plan = file("p.json", plan_text());
    const std::pair<const char*, const char*> cases[] = {
        {"layout.tpp=4", "did you mean layout.tp"},
        {"layout", "layout"},
        {"=4", "p.json"},
        {"layout.tp=four", "layout.tp"},
        {"model.layers=3", "preset"},
        {"training.seq_len=0", "training.seq_len"},
    };
    for (const auto& [assignment, expected] : cases) {
        SCOPED_TRACE(assignment);
        expect_problem(fourfold({"predict", plan, "--set", assignment}), 2, expected);
    }
}

TEST_F(Problems, OfTheTimelineLeaveNothingBehind)
{
    const std::string plan = file("p.json", plan_text());
    fs::create_directories(folder() / "out");
    for (const char* name : {"out/t.gif", "out/t", "out/.json/"}) {
        const Output output = fourfold({"timeline", plan, "--output", name});
        EXPECT_NE(output.status, 0) << name;
        EXPECT_EQ(lines_of(output.err).size(), 1u) << output.err;
    }
    expect_problem(fourfold({"timeline", plan, "--output", "out/t.gif"}), 2, ".svg");
    for (const char* name : {"none/t.json", "none/t.svg", "none/t.png"})
        expect_problem(fourfold({"timeline", plan, "--output", name}), 2, "none/t");
    EXPECT_FALSE(fs::exists(folder() / "none"));
    EXPECT_TRUE(fs::is_empty(folder() / "out"));
    expect_problem(
        fourfold({"timeline", plan, "--set", "layout.tp=3", "--output", "out/t.json"}), 2, "p.json: layout.tp");
    EXPECT_TRUE(fs::is_empty(folder() / "out"));
}

TEST_F(Problems, OfAFolderThatTakesNoFiles)
{
    // Not even root can make a file there.
    const std::string plan = file("p.json", plan_text());
    for (const char* name : {"/proc/self/t.json", "/proc/self/t.svg", "/proc/self/t.png"}) {
        const Output output = fourfold({"timeline", plan, "--output", name});
        expect_problem(output, output.status == 2 ? 2 : 1, name);
    }
}

TEST_F(Problems, OfAVariableThatNamesNoFolder)
{
    ::setenv("FOURFOLD_PRESETS", "/nowhere", 1);
    const Output output = fourfold({"presets", "gpus"});
    ::unsetenv("FOURFOLD_PRESETS");
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(
        output.err, "fourfold: warning: FOURFOLD_PRESETS: /nowhere is no folder, so no presets come from there\n");
}

// A whole folder of the user's that is a file, or a link into nowhere.
TEST_F(Problems, OfWhatIsNoFolderOfPresets)
{
    const std::string place = file("config/fourfold/presets", "");
    const std::string line = "fourfold: warning: " + place + " is no folder, so no presets come from there\n";
    EXPECT_EQ(fourfold({"presets", "gpus"}).err, line);
    fs::remove(place);
    fs::create_symlink("nowhere", place);
    EXPECT_EQ(fourfold({"presets", "gpus"}).err, line);
    fs::remove(place);
    EXPECT_EQ(fourfold({"presets", "gpus"}).err, "") << "it need not be there";
}

TEST_F(Problems, OfTheTarget)
{
    const std::string plan = file("p.json", plan_text());
    for (const char* target : {"nowhere.json", "no-such-target", "a;b", "", "./"}) {
        const Output output = fourfold({"run", plan, "--target", target});
        SCOPED_TRACE(target);
        expect_problem(output, 2, "");
    }
    EXPECT_FALSE(fs::exists(history_file())) << "nothing was run, nothing is stored";
    expect_problem(fourfold({"run", plan, "--set", "layout.tp=3", "--dry-run"}), 2, "p.json: layout.tp");
}

// The model of a plan that is asked for lies in a file that is not named itself.
TEST_F(Problems, OfAnOutputThatIsTheModel)
{
    const std::string config = R"({"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4,
        "num_attention_heads": 8, "intermediate_size": 2048, "vocab_size": 1000})";
    std::filesystem::create_directories(folder() / "model");
    const std::string written = file("model/config.json", config);
    for (const std::string& model : {std::string("model"), (folder() / "model").string(), written})
        expect_problem(fourfold({"recommend", model, "--gpus", "8", "--cluster", "dgx-h100", "--output", written}), 2,
            "is what the command reads, which would be lost");
    EXPECT_EQ(*read_text_file(written), config);
}

// Before anything is measured, which takes a minute.
TEST_F(Problems, OfAPresetThatAMeasurementWouldReplace)
{
    const std::filesystem::path presets = folder() / "config/fourfold/presets/clusters";
    std::filesystem::create_directories(presets);
    const std::string mine = R"({"id": "this-computer", "name": "Mine", "gpu": "cpu", "gpus_per_node": 8,
        "intra_node": {"bandwidth_gb_s": 10}, "inter_node": {"bandwidth_gb_s": 1}})";
    std::ofstream(presets / "this-computer.json") << mine;
    expect_problem(fourfold({"probe", "local", "--measure", "--save-cluster", ""}), 2, "expected a name");
    expect_problem(fourfold({"probe", "local", "--measure"}), 1, "exists and does not come from a measurement");
    EXPECT_EQ(*read_text_file(presets / "this-computer.json"), mine);
}

TEST_F(Problems, OfAFullOutput)
{
    const std::string command
        = "'" FOURFOLD_BIN_DIR "/fourfold' presets models > /dev/full 2> '" + (folder() / "err").string() + "'";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
}

} // namespace
} // namespace fourfold::test
