// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "support.h"

#include <unistd.h>

namespace fourfold::test {
namespace {

class PresetFolders : public testing::Test {
protected:
    PresetFolders()
        : root_(std::filesystem::temp_directory_path() / ("fourfold-presets-" + std::to_string(::getpid())))
    {
        std::filesystem::remove_all(root_);
        for (const char* kind : {"gpus", "plans", "clusters", "models"})
            std::filesystem::create_directories(root_ / kind);
    }
    ~PresetFolders() override { std::filesystem::remove_all(root_); }
    void write(const std::string& file, const std::string& text)
    {
        const auto written = write_file_atomically(root_ / file, text);
        ASSERT_TRUE(written) << written.error().line();
    }
    std::filesystem::path root_;
};

TEST_F(PresetFolders, FirstFolderWins)
{
    write("gpus/modern.json",
        R"({"name": "Mine", "memory_gib": 1, "memory_bandwidth_gb_s": 1, "peak_tflops": {"bf16": 1}})");
    const Presets own({root_, FOURFOLD_TEST_DATA "/presets"});
    EXPECT_EQ(must(own.gpu("modern")).name, "Mine");
    EXPECT_EQ(must(own.gpu("modern")).id, "modern");
    EXPECT_EQ(must(own.cluster("modern")).gpu.name, "Mine");
    EXPECT_EQ(must(own.gpu("old")).name, "Old GPU");
    EXPECT_EQ(own.ids("gpus"), (std::vector<std::string>{"cpu", "middle", "modern", "old"}));
}

TEST_F(PresetFolders, PlansCarryTheirDoubleEnding)
{
    write("plans/a.plan.json", "{}");
    write("plans/b.json", "{}");
    write("plans/.hidden.plan.json", "{}");
    write("plans/readme.md", "x");
    const Presets own({root_});
    EXPECT_EQ(own.ids("plans"), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(must(own.file("plans", "a")).filename(), "a.plan.json");
    EXPECT_EQ(must(own.file("plans", "b")).filename(), "b.json");
}

TEST_F(PresetFolders, BrokenFilesAreNamed)
{
    write("gpus/broken.json", "{\"name\": }");
    write("clusters/nogpu.json", "{}");
    const Presets own({root_});
    EXPECT_NE(own.gpu("broken").error().line().find("broken.json: not valid JSON"), std::string::npos);
    EXPECT_NE(own.cluster("nogpu").error().line().find("nogpu.json: gpu: missing"), std::string::npos);
    EXPECT_NE(own.model("x").error().hint.find("FOURFOLD_PRESETS"), std::string::npos);
    write("clusters/lost.json", R"({"gpu": "none"})");
    EXPECT_NE(own.cluster("lost").error().line().find("lost.json: gpu: there is no gpu preset"), std::string::npos)
        << own.cluster("lost").error().line();
}

// Of dozens the few that are near are named, and how to see all: never a screenful.
TEST_F(PresetFolders, AnUnknownIdIsAnsweredInOneLine)
{
    for (int i = 0; i < 40; ++i)
        write("models/llama-" + std::to_string(i) + "b.json", "{}");
    const Presets own({root_});
    EXPECT_EQ(own.model("zebra").error().line(),
        "there is no model preset \"zebra\" (`fourfold presets models` lists all 40)");
    EXPECT_EQ(own.model("llama").error().line(),
        "there is no model preset \"llama\" (did you mean llama-0b or llama-10b or llama-11b? `fourfold presets "
        "models` "
        "lists all 40)");
    for (const char* kind : {"models", "clusters", "stacks", "gpus", "plans", "recipes"})
        EXPECT_LT(Presets().file(kind, "zzqq").error().line().size(), 160U) << kind;
}

// What lies in a preset's place is said; a shipped one of the same name is found all the same.
TEST_F(PresetFolders, OnlyFilesArePresets)
{
    std::filesystem::create_directory(root_ / "gpus/folder.json");
    std::filesystem::create_symlink("nowhere", root_ / "gpus/link.json");
    std::filesystem::create_directory(root_ / "gpus/old.json");
    const Presets own({root_, FOURFOLD_TEST_DATA "/presets"});
    EXPECT_EQ(
        own.gpu("folder").error().line(), (root_ / "gpus/folder.json").string() + ": is a folder, expected a file");
    EXPECT_EQ(own.gpu("link").error().line(), (root_ / "gpus/link.json").string() + ": is a link that leads nowhere");
    EXPECT_EQ(must(own.gpu("old")).name, "Old GPU");
}

TEST(PresetIds, AStackMayNameARelease)
{
    const Presets shipped({FOURFOLD_TEST_DATA "/presets"});
    const Stack stack = must(shipped.stack("megatron-lm@v0.9"));
    EXPECT_EQ(stack.id, "megatron-lm");
    EXPECT_EQ(stack.release, "0.9");
    EXPECT_EQ(must(shipped.stack("megatron-lm")).release, "");
    for (const char* written : {"megatron-lm@", "megatron-lm@a b", "megatron-lm@0.9@1"}) {
        const auto refused = shipped.stack(written);
        ASSERT_FALSE(refused) << written;
        EXPECT_NE(refused.error().line().find("behind the @, expected a release"), std::string::npos);
    }
    EXPECT_FALSE(shipped.stack("megatron-ml@0.9"));
    const auto choices = shipped.stack_choices();
    EXPECT_EQ(choices,
        (std::vector<std::string>{
            "generic", "megatron-deepspeed", "megatron-lm", "megatron-lm@0.8", "megatron-lm@0.9", "nanotron"}));
}

TEST(PresetIds, AreNoPaths)
{
    for (const char* id : {"", ".", "..", "../models/small", "/etc/passwd", ".hidden"})
        EXPECT_EQ(presets().model(id).error().code, ProblemCode::not_found) << id;
    EXPECT_EQ(presets().model(std::string("a\0b", 3)).error().code, ProblemCode::not_found);
    EXPECT_EQ(presets().model(std::string(100000, 'a')).error().code, ProblemCode::not_found);
}

} // namespace
} // namespace fourfold::test
