// SPDX-License-Identifier: GPL-3.0-or-later
// What a user may get wrong with the trainer's tools is one clear line, and nothing of theirs is lost.
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/tool.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>

#include <algorithm>

#include <fcntl.h>
#include <sys/file.h>

namespace fourfold::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

// A checkpoint of one step, and what the tools say about it.
class Tools : public ::testing::Test {
protected:
    void SetUp() override
    {
        const auto trained = train(
            tiny_plan(write_tokens(folder.path()), {"run.steps=1", "run.checkpoint.every=1"}), folder.path() / "run");
        ASSERT_EQ(trained.problem, "");
        checkpoint = trained.checkpoints.at(1);
    }
    [[nodiscard]] std::string says(const std::vector<std::string>& arguments, int status = 2) const
    {
        const Output output = tool(folder.path(), arguments);
        EXPECT_EQ(output.status, status) << output.error;
        EXPECT_EQ(std::ranges::count(output.error, '\n'), 1) << output.error;
        return output.error;
    }

    const TemporaryFolder folder;
    fs::path checkpoint;
};

TEST_F(Tools, SayWhatDoesNotFit)
{
    const auto score = [&](const std::string& line) {
        return says({"--score", write_lines(folder.path(), line), "--model", checkpoint});
    };
    EXPECT_THAT(score(R"({"context": [1], "continuation": []})"), HasSubstr("an empty continuation"));
    EXPECT_THAT(score("{\"context\": [1], \"continuation\": [2]}\n\n{\"context\": [1], \"continuation\": [61]}"),
        HasSubstr("lines.jsonl line 3: continuation: expected token ids from 0 to 60, found 61"));
    EXPECT_THAT(score(R"({"context": [], "continuation": [2]})"), HasSubstr("context: is empty"));
    EXPECT_THAT(score(R"({"context": [1], "choices": [[2], [3]], "answer": 2})"), HasSubstr("answer"));
    EXPECT_THAT(score(R"({"context": "a", "continuation": "b"})"), HasSubstr("a text needs a tokenizer"));
    EXPECT_THAT(score("{"), HasSubstr("line 1"));
    EXPECT_THAT(score(""), HasSubstr("has no line to score"));
    EXPECT_THAT(score("{\"context\": [1], \"continuation\": " + Json(std::vector<int>(200, 1)).dump() + "}"),
        HasSubstr("201 tokens with the context, the model has 64 positions"));
    EXPECT_THAT(says({"--generate", Json(std::vector<int>(65, 1)).dump(), "--model", checkpoint}),
        HasSubstr("the prompt has 65 tokens, the model 64 positions"));
    EXPECT_THAT(says({"--generate", "[1]", "--model", checkpoint, "--temperature", "warm"}),
        HasSubstr("--temperature: expected a number"));
    EXPECT_THAT(says({"--generate", "[1]", "--model", checkpoint, "--tokenizer", folder.path() / "none.json"}),
        HasSubstr("none.json"));
    EXPECT_THAT(says({"--generate", "[1]", "--model", checkpoint, "--tokenizer", write_tokenizer(folder.path(), 62)}),
        HasSubstr("has 62 tokens, the model 61"));
    EXPECT_THAT(says({"--generate", "[1]", "--model", folder.path() / "nowhere"}), HasSubstr("nowhere"));
    EXPECT_THAT(says({"--export", checkpoint, "--output", folder.path()}, 2), HasSubstr("is not an empty folder"));
    EXPECT_THAT(
        says({"--export", checkpoint, "--output", folder.path() / "a", "--dtype", "fp8"}), HasSubstr("--dtype"));
    EXPECT_THAT(says({"--export", checkpoint, "--folder", "b"}), HasSubstr("unknown argument \"--folder\""));
    EXPECT_THAT(says({"--export", checkpoint, "--output", "b", "--output", "c"}), HasSubstr("--output is given twice"));

    // Of another model, and torn.
    Json config = *read_json_file(checkpoint / "config.json");
    const fs::path other = folder.path() / "other";
    fs::create_directories(other);
    for (const auto& entry : fs::directory_iterator(checkpoint))
        if (entry.path().filename().string().starts_with("model"))
            fs::copy(entry.path(), other);
    config["intermediate_size"] = 64;
    std::ofstream(other / "config.json") << config;
    EXPECT_THAT(says({"--export", other, "--output", folder.path() / "b"}), HasSubstr("needs [64, 32]"));
    EXPECT_FALSE(fs::exists(folder.path() / "b"));
    EXPECT_FALSE(fs::exists(folder.path() / "b.partial"));
    for (const auto& entry : fs::directory_iterator(checkpoint))
        if (entry.path().filename().string().starts_with("model-0"))
            fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
    EXPECT_THAT(says({"--score", write_lines(folder.path(), kLines), "--model", checkpoint}, 2), HasSubstr("model-0"));
}

// A save does not replace a step's folder that holds anything else.
TEST_F(Tools, PutNoModelIntoACheckpoint)
{
    const fs::path steps = checkpoint.parent_path();
    for (const fs::path& output : {checkpoint / "hf", checkpoint / "a/b/", steps / "step-00000002/hf"})
        EXPECT_THAT(says({"--export", checkpoint, "--output", output}),
            AllOf(HasSubstr("lies in a checkpoint"), HasSubstr("name an --output outside")));
    for (const char* name : {"step-00000002", "step-00000002/", "step-00000002.partial", "step-00000002.kept"})
        EXPECT_THAT(says({"--export", steps, "--output", steps / name}), HasSubstr("is the name of a checkpoint"));
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(steps))
        left.push_back(entry.path().filename().string());
    EXPECT_THAT(left, ::testing::UnorderedElementsAre(checkpoint.filename().string(), ".fourfold-lock"));
    EXPECT_FALSE(fs::exists(checkpoint / "hf") || fs::exists(checkpoint / "a"));
    // Beside the steps there is room.
    const fs::path model = steps / "hf";
    ASSERT_EQ(tool(folder.path(), {"--export", steps, "--output=" + model.string()}).status, 0);
    EXPECT_THAT(says({"--export", model, "--output", model / "bf16", "--dtype", "bf16"}),
        HasSubstr("lies in the folder that is exported"));
}

TEST_F(Tools, NameTheirOwnOptions)
{
    const std::string nowhere = folder.path() / "nowhere";
    const auto no_plan
        = Not(::testing::AnyOf(HasSubstr("run.checkpoint"), HasSubstr("the plan"), HasSubstr("training.")));
    EXPECT_THAT(
        says({"--export", nowhere, "--output", folder.path() / "a"}), AllOf(HasSubstr("--export " + nowhere), no_plan));
    EXPECT_THAT(says({"--generate", "[1]", "--model", nowhere}), AllOf(HasSubstr("--model " + nowhere), no_plan));
    const std::string few = folder.path() / "few.bin";
    std::ofstream(few, std::ios::binary) << std::string("\1\0\2\0\3\0", 6);
    EXPECT_THAT(says({"--score", few, "--model", checkpoint, "--seq-len", "16"}),
        AllOf(HasSubstr("--score " + few + ": holds 3 tokens"), HasSubstr("a smaller --seq-len"), no_plan));
}

TEST_F(Tools, DoNotRepeatALongValue)
{
    const std::string long_name(20'000, 'x');
    using Arguments = std::vector<std::string>;
    for (const auto& [arguments, status] :
        {std::pair(Arguments{"--export", long_name, "--output", folder.path() / "a"}, 2),
            {{"--export", checkpoint, "--output", long_name}, 1}, // the system's own refusal
            {{"--score", long_name, "--model", checkpoint}, 2}, {{"--generate", "[1]", "--model", long_name}, 2},
            {{"--generate", long_name, "--model", checkpoint}, 2},
            {{"--export", checkpoint, "--output", folder.path() / "a", "--tokenizer", long_name}, 2}}) {
        const std::string said = says(arguments, status);
        EXPECT_THAT(said, Not(::testing::IsEmpty()));
        EXPECT_LT(said.size(), 1500U) << arguments[0] << ": " << said.substr(0, 300);
    }
}

// What another export writes is left alone; what one left that was killed is no reason to stop; the rest is somebody's.
TEST_F(Tools, ASecondExportTakesNothingFromTheFirst)
{
    const fs::path output = folder.path() / "model", partial = folder.path() / "model.partial";
    fs::create_directory(partial);
    std::ofstream(partial / "model-00001-of-00009.safetensors") << "half";
    const int first = ::open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(first, LOCK_EX | LOCK_NB), 0);
    EXPECT_THAT(says({"--export", checkpoint, "--output", output}, 1),
        AllOf(HasSubstr("another export writes it"), HasSubstr("name another --output")));
    EXPECT_EQ(contents(partial / "model-00001-of-00009.safetensors"), "half");
    ::close(first);
    std::ofstream(partial / "thesis.tex") << "mine";
    EXPECT_THAT(says({"--export", checkpoint, "--output", output}, 1), HasSubstr("name another --output"));
    EXPECT_EQ(contents(partial / "thesis.tex"), "mine");
    EXPECT_EQ(contents(partial / "model-00001-of-00009.safetensors"), "half");
    fs::remove(partial / "thesis.tex");
    const Output done = tool(folder.path(), {"--export", checkpoint, "--output", output});
    ASSERT_EQ(done.status, 0) << done.error;
    EXPECT_FALSE(fs::exists(partial));
    EXPECT_FALSE(fs::exists(output / "model-00001-of-00009.safetensors"));
    EXPECT_THAT(says({"--export", checkpoint, "--output", output}),
        AllOf(HasSubstr("is not an empty folder"), HasSubstr("name another --output, or remove it")));
    // The same where an empty folder was being filled.
    fs::create_directories(folder.path() / "disk/model.partial");
    std::ofstream(folder.path() / "disk/model.partial/config.json") << "{";
    EXPECT_EQ(tool(folder.path(), {"--export", checkpoint, "--output", folder.path() / "disk"}).status, 0);
    EXPECT_FALSE(fs::exists(folder.path() / "disk/model.partial"));
}

// Passed over they would leave a user with something else than was meant.
TEST_F(Tools, PassNoOptionOver)
{
    const std::string model = checkpoint, lines = write_lines(folder.path(), kLines);
    for (const char* option : {"--top-k", "--top-p", "--seed"})
        EXPECT_THAT(says({"--generate", "[1]", "--model", model, option, "1"}),
            AllOf(
                HasSubstr(std::string(option) + ": has no effect at --temperature 0"), HasSubstr("add --temperature")));
    EXPECT_THAT(says({"--score", lines, "--model", model, "--seq-len", "8"}), HasSubstr("--seq-len: is of windows"));
    EXPECT_THAT(says({"--score", lines, "--model", ""}), HasSubstr("--model: found nothing"));
    EXPECT_THAT(says({"--export", model, "--output", ""}), HasSubstr("--output: found nothing"));
    EXPECT_THAT(says({"--score", lines, "--model=" + model, "--tokenizer="}), HasSubstr("--tokenizer: found nothing"));
    EXPECT_THAT(says({"--rehearse"}), HasSubstr("no value after --rehearse"));
    EXPECT_THAT(says({"--rehearse", "p.json", "--expert-imbalance"}), HasSubstr("no value after --expert-imbalance"));
    EXPECT_THAT(says({"--rehearse", "p.json", "--expert-imbalance", "inf"}), HasSubstr("expected a share"));
    EXPECT_THAT(says({"export", model}), AllOf(HasSubstr("unknown argument \"export\""), HasSubstr("--help")));
    EXPECT_THAT(says({"--model", folder.path() / "nowhere", "--generate", "[1]"}), HasSubstr("--model "))
        << "any order";
    EXPECT_THAT(says({"--model", model, "--plan", "x"}), HasSubstr("unknown argument"));
    const Output help = tool(folder.path(), {"--score", "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("--seq-len N"));
}

} // namespace
} // namespace fourfold::testing
