// SPDX-License-Identifier: GPL-3.0-or-later
// A project in a terminal: its plans, comparisons, views and notes, in a folder that others write into as well, and
// what the window wrote into it.
#include "app/view/project/project.h"
#include "core/plan/presets.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class TuiProjects : public Tui {
protected:
    void SetUp() override
    {
        Tui::SetUp();
        std::filesystem::create_directories(project());
        for (const char* name : {"a", "b"})
            write_plan(name);
    }
    [[nodiscard]] std::filesystem::path project() const { return folder_ / "Wide or deep"; }
    [[nodiscard]] std::filesystem::path file() const { return project() / view::kProjectFile; }
    void write_plan(const std::string& name) const { std::ofstream(project() / (name + ".plan.json")) << kPlan; }
    [[nodiscard]] std::vector<std::string> planner() const { return {FOURFOLD_FIXED_PLANNER, project().string()}; }
    // The member of the project's file, once it is that; null after a while.
    [[nodiscard]] Json part(const char* key) const
    {
        const Expected<Json> json = read_json_file(file());
        return json && json->contains(key) ? json->at(key) : Json();
    }
    bool comes_to(TerminalProgram& program, const char* key, const Json& value) const
    {
        for (int i = 0; i < 200 && part(key) != value; ++i)
            program.read_some(std::chrono::milliseconds(50));
        return part(key) == value;
    }
    // A command of the finder.
    static void find(TerminalProgram& program, const std::string& words)
    {
        program.type("\x0b");
        ASSERT_TRUE(program.shows("Find")) << program.grid().text();
        program.type(words + "\r");
    }
};

TEST_F(TuiProjects, AFolderOfPlansIsOpenedAndFollowed)
{
    {
        TerminalProgram program(planner(), options(24, 120));
        ASSERT_TRUE(program.shows("1/2 a.plan.json - Wide or deep")) << program.grid().text();
        EXPECT_TRUE(program.shows("Project Wide or deep: 2 plans"));
        program.settle();
        EXPECT_FALSE(std::filesystem::exists(file())) << "looking at it writes nothing";
        program.type("}\x17"); // Ctrl+W
        ASSERT_TRUE(program.shows("Closed; now a.plan.json")) << program.grid().text();
        EXPECT_TRUE(comes_to(program, "plans", Json::array({"a.plan.json"}))) << part("plans").dump();
        find(program, "other plans");
        ASSERT_TRUE(program.shows("Other plans of Wide or deep")) << program.grid().text();
        program.type("\r");
        ASSERT_TRUE(program.shows("Opened b.plan.json")) << program.grid().text();
        // A plan that was never saved goes into the folder, and belongs to it from then on.
        program.type("\x14w"); // Ctrl+T
        ASSERT_TRUE(program.shows("Wide or deep/my.plan.json")) << program.grid().text();
        program.type("\r");
        ASSERT_TRUE(program.shows("Saved my.plan.json")) << program.grid().text();
        EXPECT_TRUE(comes_to(program, "plans", Json::array({"a.plan.json", "b.plan.json", "my.plan.json"})))
            << part("plans").dump();
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
    // The next start has it again, and what was edited and not saved.
    {
        TerminalProgram program({FOURFOLD_FIXED_PLANNER}, options(24, 120));
        ASSERT_TRUE(program.shows("3/3 my.plan.json - Wide or deep")) << program.grid().text();
        program.type("jjjjj+");
        ASSERT_TRUE(program.shows("*my.plan.json")) << program.grid().text();
        program.hang_up();
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(24, 120));
    ASSERT_TRUE(again.shows("3/3 *my.plan.json - Wide or deep")) << again.grid().text();
    find(again, "close project");
    ASSERT_TRUE(again.shows("Unsaved changes")) << again.grid().text();
    again.type("d");
    ASSERT_TRUE(again.shows("Closed project Wide or deep")) << again.grid().text();
    EXPECT_TRUE(again.hides("- Wide or deep"));
    EXPECT_EQ(part("plans").size(), 3U) << "closing takes nothing out of it";
    find(again, "open project");
    ASSERT_TRUE(again.shows("Open project")) << again.grid().text();
    again.type("wide\r"); // the recent one
    ASSERT_TRUE(again.shows("1/3 a.plan.json - Wide or deep")) << again.grid().text();
}

TEST_F(TuiProjects, WhatIsMissingIsALineAndStaysInTheFile)
{
    std::ofstream(file()) << R"({"fourfold_project": 1, "name": "Ours", "mine": [1],
        "plans": ["gone.plan.json", "a.plan.json", "b.plan.json"]})";
    TerminalProgram program(planner(), options(24, 120));
    ASSERT_TRUE(program.shows("1/2 a.plan.json - Ours")) << program.grid().text();
    EXPECT_TRUE(program.shows("1 plan of project Ours cannot be opened: ")) << program.grid().text();
    program.type("}\x17");
    ASSERT_TRUE(program.shows("Closed; now")) << program.grid().text();
    EXPECT_TRUE(comes_to(program, "plans", Json::array({"gone.plan.json", "a.plan.json"}))) << part("plans").dump();
    EXPECT_EQ(part("mine"), Json::array({1})) << "what is not known is left alone";
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
    std::ofstream(file()) << "{";
    TerminalProgram broken(planner(), options());
    EXPECT_NE(broken.wait(), 0) << "told before the screen";
    EXPECT_THAT(broken.bytes(), HasSubstr(view::kProjectFile));
}

TEST_F(TuiProjects, NotesAreLinesOfItsFile)
{
    TerminalProgram program(planner(), options(24, 120));
    ASSERT_TRUE(program.shows("- Wide or deep")) << program.grid().text();
    find(program, "notes of this");
    ASSERT_TRUE(program.shows("A new line...")) << program.grid().text();
    program.type("\rTP 8 first.\r");
    ASSERT_TRUE(program.shows("TP 8 first.")) << program.grid().text();
    program.type("new\rThen EP.\r");
    ASSERT_TRUE(program.shows("Then EP.")) << program.grid().text();
    EXPECT_EQ(part("notes"), Json::array({"TP 8 first.", "Then EP."}));
    program.type("tp\r"); // the first one, again
    ASSERT_TRUE(program.shows("A line; an empty one goes")) << program.grid().text();
    program.type("\x15\r");
    ASSERT_TRUE(program.hides("TP 8 first.")) << program.grid().text();
    EXPECT_EQ(part("notes"), Json::array({"Then EP."}));
}

// Views of tables are the project's while it is open, beside one's own; the window has the same (tests/gui).
TEST_F(TuiProjects, ViewsBelongToIt)
{
    ASSERT_TRUE(view::SavedViews(view::kComparedTable, folder_ / "config/fourfold/table-views.json")
                    .keep("Own", {{}, {}, {}, "", false, "", false, true}));
    TerminalProgram program(planner(), options(24, 120));
    ASSERT_TRUE(program.shows("- Wide or deep")) << program.grid().text();
    program.type("3V");
    ASSERT_TRUE(program.shows("Own")) << program.grid().text();
    program.type("save\r");
    ASSERT_TRUE(program.shows("kept in the project")) << program.grid().text();
    program.type("Theirs\r");
    ASSERT_TRUE(program.shows("Saved the view Theirs")) << program.grid().text();
    EXPECT_TRUE(part("views").contains("comparison")) << part("views").dump();
    EXPECT_TRUE(part("views")["comparison"].contains("Theirs"));
    EXPECT_THAT(must(read_text_file(folder_ / "config/fourfold/table-views.json")), Not(HasSubstr("Theirs")));
    program.type("V");
    ASSERT_TRUE(program.shows("Theirs")) << program.grid().text();
    EXPECT_TRUE(program.shows("Own"));
    program.type("\033");
    find(program, "close project");
    ASSERT_TRUE(program.shows("Closed project")) << program.grid().text();
    program.type("3V");
    ASSERT_TRUE(program.shows("Own")) << program.grid().text();
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("Theirs")));
}

// What is compared is kept with relative names, also by a name; the window writes the same form (tests/gui).
TEST_F(TuiProjects, ComparisonsBelongToIt)
{
    {
        TerminalProgram program(planner(), options(40, 160));
        ASSERT_TRUE(program.shows("- Wide or deep")) << program.grid().text();
        program.type("3a");
        ASSERT_TRUE(program.shows("A published measurement")) << program.grid().text();
        program.type("published\r");
        ASSERT_TRUE(program.shows("Measured table")) << program.grid().text();
        program.type("torchtitan_llama31\r");
        ASSERT_TRUE(program.shows("Row of torchtitan_llama31_h100")) << program.grid().text();
        program.type("\r");
        ASSERT_TRUE(program.shows("Added torchtitan_llama31_h100 line")) << program.grid().text();
        program.type("acomparisons\r");
        ASSERT_TRUE(program.shows("Save this comparison...")) << program.grid().text();
        program.type("\rAll three\r");
        ASSERT_TRUE(program.shows("Saved the comparison All three")) << program.grid().text();
        program.type("x");
        ASSERT_TRUE(program.shows("Remove")) << program.grid().text();
        program.type("torchtitan\r");
        ASSERT_TRUE(program.hides("torchtitan_llama31_h100 line")) << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
    const Json set = part("comparisons")["All three"];
    EXPECT_EQ(set["plans"], Json::array({"a.plan.json", "b.plan.json"}));
    EXPECT_EQ(set["entries"][0]["table"], "published:torchtitan_llama31_h100.csv");
    EXPECT_THAT(must(read_text_file(file())), Not(HasSubstr(folder_.path().string()))) << "an absolute path";
    // Elsewhere, with one of its plans not open, and what somebody added by hand.
    const std::filesystem::path other = folder_ / "other";
    std::filesystem::copy(project(), other);
    Json written = must(read_json_file(file()));
    written["plans"] = Json::array({"a.plan.json"});
    written["comparison"] = {{"differences_only", true}};
    std::ofstream(other / view::kProjectFile) << written.dump();
    forget_session();
    TerminalProgram program({FOURFOLD_FIXED_PLANNER, other.string()}, options(40, 160));
    ASSERT_TRUE(program.shows("a.plan.json - other")) << program.grid().text();
    program.type("3");
    ASSERT_TRUE(program.shows("a adds stored runs")) << program.grid().text();
    program.type("acomparisons\r");
    ASSERT_TRUE(program.shows("3 entries")) << program.grid().text();
    program.type("all three\r");
    ASSERT_TRUE(program.shows("Comparison All three")) << program.grid().text();
    ASSERT_TRUE(program.shows("torchtitan_llama31_h100 line")) << program.grid().text();
    EXPECT_TRUE(program.shows("2 b.plan.json")) << program.grid().text();
}

TEST_F(TuiProjects, AFileThatSomebodyElseWroteIsFollowedOrAskedAbout)
{
    TerminalProgram program(planner(), options(24, 120));
    ASSERT_TRUE(program.shows("1/2 a.plan.json - Wide or deep")) << program.grid().text();
    std::ofstream(file()) << R"({"fourfold_project": 1, "plans": ["b.plan.json"]})";
    ASSERT_TRUE(program.shows(" b.plan.json - Wide or deep")) << program.grid().text();
    EXPECT_TRUE(program.hides("a.plan.json"));
    // With changes on both sides nobody's are lost.
    program.type("jjjjj+");
    ASSERT_TRUE(program.shows("*b.plan.json")) << program.grid().text();
    std::ofstream(file()) << R"({"fourfold_project": 1, "plans": ["a.plan.json"], "notes": ["theirs"]})";
    ASSERT_TRUE(program.shows("Changed on disk")) << program.grid().text();
    program.type("k");
    ASSERT_TRUE(program.hides("Changed on disk")) << program.grid().text();
    EXPECT_TRUE(comes_to(program, "plans", Json::array({"b.plan.json"}))) << part("plans").dump();
    std::ofstream(file()) << R"({"fourfold_project": 1, "plans": ["a.plan.json"]})";
    ASSERT_TRUE(program.shows("Changed on disk")) << program.grid().text();
    program.type("r");
    ASSERT_TRUE(program.shows("Unsaved changes")) << program.grid().text();
    program.type("d");
    ASSERT_TRUE(program.shows(" a.plan.json - Wide or deep")) << program.grid().text();
}

// As between the marks of a merge: what is here stays, what is there is not written over, and it goes on by itself.
TEST_F(TuiProjects, AFileThatIsDamagedMeanwhileIsToldOnceAndWaitedFor)
{
    TerminalProgram program(planner(), options(24, 160));
    ASSERT_TRUE(program.shows("1/2 a.plan.json - Wide or deep")) << program.grid().text();
    program.type("}\x17"); // Ctrl+W
    ASSERT_TRUE(comes_to(program, "plans", Json::array({"a.plan.json"}))) << program.grid().text();
    const std::string whole = must(read_text_file(file())), damaged = "<<<<<<< HEAD\n" + whole;
    std::ofstream(file()) << damaged;
    ASSERT_TRUE(program.shows("The file of project Wide or deep cannot be read")) << program.grid().text();
    program.type("j");
    ASSERT_TRUE(program.hides("cannot be read")) << program.grid().text();
    program.settle(std::chrono::milliseconds(1500)); // looked at again
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("cannot be read")));
    // Work goes on.
    program.type("jjjj+");
    ASSERT_TRUE(program.shows("*a.plan.json")) << program.grid().text();
    program.type("\x13"); // Ctrl+S
    ASSERT_TRUE(program.shows("Saved a.plan.json")) << program.grid().text();
    EXPECT_EQ(must(read_json_file(project() / "a.plan.json"))["layout"]["tp"], 4);
    find(program, "other plans");
    ASSERT_TRUE(program.shows("Other plans of Wide or deep")) << program.grid().text();
    program.type("\r"); // now its list would be another one
    ASSERT_TRUE(program.shows("Changed on disk")) << program.grid().text();
    program.type("l"); // later: that is not in two seconds
    ASSERT_TRUE(program.hides("Changed on disk")) << program.grid().text();
    program.type("j");
    program.settle(std::chrono::milliseconds(2000));
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("Changed on disk")));
    EXPECT_EQ(must(read_text_file(file())), damaged);
    std::ofstream(file()) << whole;
    ASSERT_TRUE(program.shows("can be read again")) << program.grid().text();
    EXPECT_TRUE(comes_to(program, "plans", Json::array({"a.plan.json", "b.plan.json"}))) << part("plans").dump();
    // Whole again, and another one: it is read.
    std::ofstream(file()) << "{";
    ASSERT_TRUE(program.shows("cannot be read")) << program.grid().text();
    std::ofstream(file()) << R"({"fourfold_project": 1, "plans": ["b.plan.json"]})";
    ASSERT_TRUE(program.hides("a.plan.json")) << program.grid().text();
    EXPECT_TRUE(program.shows(" b.plan.json - Wide or deep")) << program.grid().text();
    program.type("q");
    EXPECT_EQ(program.wait(), 0);
}

TEST_F(TuiProjects, IsMadeOfWhatIsOpenAndSavedWhole)
{
    TerminalProgram program({FOURFOLD_FIXED_PLANNER, (project() / "a.plan.json").string()}, options(24, 120));
    ASSERT_TRUE(program.shows("a.plan.json")) << program.grid().text();
    find(program, "new project");
    ASSERT_TRUE(program.shows("Folder of the new project")) << program.grid().text();
    program.type((folder_ / "new").string() + "\r");
    ASSERT_TRUE(program.shows("the open plans that are files belong to it")) << program.grid().text();
    const Expected<Json> made = read_json_file(folder_ / "new" / view::kProjectFile);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->at("plans"), Json::array({"../Wide or deep/a.plan.json"}));
    program.type("jjjjj+");
    ASSERT_TRUE(program.shows("*a.plan.json")) << program.grid().text();
    find(program, "save every");
    ASSERT_TRUE(program.shows("Saved: 1 plan, and project new")) << program.grid().text();
    EXPECT_EQ(must(read_json_file(project() / "a.plan.json"))["layout"]["tp"], 4);
}

TEST_F(TuiProjects, IsReadOutInLines)
{
    TerminalProgram::Options dumb = options(24, 200);
    dumb.environment["TERM"] = "dumb";
    TerminalProgram program(planner(), dumb);
    ASSERT_TRUE(program.says("Project Wide or deep: 2 plans")) << program.bytes();
    program.type("notes of this\n1\nTP 8.\nesc\nq\n");
    EXPECT_EQ(program.wait(), 0) << program.bytes();
    EXPECT_EQ(part("notes"), Json::array({"TP 8."})) << program.bytes();
}

} // namespace
} // namespace fourfold::test
