// SPDX-License-Identifier: GPL-3.0-or-later
// Two terminals of one person, and what else stands where a terminal keeps its own.
#include "app/view/project/project.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

#include <sys/stat.h>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TuiBeside : public Tui {
protected:
    void SetUp() override
    {
        Tui::SetUp();
        std::ofstream(other()) << kPlan;
    }
    [[nodiscard]] std::filesystem::path other() const { return folder_ / "q.plan.json"; }
    [[nodiscard]] static std::vector<std::string> of(const std::filesystem::path& plan)
    {
        return {FOURFOLD_FIXED_PLANNER, plan.string()};
    }
    static void find(TerminalProgram& program, const std::string& words)
    {
        program.type("\x0b");
        ASSERT_TRUE(program.shows("Find")) << program.grid().text();
        program.type(words + "\r");
    }
    static void note(TerminalProgram& program, const std::string& words)
    {
        find(program, "notes of this");
        ASSERT_TRUE(program.shows("A new line...")) << program.grid().text();
        program.type("new\r" + words + "\r");
    }
};

// A terminal that ends leaves what another one has not saved.
TEST_F(TuiBeside, WhatASecondTerminalKeepsTakesNothingFromTheFirst)
{
    TerminalProgram first(of(plan()), options(24, 120));
    ASSERT_TRUE(first.shows("p.plan.json")) << first.grid().text();
    TerminalProgram second(of(other()), options(24, 120));
    ASSERT_TRUE(second.shows("q.plan.json")) << second.grid().text();
    first.type("jjjjj+");
    ASSERT_TRUE(first.shows("*p.plan.json")) << first.grid().text();
    first.hang_up();
    EXPECT_EQ(first.wait(), 0);
    second.type("q");
    EXPECT_EQ(second.wait(), 0);
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(24, 120));
    EXPECT_TRUE(again.shows("*p.plan.json")) << again.grid().text();
}

TEST_F(TuiBeside, UnsavedChangesOfBothAreThereAtTheNextStart)
{
    {
        TerminalProgram first(of(plan()), options(24, 120));
        ASSERT_TRUE(first.shows("p.plan.json")) << first.grid().text();
        TerminalProgram second(of(other()), options(24, 120));
        ASSERT_TRUE(second.shows("q.plan.json")) << second.grid().text();
        EXPECT_THAT(second.grid().text(), Not(HasSubstr("*")));
        for (TerminalProgram* program : {&first, &second}) {
            program->type("jjjjj+");
            ASSERT_TRUE(program->shows("Tensor (TP)    4")) << program->grid().text();
        }
        first.hang_up();
        EXPECT_EQ(first.wait(), 0);
        second.hang_up();
        EXPECT_EQ(second.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(24, 120));
    ASSERT_TRUE(again.shows("*p.plan.json")) << again.grid().text();
    again.type("}");
    EXPECT_TRUE(again.shows("*q.plan.json")) << again.grid().text();
    again.type("qdd");
    EXPECT_EQ(again.wait(), 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "data/fourfold/tui-2.json")) << "they are in one file again";
}

// Somebody else's, or grown beyond what is read: it is no file that went, and nothing is written over it.
TEST_F(TuiBeside, AProjectsFileThatCannotBeReadStays)
{
    const std::filesystem::path project = folder_ / "ours", file = project / view::kProjectFile;
    std::filesystem::create_directories(project);
    std::ofstream(project / "a.plan.json") << kPlan;
    std::ofstream(file) << R"({"fourfold_project": 1, "plans": ["a.plan.json"]})";
    TerminalProgram program(of(project), options(24, 120));
    ASSERT_TRUE(program.shows("a.plan.json - ours")) << program.grid().text();
    std::ofstream(file) << std::string(20U << 20, ' ') << "{}";
    EXPECT_TRUE(program.shows("is larger than")) << program.grid().text();
    note(program, "Mine");
    program.settle();
    EXPECT_GT(std::filesystem::file_size(file), 20U << 20);
}

TEST_F(TuiBeside, APipeInTheProjectsPlaceIsNotWaitedFor)
{
    const std::filesystem::path project = folder_ / "ours", file = project / view::kProjectFile;
    std::filesystem::create_directories(project);
    std::ofstream(project / "a.plan.json") << kPlan;
    TerminalProgram program(of(project), options(24, 120));
    ASSERT_TRUE(program.shows("a.plan.json - ours")) << program.grid().text();
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    note(program, "Mine");
    EXPECT_TRUE(program.shows("is a pipe, expected a file")) << program.grid().text();
    program.type("\033");
    ASSERT_TRUE(program.hides("Notes of ours")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0) << program.grid().text();
}

// SECURITY.md: text of others turns no writing round.
TEST_F(TuiBeside, ANameThatTurnsTheWritingIsShownWithoutIt)
{
    const std::filesystem::path project = folder_ / "theirs";
    std::filesystem::create_directories(project);
    std::ofstream(project / "a.plan.json") << kPlan;
    std::ofstream(project / view::kProjectFile)
        << "{\"fourfold_project\": 1, \"name\": \"N\\u202eevil\\u001b[31m\", \"plans\": [\"a.plan.json\"]}";
    TerminalProgram program(of(project), options(24, 120));
    ASSERT_TRUE(program.shows("a.plan.json - N")) << program.grid().text();
    EXPECT_THAT(program.bytes(), Not(HasSubstr("\u202e")));
    EXPECT_THAT(program.grid().text(), HasSubstr("N\uFFFDevil\uFFFD[31m"));
}

} // namespace
} // namespace fourfold::test
