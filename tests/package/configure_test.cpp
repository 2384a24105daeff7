// SPDX-License-Identifier: GPL-3.0-or-later
// What CMake says to a wrong LibTorch, and that the planner needs none.
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace fourfold {
namespace {

const std::filesystem::path kCheckout = FOURFOLD_SOURCE_DIR;

// Runs the checks of packaging/cmake/FourfoldTorch.cmake alone, which end before any target is made when they fail.
CommandResult check_libtorch(const std::string& libtorch)
{
    return shell("env -u FOURFOLD_LIBTORCH " FOURFOLD_CMAKE " -DFOURFOLD_LIBTORCH=" + shell_word(libtorch) + " -P "
        + shell_word(kCheckout / "packaging/cmake/FourfoldTorch.cmake"));
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
    const CommandResult result = shell("env -u FOURFOLD_LIBTORCH " FOURFOLD_CMAKE " -G Ninja -S "
        + shell_word(kCheckout) + " -B " + shell_word(scratch.path() / "build")
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
    const CommandResult result = shell("cd " + shell_word(kCheckout)
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

// The list of packaging/cmake/FourfoldVersions.cmake: library, oldest version, reason.
struct Oldest {
    std::string library, version, why;
};
std::vector<Oldest> oldest_versions()
{
    std::vector<Oldest> out;
    for (const std::string& line : project_lines("packaging/cmake/FourfoldVersions.cmake")) {
        const std::size_t begin = line.find('"'), first = line.find('|'), second = line.find('|', first + 1);
        if (line.starts_with("    \"") && second != std::string::npos)
            out.push_back({line.substr(begin + 1, first - begin - 1), line.substr(first + 1, second - first - 1),
                line.substr(second + 1, line.rfind('"') - second - 1)});
    }
    return out;
}

// What CMake says when it finds this version of a library.
CommandResult check_version(const std::string& library, const std::string& version)
{
    const ScratchFolder scratch;
    std::ofstream(scratch.path() / "check.cmake")
        << "include([[" << (kCheckout / "packaging/cmake/FourfoldVersions.cmake").string() << "]])\nfourfold_not_below("
        << library << " \"" << version << "\")\n";
    return shell(FOURFOLD_CMAKE " -P " + shell_word(scratch.path() / "check.cmake"));
}

TEST(Configure, ALibraryThatIsTooOldIsRefusedWithTheReason)
{
    const auto list = oldest_versions();
    ASSERT_GE(list.size(), 10u);
    for (const Oldest& one : list) {
        EXPECT_FALSE(one.why.empty()) << one.library;
        for (const std::string& good : {one.version, one.version + ".1", std::string("99.0")}) {
            const CommandResult fine = check_version(one.library, good);
            EXPECT_EQ(fine.status, 0) << one.library << " " << good << ": " << fine.output;
        }
        for (const char* old : {"0.0.9", ""}) {
            const CommandResult result = check_version(one.library, old);
            EXPECT_NE(result.status, 0) << one.library;
            const std::string text = one_line(result.output);
            EXPECT_NE(text.find(one.library + " " + old), std::string::npos) << text;
            EXPECT_NE(text.find("needs " + one.version + " or newer (" + one.why + ")"), std::string::npos) << text;
        }
    }
    EXPECT_NE(check_version("libssh", "0.10.5").status, 0) << "CVE-2023-6004";
    EXPECT_NE(check_version("libother", "9").status, 0) << "what is not in the list was never thought about";
}

// As a computer with libssh 0.10.5 would answer.
TEST(Configure, TheWholeProjectStopsAtAnOldLibssh)
{
    const ScratchFolder scratch;
    std::ofstream(scratch.path() / "libssh.pc")
        << "Name: libssh\nDescription: SSH\nVersion: 0.10.5\nLibs: -lssh\nCflags:\n";
    const CommandResult result
        = shell("cd " + shell_word(kCheckout) + " && PKG_CONFIG_PATH=" + shell_word(scratch.path())
            + " " FOURFOLD_CMAKE " --preset planner -DFOURFOLD_TESTS=OFF -DFOURFOLD_DESKTOP=OFF -B "
            + shell_word(scratch.path() / "build"));
    EXPECT_NE(result.status, 0);
    const std::string text = one_line(result.output);
    EXPECT_NE(text.find("libssh 0.10.5 is too old: Fourfold needs 0.10.6 or newer (CVE-2023-6004"), std::string::npos)
        << text;
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "build/build.ninja"));
}

// Every library is found through the list; what has no version of its own, or another place for it, is named here.
TEST(Configure, EveryLibraryIsInTheList)
{
    const std::set<std::string> others{"PkgConfig", "Threads", "Ceres"};
    int found = 0;
    for (const std::string& file : select(project_files(), "", {"CMakeLists.txt", ".cmake"})) {
        if (file.ends_with("FourfoldVersions.cmake"))
            continue;
        for (std::string line : project_lines(file)) {
            line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
            found += line.starts_with("fourfold_find_") ? 1 : 0;
            EXPECT_FALSE(line.starts_with("pkg_check_modules(")) << file << ": " << line;
            if (!line.starts_with("find_package("))
                continue;
            const std::string library = line.substr(13, line.find_first_of(" )") - 13);
            EXPECT_TRUE(others.contains(library)) << file << ": " << line;
        }
    }
    EXPECT_GE(found, 10);
}

} // namespace
} // namespace fourfold
