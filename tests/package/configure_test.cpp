// SPDX-License-Identifier: GPL-3.0-or-later
// What CMake says to a wrong LibTorch, and that the planner needs none.
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fourfold {
namespace {

const std::filesystem::path kRoot = FOURFOLD_SOURCE_DIR;

// Runs the checks of packaging/cmake/FourfoldTorch.cmake alone, which end before any target is made when they fail.
CommandResult check_libtorch(const std::string& libtorch)
{
    return shell("env -u FOURFOLD_LIBTORCH " FOURFOLD_CMAKE " -DFOURFOLD_LIBTORCH=" + shell_word(libtorch) + " -P "
        + shell_word(kRoot / "packaging/cmake/FourfoldTorch.cmake"));
}

// CMake wraps long messages.
std::string one_line(const std::string& text)
{
    std::string line;
    for (const char c : text) {
        if (c != '\n' && c != ' ')
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    return line;
}

TEST(Configure, WithAnEmptyLibTorchFolderTheWholeProjectStopsWithOneClearMessage)
{
    const ScratchFolder scratch;
    const std::filesystem::path libtorch = scratch.path() / "empty";
    std::filesystem::create_directory(libtorch);
    const CommandResult result = shell("env -u FOURFOLD_LIBTORCH " FOURFOLD_CMAKE " -G Ninja -S " + shell_word(kRoot)
        + " -B " + shell_word(scratch.path() / "build")
        + " -DFOURFOLD_TESTS=OFF -DFOURFOLD_DESKTOP=OFF -DFOURFOLD_LIBTORCH=" + shell_word(libtorch));
    EXPECT_NE(result.status, 0);
    EXPECT_NE(one_line(result.output).find("holds no LibTorch 2.11.0"), std::string::npos) << result.output;
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "build/build.ninja"));
}

TEST(Configure, WithoutALibTorchFolderTheMessageSaysWhatToDo)
{
    const CommandResult result = check_libtorch("");
    EXPECT_NE(result.status, 0);
    const std::string text = one_line(result.output);
    EXPECT_NE(text.find("FOURFOLD_LIBTORCH is not set"), std::string::npos) << text;
    EXPECT_NE(text.find("packaging/run.sh"), std::string::npos) << text;
    EXPECT_NE(text.find("FOURFOLD_TRAINER=OFF"), std::string::npos) << text;
}

TEST(Configure, AnotherVersionOfLibTorchIsNamed)
{
    const ScratchFolder scratch;
    const std::filesystem::path headers = scratch.path() / "include/torch/headeronly";
    std::filesystem::create_directories(headers);
    std::ofstream(headers / "version.h") << "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 9\n"
                                            "#define TORCH_VERSION_PATCH 1\n";
    const CommandResult result = check_libtorch(scratch.path());
    EXPECT_NE(result.status, 0);
    const std::string text = one_line(result.output);
    EXPECT_NE(text.find("is LibTorch 2.9.1"), std::string::npos) << text;
    EXPECT_NE(text.find("2.11.0"), std::string::npos) << text;
}

TEST(Configure, AnUnfinishedLibTorchIsNamed)
{
    const ScratchFolder scratch;
    const std::filesystem::path headers = scratch.path() / "include/torch/headeronly";
    std::filesystem::create_directories(headers);
    std::ofstream(headers / "version.h") << "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 11\n"
                                            "#define TORCH_VERSION_PATCH 0\n";
    const CommandResult result = check_libtorch(scratch.path());
    EXPECT_NE(result.status, 0);
    EXPECT_NE(one_line(result.output).find("libtorch_cpu.so"), std::string::npos) << result.output;
}

TEST(Configure, ThePlannerAloneNeedsNoLibTorch)
{
    const ScratchFolder scratch;
    const CommandResult result = shell("cd " + shell_word(kRoot)
        + " && env -u FOURFOLD_LIBTORCH " FOURFOLD_CMAKE
          " --preset planner -DFOURFOLD_TESTS=OFF -DFOURFOLD_DESKTOP=OFF -B "
        + shell_word(scratch.path()));
    EXPECT_EQ(result.status, 0) << result.output;
    std::ifstream stream(scratch.path() / "build.ninja");
    ASSERT_TRUE(stream) << result.output;
    bool programs = false;
    for (std::string line; std::getline(stream, line);) {
        programs |= line.find("bin/fourfold:") != std::string::npos;
        EXPECT_EQ(line.find("libtorch_cpu"), std::string::npos) << line;
        EXPECT_EQ(line.find("fourfold-trainer"), std::string::npos) << line;
    }
    EXPECT_TRUE(programs) << "the build makes bin/fourfold";
}

} // namespace
} // namespace fourfold
