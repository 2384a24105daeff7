// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold guide`: chapters in a list, by number and by words; Markdown in a pipe, wrapped text on a terminal.
#include "tests/cli/program.h"

#include "core/report/table/table.h"

#include <algorithm>
#include <pty.h>
#include <regex>
#include <sys/wait.h>
#include <unistd.h>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Guide : public ProgramTest {
protected:
    static std::vector<std::filesystem::path> files()
    {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(FOURFOLD_SOURCE_DIR "/resources/guide"))
            files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        return files;
    }
    // What it prints on a terminal of `columns`.
    static std::string on_a_terminal(const std::string& chapter, unsigned short columns, const char* pager)
    {
        winsize size{24, columns, 0, 0};
        int terminal = -1;
        const pid_t process = forkpty(&terminal, nullptr, nullptr, &size);
        if (process == 0) {
            setenv("PAGER", pager, 1);
            execl(FOURFOLD_BIN_DIR "/fourfold", "fourfold", "guide", chapter.c_str(), nullptr);
            _exit(127);
        }
        std::string shown;
        char block[4096];
        for (ssize_t got = 0; (got = read(terminal, block, sizeof block)) > 0;)
            shown.append(block, static_cast<std::size_t>(got));
        int status = 0;
        EXPECT_EQ(waitpid(process, &status, 0), process);
        EXPECT_EQ(status, 0) << shown;
        close(terminal);
        shown.erase(std::remove(shown.begin(), shown.end(), '\r'), shown.end());
        return shown;
    }
};

TEST_F(Guide, ListsItsChaptersAndPrintsOne)
{
    const std::vector<std::string> list = lines_of(fourfold({"guide"}).out);
    ASSERT_EQ(list.size(), files().size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Expected<std::string> read = read_text_file(files()[i]);
        ASSERT_TRUE(read) << files()[i];
        const std::string text = *read, title = text.substr(2, text.find('\n') - 2);
        const std::string number = std::to_string(i + 1);
        EXPECT_EQ(list[i], (i < 9 ? " " : "") + number + "  " + title);
        EXPECT_EQ(fourfold({"guide", number}).out, text);
        EXPECT_EQ(fourfold({"guide", title}).out, text);
    }
    EXPECT_THAT(fourfold({"guide", "Search"}).out, HasSubstr("# Search\n"));
    EXPECT_THAT(fourfold({"guide", "calib"}).out, HasSubstr("# Calibrate\n"));
    EXPECT_THAT(fourfold({"guide", "command", "line"}).out, HasSubstr("# The same from the command line\n"));
}

TEST_F(Guide, NamesTheNearestOfAnUnknownChapter)
{
    expect_problem(fourfold({"guide", "serach"}), 2, "did you mean 3 Search");
    expect_problem(fourfold({"guide", "99"}), 2, "is not a chapter of the guide");
    expect_problem(fourfold({"guide", "the"}), 2, "means several chapters");
    expect_problem(fourfold({"guide", "-1"}), 2, "is not a chapter of the guide");
}

// Somebody who looks for a subject does not know which chapter has it.
TEST_F(Guide, SaysWhichChaptersTellOfSomething)
{
    const auto lines_with = [&](const std::string& number, const std::string& word) {
        const std::regex begins("(^|[^a-z0-9])" + word, std::regex::icase);
        const auto lines = lines_of(fourfold({"guide", number}).out);
        return std::ranges::count_if(lines, [&](const std::string& line) { return std::regex_search(line, begins); });
    };
    const auto answer = fourfold({"guide", "apptainer"});
    expect_problem(answer, 2, "is not a chapter of the guide (it is told in ");
    // As many lines as there are, in the chapter that is named first.
    const auto from = answer.err.find("told in ") + 8;
    const std::string number = answer.err.substr(from, answer.err.find(' ', from) - from);
    EXPECT_THAT(answer.err, HasSubstr(" (" + std::to_string(lines_with(number, "apptainer")) + " line"));
    // The short words of a question do not count, and all the others do.
    expect_problem(fourfold({"guide", "how", "do", "i", "resume"}), 2, "it is told in ");
    expect_problem(fourfold({"guide", "apptainer", "waldmeister"}), 2, "`fourfold guide` lists them");
}

TEST_F(Guide, IsWrappedToTheTerminal)
{
    for (const auto& file : files()) {
        const std::string number = file.filename().string().substr(0, 2);
        const std::string text = on_a_terminal(number, 60, "");
        EXPECT_THAT(text, Not(HasSubstr("```"))) << file;
        EXPECT_THAT(text, Not(HasSubstr("| ---"))) << file;
        for (const std::string& line : lines_of(text)) {
            // Commands and drawings keep their lines, and a word that is longer than the terminal its own.
            const std::size_t words = line.find_first_not_of(' ');
            if (line.starts_with("    "))
                continue;
            EXPECT_EQ(line.find("**"), std::string::npos) << file << ": " << line;
            if (display_width(line) > 60) {
                EXPECT_EQ(line.find(' ', words), std::string::npos) << file << ": " << line;
            }
        }
    }
    EXPECT_THAT(on_a_terminal("plan", 70, ""), HasSubstr("Plan\n====\n"));
}

TEST_F(Guide, GoesThroughThePager)
{
    EXPECT_THAT(on_a_terminal("plan", 70, "sed 's/^/> /'"), HasSubstr("> Plan\n> ====\n"));
    EXPECT_THAT(on_a_terminal("plan", 70, "no-such-pager"), HasSubstr("\nPlan\n====\n"));
    EXPECT_THAT(on_a_terminal("plan", 70, " "), HasSubstr("Plan\n====\n")) << "a pager of blanks is none";
}

} // namespace
} // namespace fourfold::test
