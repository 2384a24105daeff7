// SPDX-License-Identifier: GPL-3.0-or-later
// The shape of the source tree: what its top level holds, licence lines, file sizes, no path of somebody's computer.
#include "tests/package/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

namespace fourfold {
namespace {

const std::vector<std::string> kCode{".h", ".cpp", ".cu", ".cmake", "CMakeLists.txt", ".sh"};

bool is_data(const std::string& file)
{
    // Formats without comments, texts of others, and what tests feed to a reader as it is.
    static const std::vector<std::string> kEndings{".json", ".jsonl", ".csv", ".png", ".bin", ".zst"};
    for (const std::string& ending : kEndings) {
        if (file.ends_with(ending))
            return true;
    }
    return file == "LICENSE" || file.ends_with(".md") || file.starts_with("resources/corpus/")
        || file.starts_with("tests/fuzz/corpus/") || file.find("/golden/") != std::string::npos
        || file == "packaging/changelog" // Debian's form has no place for it
        || (file.starts_with("resources/reports/") && file.ends_with(".svg"))
        || file.find("/data/") != std::string::npos;
}

TEST(Structure, TopLevelHoldsOnlyWhatTheDesignNames)
{
    const std::set<std::string> allowed{"CMakeLists.txt", "README.md", "SECURITY.md", "LICENSE", "CMakePresets.json",
        "app", "core", "runner", "resources", "presets", "tests", "packaging", ".ci", ".clang-format", ".clang-tidy",
        ".editorconfig", ".gitignore"};
    std::set<std::string> found;
    for (const std::string& file : project_files())
        found.insert(file.substr(0, file.find('/')));
    for (const std::string& entry : found)
        EXPECT_TRUE(allowed.contains(entry)) << entry << " does not belong at the top level";
    for (const std::string& entry : allowed)
        EXPECT_TRUE(found.contains(entry)) << entry << " is missing from the top level";
}

TEST(Structure, EveryFileSaysItsLicence)
{
    for (const std::string& file : project_files()) {
        if (is_data(file))
            continue;
        const auto lines = project_lines(file);
        bool found = false;
        for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 3); ++i)
            found |= lines[i].find("SPDX-License-Identifier: ") != std::string::npos;
        EXPECT_TRUE(found) << file << " lacks the SPDX line at its top";
    }
}

TEST(Structure, FilesStaySmall)
{
    constexpr std::size_t kMost = 500;
    // Longer files with the reason why they are one.
    const std::map<std::string, std::string> allowed{};
    for (const std::string& file : select(project_files(), "", kCode)) {
        const std::size_t lines = project_lines(file).size();
        if (!allowed.contains(file)) {
            EXPECT_LE(lines, kMost) << file << " has " << lines << " lines: has it more than one reason to exist?";
        }
    }
    for (const auto& [file, reason] : allowed)
        EXPECT_GT(project_lines(file).size(), kMost) << file << " no longer needs its exception (" << reason << ")";
}

TEST(Structure, FewFilesSeeTheHeavyTorchHeaders)
{
    // Each such file costs a minute and a gigabyte to compile; the others see <ATen/core/Tensor.h> or single
    // operations.
    std::vector<std::string> heavy;
    for (const std::string& file : select(project_files(), "runner/trainer/", {".h", ".cpp", ".cu"})) {
        for (const std::string& name : includes(file)) {
            EXPECT_NE(name, "torch/torch.h") << file;
            if ((name.starts_with("torch/") && !name.starts_with("torch/headeronly/")) || name == "ATen/ATen.h"
                || name == "ATen/Functions.h") {
                heavy.push_back(file);
                break;
            }
        }
    }
    std::string list;
    for (const std::string& file : heavy)
        list += file + " ";
    // Of them rehearsal/meta_kernels.cpp and cpu_kernels.cpp register operators, autograd/saved_tensors.cpp hooks;
    // autograd/gradients_of.cpp asks for gradients within a recorded layer.
    constexpr std::size_t kMost = 12;
    EXPECT_LE(heavy.size(), kMost) << list;
}

TEST(Structure, NoFileNamesAFolderOfOneComputer)
{
    // Put together here so that this file does not find itself.
    const std::vector<std::string> machine_paths{
        std::string("/ro") + "ot/", std::string("/wo") + "rk/", std::string("/tmp/") + "bash"};
    for (const std::string& file : project_files()) {
        if (file.ends_with(".png") || file.starts_with("resources/corpus/") || file.starts_with("tests/fuzz/corpus/"))
            continue;
        int number = 0;
        for (const std::string& line : project_lines(file)) {
            ++number;
            for (const std::string& path : machine_paths)
                EXPECT_EQ(line.find(path), std::string::npos) << file << ":" << number << " names " << path;
        }
    }
}

TEST(Structure, NothingIsLeftForLater)
{
    const std::vector<std::string> words{std::string("TO") + "DO", std::string("FIX") + "ME",
        std::string("not imple") + "mented", std::string("XX") + "X:"};
    for (const std::string& file :
        select(project_files(), "", {".h", ".cpp", ".cu", ".cmake", ".sh", "CMakeLists.txt", ".md"})) {
        for (const std::string& line : project_lines(file)) {
            for (const std::string& word : words)
                EXPECT_EQ(line.find(word), std::string::npos) << file << ": " << line;
        }
    }
}

// The set-up installs what tests need. What it cannot install is a GPU, the files of ../shared and the rights of root;
// programs with sanitizers and systems without Python 3.11 leave out a test each.
TEST(Structure, TestsSkipOnlyWithoutAGpuSharedFilesOrRights)
{
    static const std::vector<std::string> kReasons{
        "GPU", "kNoGpu", "../shared", "root", "right", "<< why", "a sanitizer's run time", "no Python 3.11"};
    static const std::regex kSkip(R"(^\s*(GTEST_SKIP\(\)|QSKIP\())");
    int found = 0;
    for (const std::string& file : select(project_files(), "tests/", {".h", ".cpp"})) {
        const auto lines = project_lines(file);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (!std::regex_search(lines[i], kSkip))
                continue;
            ++found;
            const std::string text = lines[i] + (i + 1 < lines.size() ? lines[i + 1] : "");
            EXPECT_TRUE(std::any_of(kReasons.begin(), kReasons.end(),
                [&](const std::string& reason) { return text.find(reason) != std::string::npos; }))
                << file << ":" << i + 1 << ": " << lines[i];
        }
    }
    EXPECT_GT(found, 10);
}

TEST(Structure, TheReadmeIsShort)
{
    std::size_t bytes = 0;
    for (const std::string& line : project_lines("README.md"))
        bytes += line.size() + 1;
    EXPECT_GT(bytes, 1000U);
    EXPECT_LE(bytes, 12000U) << "what a reader of the first page can do without belongs into resources/guide";
}

TEST(Structure, ChaptersOfTheGuideHaveTwoDigitsAndATitle)
{
    // The desktop and the command show them in the order of their names.
    static const std::regex kName(R"(resources/guide/[0-9][0-9]-[a-z-]+\.md)");
    std::set<std::string> numbers;
    const std::vector<std::string> chapters = select(project_files(), "resources/guide/", {""});
    for (const std::string& file : chapters) {
        EXPECT_TRUE(std::regex_match(file, kName)) << file;
        EXPECT_TRUE(numbers.insert(file.substr(0, file.find('-'))).second) << file << " has the number of another";
        const auto lines = project_lines(file);
        EXPECT_TRUE(!lines.empty() && lines[0].starts_with("# ")) << file << " has no title";
    }
    const std::vector<std::string> modes{"tour", "plan", "search", "compare", "runs", "history"};
    ASSERT_GE(chapters.size(), modes.size());
    for (std::size_t i = 0; i < modes.size(); ++i)
        EXPECT_TRUE(chapters[i].ends_with("-" + modes[i] + ".md")) << chapters[i];
}

TEST(Structure, LinksLeadToFilesOfTheTree)
{
    static const std::regex kLink(R"(\]\(([^)#:]+)\))");
    const std::vector<std::string> files = project_files();
    const std::set<std::string> known(files.begin(), files.end());
    int found = 0;
    for (const std::string& file : select(files, "", {".md"})) {
        std::string text;
        bool fenced = false; // what looks like a link in there is code
        for (const std::string& line : project_lines(file)) {
            fenced = fenced != line.starts_with("```");
            text += fenced ? "" : line + "\n";
        }
        for (std::sregex_iterator link(text.begin(), text.end(), kLink), end; link != end; ++link, ++found) {
            const std::filesystem::path target
                = (std::filesystem::path(file).parent_path() / (*link)[1].str()).lexically_normal();
            EXPECT_TRUE(known.contains(target.string())) << file << " links to " << target;
            // Of the sources, only the guide itself is installed.
            EXPECT_FALSE(file.starts_with("resources/guide/") && !target.string().starts_with("resources/guide/"))
                << file << " links to " << target;
        }
    }
    EXPECT_GT(found, 20);
}

// What these name between backticks as holding a claim: `Suite.Name`, `Suite.*`, `Name` of the suite before it, a
// program of tests, a slot of a test of the desktop, or a path.
TEST(Structure, TestsThatClaimsNameExist)
{
    static const std::regex kTest(R"(^TEST(?:_F|_P)?\((\w+), (\w+)\))"), kSlot(R"(^    void (\w+)\(\))"),
        kWord("`([^`]+)`"), kProgram(R"(^ *fourfold_test\(([\w-]+))");
    std::set<std::string> known{"package_test.streams"};
    for (const std::string& file : select(project_files(), "tests/", {".cpp", "CMakeLists.txt", "_test.sh"})) {
        const std::string name = std::filesystem::path(file).stem().string();
        known.insert(file.starts_with("tests/gui/") ? "gui." + name : name);
        for (const std::string& line : project_lines(file)) {
            std::smatch match;
            if (std::regex_search(line, match, kTest))
                known.insert({match[1].str() + ".*", match[1].str() + "." + match[2].str()});
            else if (file.starts_with("tests/gui/") && std::regex_search(line, match, kSlot))
                known.insert(match[1]);
            else if (std::regex_search(line, match, kProgram))
                known.insert(match[1]);
        }
    }
    std::vector<std::string> lines = project_lines("SECURITY.md");
    std::ranges::copy(project_lines("resources/reports/ways-back.md"), std::back_inserter(lines));
    int found = 0;
    std::string suite;
    for (const std::string& line : lines) {
        const std::size_t cell = line.starts_with("| ") ? line.rfind(" | ") : std::string::npos;
        if (cell == std::string::npos)
            continue;
        const std::string held = line.substr(cell);
        for (std::sregex_iterator word(held.begin(), held.end(), kWord), end; word != end; ++word, ++found) {
            std::string name = (*word)[1];
            if (name.find('/') != std::string::npos) {
                EXPECT_FALSE(select(project_files(), name, {""}).empty()) << name;
                continue;
            }
            if (const std::size_t dot = name.find('.'); dot != std::string::npos && std::isupper(name[0]))
                suite = name.substr(0, dot);
            else if (std::isupper(name[0]))
                name = suite + "." + name;
            // `quick` and `long` are labels.
            EXPECT_TRUE(known.contains(name) || name == "quick" || name == "long") << name << " is no test";
        }
    }
    EXPECT_GT(found, 80);
}

} // namespace
} // namespace fourfold
