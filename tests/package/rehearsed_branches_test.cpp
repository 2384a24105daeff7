// SPDX-License-Identifier: GPL-3.0-or-later
// The trainer's README lists every place where its code asks what it runs on, and which way a rehearsal goes there. A
// new one is listed, or this fails.
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>

namespace fourfold {
namespace {

// Lines that ask, or name one of the devices. What is only compiled for GPUs (device/) and the rehearsal itself are not
// looked at.
std::map<std::string, int> places_in_the_code()
{
    static const std::regex kAsks(
        R"(is_cuda\(\)|is_cpu\(\)|on_cpu\(|is_meta\(\)|\bkCUDA\b|\bcuda\b|\.rehearsal\b|\bnccl\b"|_gpu\b\(|_gpu\))");
    const std::string root = "runner/trainer/";
    std::map<std::string, int> found;
    for (const std::string& file : select(project_files(), root, {".cpp", ".cu"})) {
        if (file.starts_with(root + "rehearsal/") || file.starts_with(root + "device/"))
            continue;
        for (const std::string& line : project_lines(file)) {
            const std::string code = line.substr(0, line.find("//"));
            if (!code.starts_with("#include") && std::regex_search(code, kAsks))
                ++found[file.substr(root.size())];
        }
    }
    return found;
}

std::map<std::string, int> places_in_the_list()
{
    static const std::regex kRow(R"(^\| `([^`]+)` \| (\d+) \| [^|]+ \|$)");
    std::map<std::string, int> listed;
    for (const std::string& line : project_lines("runner/trainer/README.md"))
        if (std::smatch parts; std::regex_match(line, parts, kRow))
            listed[parts[1]] = std::stoi(parts[2]);
    return listed;
}

TEST(RehearsedBranches, AreAllListed)
{
    const auto code = places_in_the_code(), list = places_in_the_list();
    EXPECT_GT(code.size(), 10U);
    for (const auto& [file, places] : code) {
        const auto row = list.find(file);
        EXPECT_TRUE(row != list.end() && row->second == places)
            << file << " asks in " << places << " lines what it runs on; \"What a rehearsal does not run\" in "
            << "runner/trainer/README.md has " << (row == list.end() ? 0 : row->second);
    }
    for (const auto& [file, places] : list)
        EXPECT_TRUE(code.contains(file)) << file << " no longer asks what it runs on";
}

} // namespace
} // namespace fourfold
