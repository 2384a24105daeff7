// SPDX-License-Identifier: GPL-3.0-or-later
// Views of tables that are kept by a name: the window's open in the terminal, and the other way round.
#include "app/view/history/runs_list.h"
#include "app/view/search/results.h"
#include "app/view/tables/saved_views.h"
#include "tests/history/history_test_support.h"
#include "tests/tui/tui_fixture.h"

namespace fourfold::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using view::SavedView;

class TuiViews : public Tui {
protected:
    [[nodiscard]] std::filesystem::path file() const { return folder_ / "config/fourfold/table-views.json"; }
    [[nodiscard]] view::SavedViews views(const char* table) const { return view::SavedViews(table, file()); }
    void store_runs() const
    {
        const std::filesystem::path history = folder_ / "data/fourfold/history.db";
        std::filesystem::create_directories(history.parent_path());
        HistoryStore store = open_store(history);
        for (const auto& [id, name] : {std::pair{"01J0000000000000000000000A", "alpha"},
                 std::pair{"01J0000000000000000000000B", "beta"}, std::pair{"01J0000000000000000000000C", "gamma"}}) {
            NewRun run = sample_run(id);
            run.name = name;
            must(store.create_run(run));
            must(store.set_state(id, RunState::ok));
        }
    }
    // The rows of a table from its heading on.
    static std::string below(TerminalProgram& program, const std::string& heading)
    {
        const std::string text = program.grid().text();
        return text.substr(std::min(text.find(heading), text.size()));
    }
};

// All columns of the window have a place here, under the same name.
TEST_F(TuiViews, AViewOfTheWindowOpensInTheHistory)
{
    store_runs();
    SavedView window{{"Target", "Run", "Steps"}, {"State", "Layout"}, {{"Run", 120}}, "Run", true, "a", false, false};
    for (int column = 0; column < view::RunsList::columns; ++column) {
        const std::string name = view::column_name(view::RunsList::title(column));
        if (std::ranges::find(window.columns, name) == window.columns.end())
            window.columns.push_back(name);
    }
    ASSERT_TRUE(views(view::kRunsTable).keep("Of the window", window));
    TerminalProgram program(fixed(), options(24, 160));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5/beta\r");
    ASSERT_TRUE(program.shows("1 of 3 runs; beta")) << program.grid().text();
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("Target")));
    program.type("V");
    ASSERT_TRUE(program.shows("Of the window")) << program.grid().text();
    EXPECT_TRUE(program.shows("a; by Run, falling; without State, Layout")) << program.grid().text();
    program.type("\r");
    ASSERT_TRUE(program.shows("View Of the window")) << program.grid().text();
    ASSERT_TRUE(program.shows("3 of 3 runs; a")) << program.grid().text();
    const std::string table = below(program, "Target");
    EXPECT_THAT(table, ::testing::MatchesRegex("Target +Run.* +Steps +Model .*(\n.*)*"));
    EXPECT_THAT(table, Not(HasSubstr("Layout")));
    EXPECT_LT(table.find("gamma"), table.find("beta"));
    EXPECT_LT(table.find("beta"), table.find("alpha"));
}

TEST_F(TuiViews, AViewIsSavedRenamedAndDeleted)
{
    store_runs();
    TerminalProgram program(fixed(), options(24, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("5/alpha\r");
    ASSERT_TRUE(program.shows("1 of 3 runs; alpha")) << program.grid().text();
    program.type("V");
    ASSERT_TRUE(program.shows("Save this view...")) << program.grid().text();
    EXPECT_THAT(program.grid().text(), Not(HasSubstr("Rename a view")));
    program.type("save\r");
    ASSERT_TRUE(program.shows("A name for the table as it is")) << program.grid().text();
    program.type("  \r");
    ASSERT_TRUE(program.shows("a view has a name")) << program.grid().text();
    program.type("\x15"
                 "Mine \u7530\r");
    ASSERT_TRUE(program.shows("Saved the view Mine \u7530")) << program.grid().text();
    const auto kept = views(view::kRunsTable).find("Mine \u7530");
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->filter, "alpha");
    EXPECT_EQ(kept->sorted, "Date");
    EXPECT_TRUE(kept->falling);
    EXPECT_THAT(kept->hidden, ElementsAre("Model", "Target", "Predicted GiB", "Loss"));
    EXPECT_EQ(kept->columns.size(), std::size_t(view::RunsList::columns));
    // The same name is not taken without a question.
    program.type("/\x15\rVsave\rMine \u7530\r");
    ASSERT_TRUE(program.shows("There is a view Mine \u7530 already")) << program.grid().text();
    program.type("n");
    ASSERT_TRUE(program.hides("already"));
    EXPECT_EQ(views(view::kRunsTable).find("Mine \u7530")->filter, "alpha");
    program.type("Vrename\r");
    ASSERT_TRUE(program.shows("Rename which view")) << program.grid().text();
    program.type("\r\x15Other\r");
    ASSERT_TRUE(program.shows("Renamed to Other")) << program.grid().text();
    EXPECT_THAT(*views(view::kRunsTable).names(), ElementsAre("Other"));
    program.type("Vdelete\r\r");
    ASSERT_TRUE(program.shows("The view Other is deleted")) << program.grid().text();
    program.type("y");
    ASSERT_TRUE(program.shows("Deleted the view Other")) << program.grid().text();
    EXPECT_THAT(*views(view::kRunsTable).names(), ElementsAre());
}

TEST_F(TuiViews, TheHistoryComesBackToItsRun)
{
    store_runs();
    const auto chosen = [](const TerminalProgram& program) {
        const std::string text = program.grid().text();
        const std::size_t at = text.find("01J00");
        return at == std::string::npos ? std::string() : text.substr(at, 26);
    };
    std::string run;
    {
        TerminalProgram program(fixed(), options());
        ASSERT_TRUE(program.shows("Fits."));
        program.type("5");
        ASSERT_TRUE(program.shows("01J00")) << program.grid().text();
        const std::string first = chosen(program);
        program.type("G");
        ASSERT_TRUE(program.hides(first)) << program.grid().text();
        run = chosen(program);
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options());
    EXPECT_TRUE(again.shows(run)) << again.grid().text();
}

// Sorted and filtered as the view says, also by what the next start finds.
TEST_F(TuiViews, ASearchHasItsViewsAndComesBackToThem)
{
    ASSERT_TRUE(views(view::kFoundTable)
                    .keep("Small",
                        {{"Pin", "#", "GPUs", "TP", "PP", "CP", "Schedule"}, {"Schedule"}, {}, "Memory GiB", false,
                            "tp = 8", true, false}));
    ASSERT_TRUE(views(view::kFoundTable).keep("Broken", {{}, {}, {}, "", false, "tpp = 8", false, false}));
    {
        TerminalProgram program(fixed(), options(24, 120));
        ASSERT_TRUE(program.shows("Fits."));
        program.type("2s");
        ASSERT_TRUE(program.shows("on the Pareto front, in ", std::chrono::seconds(40))) << program.grid().text();
        program.type("Vsmall\r");
        ASSERT_TRUE(program.shows("shown, front only: tp = 8")) << program.grid().text();
        EXPECT_TRUE(program.shows("TP  PP  CP  ")) << program.grid().text();
        EXPECT_TRUE(program.shows("Memory GiB\u2191")) << program.grid().text();
        EXPECT_TRUE(program.hides("Schedule")) << program.grid().text();
        program.type("Vbroken\r");
        ASSERT_TRUE(program.shows("did you mean")) << "what is wrong with it\n" << program.grid().text();
        EXPECT_TRUE(program.shows("front only: tp = 8")) << "all is as it was\n" << program.grid().text();
        program.type("q");
        EXPECT_EQ(program.wait(), 0);
    }
    TerminalProgram again({FOURFOLD_FIXED_PLANNER}, options(24, 120));
    ASSERT_TRUE(again.shows("s searches every layout")) << again.grid().text();
    again.type("s");
    ASSERT_TRUE(again.shows("shown, front only: tp = 8", std::chrono::seconds(40))) << again.grid().text();
    again.type("Vsave\rThe same\r");
    ASSERT_TRUE(again.shows("Saved the view The same")) << again.grid().text();
    const auto kept = views(view::kFoundTable).find("The same");
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->filter, "tp = 8");
    EXPECT_TRUE(kept->front_only);
    EXPECT_THAT(kept->hidden, Contains("Schedule"));
}

TEST_F(TuiViews, AComparisonHasThemAndAFileThatIsNoneIsALine)
{
    TerminalProgram program(fixed(), options(24, 120));
    ASSERT_TRUE(program.shows("Fits."));
    program.type("\x14"
                 "3d"); // Ctrl+T: a second one
    ASSERT_TRUE(program.shows("differences only")) << program.grid().text();
    program.type("Vsave\rShort\r");
    ASSERT_TRUE(program.shows("Saved the view Short")) << program.grid().text();
    program.type("d");
    ASSERT_TRUE(program.hides("; differences only")) << program.grid().text();
    program.type("Vshort\r");
    ASSERT_TRUE(program.shows("; differences only")) << program.grid().text();
    std::ofstream(file()) << "{";
    program.type("V");
    ASSERT_TRUE(program.shows("table-views.json")) << program.grid().text();
    EXPECT_EQ(must(read_text_file(file())), "{");
}

} // namespace
} // namespace fourfold::test
