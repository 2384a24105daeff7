// SPDX-License-Identifier: GPL-3.0-or-later
// The file of a project: what stands in it, what is left alone, and what is said of one that is none; comparisons in
// it.
#include "app/view/compare/kept_comparison.h"
#include "app/view/project/project.h"

#include "core/calibration/score_card.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fourfold::view {
namespace {

class ProjectTest : public ::testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const
    {
        std::filesystem::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
    }
    [[nodiscard]] std::string file() const { return *read_text_file(folder_ / kProjectFile); }

    test::TemporaryFolder folder_;
};

TEST_F(ProjectTest, IsALineAnEntryWithRelativePaths)
{
    Expected<Project> project = Project::create(folder_.path());
    ASSERT_TRUE(project) << project.error().line();
    project->set_plans({folder_ / "a.plan.json", folder_ / "sub/b.plan.json", folder_.path().parent_path() / "c.json"});
    project->set_notes("first line\n\nthird");
    ASSERT_TRUE(project->save());
    EXPECT_EQ(file(), R"({
  "fourfold_project": 1,
  "plans": [
    "a.plan.json",
    "sub/b.plan.json",
    "../c.json"
  ],
  "notes": [
    "first line",
    "",
    "third"
  ]
}
)");
    // The folder goes elsewhere as a whole.
    const test::TemporaryFolder other;
    std::filesystem::copy(folder_ / kProjectFile, other / kProjectFile);
    const Expected<Project> moved = Project::open(other.path());
    ASSERT_TRUE(moved) << moved.error().line();
    const std::filesystem::path there = std::filesystem::canonical(other.path());
    EXPECT_EQ(moved->plans(),
        (std::vector<std::filesystem::path>{
            there / "a.plan.json", there / "sub/b.plan.json", there.parent_path() / "c.json"}));
    EXPECT_EQ(moved->notes(), "first line\n\nthird\n");
    EXPECT_EQ(moved->name(), there.filename());
}

TEST_F(ProjectTest, KeepsWhatItDoesNotKnowAndWritesOnlyWhatChanged)
{
    const std::string mine
        = R"({"fourfold_project": 1, "name": "Ours", "plans": ["./a.plan.json"], "of_mine": {"x": 1}})";
    write(kProjectFile, mine);
    Expected<Project> project = Project::open(folder_ / kProjectFile);
    ASSERT_TRUE(project) << project.error().line();
    EXPECT_EQ(project->name(), "Ours");
    project->set_plans(project->plans()); // the same, in other words
    EXPECT_FALSE(project->is_changed());
    ASSERT_TRUE(project->save());
    EXPECT_EQ(file(), mine);
    project->set_notes("n");
    EXPECT_TRUE(project->is_changed());
    ASSERT_TRUE(project->save());
    EXPECT_FALSE(project->is_changed());
    const Json now = *parse_json(file(), "");
    EXPECT_EQ(now.at("of_mine").at("x"), 1);
    EXPECT_EQ(now.at("plans"), Json::array({"./a.plan.json"}));
    project->set_notes("");
    EXPECT_TRUE(project->part("notes").is_null());
}

TEST_F(ProjectTest, SeesThatSomebodyElseWroteTheFile)
{
    Expected<Project> project = Project::create(folder_.path());
    ASSERT_TRUE(project);
    EXPECT_FALSE(project->is_changed_on_disk());
    write(kProjectFile, R"({"fourfold_project": 1, "notes": ["theirs"]})");
    EXPECT_TRUE(project->is_changed_on_disk());
    project->keep_mine();
    EXPECT_FALSE(project->is_changed_on_disk());
    EXPECT_TRUE(project->is_changed()); // and takes the place of theirs
    ASSERT_TRUE(project->save());
    EXPECT_FALSE(parse_json(file(), "")->contains("notes"));
    std::filesystem::remove(folder_ / kProjectFile);
    EXPECT_FALSE(project->is_changed_on_disk()); // saving brings it back
}

TEST_F(ProjectTest, AFolderOfPlansIsOne)
{
    EXPECT_FALSE(is_project(folder_.path()));
    write("b.plan.json", "{}");
    write("a.plan.json", "{}");
    write("notes.json", "{}");
    write("sub/c.plan.json", "{}");
    EXPECT_TRUE(is_project(folder_.path()));
    Expected<Project> project = Project::open(folder_.path());
    ASSERT_TRUE(project) << project.error().line();
    ASSERT_EQ(project->plans().size(), 2U);
    EXPECT_EQ(project->plans().front().filename(), "a.plan.json");
    EXPECT_FALSE(project->is_changed());
    ASSERT_TRUE(project->save());
    EXPECT_FALSE(std::filesystem::exists(folder_ / kProjectFile)); // looking at it writes nothing
    project->set_notes("n");
    ASSERT_TRUE(project->save());
    EXPECT_EQ(parse_json(file(), "")->at("plans"), Json::array({"a.plan.json", "b.plan.json"}));
}

TEST_F(ProjectTest, WhatIsNoneIsSaidInOneLine)
{
    const auto said = [](const std::filesystem::path& place) {
        const Expected<Project> project = Project::open(place);
        return project ? std::string() : project.error().line();
    };
    EXPECT_NE(said(folder_ / "nowhere").find("there is no such folder"), std::string::npos);
    EXPECT_NE(said(folder_.path()).find("expected fourfold.project.json or plans"), std::string::npos);
    write(kProjectFile, "{\"fourfold_project\": ");
    EXPECT_NE(said(folder_.path()).find("JSON"), std::string::npos) << said(folder_.path());
    write(kProjectFile, "[1]");
    EXPECT_NE(said(folder_.path()).find("is no project"), std::string::npos);
    write(kProjectFile, R"({"fourfold_project": 7})");
    EXPECT_NE(said(folder_.path()).find("has format 7"), std::string::npos);
    write(kProjectFile, R"({"fourfold_project": 1, "plans": [1, "a.plan.json", null], "notes": "text"})");
    const Expected<Project> odd = Project::open(folder_.path());
    ASSERT_TRUE(odd) << odd.error().line();
    EXPECT_EQ(odd->plans().size(), 1U);
    EXPECT_EQ(odd->notes(), "");
    EXPECT_FALSE(Project::create(folder_.path()));
    // Of any size.
    write(kProjectFile, R"({"fourfold_project": ")" + std::string(1 << 20, '7') + "\"}");
    EXPECT_LT(said(folder_.path()).size(), 500U);
    Json many{{"fourfold_project", 1}};
    for (int i = 0; i < 100'000; ++i)
        many["plans"].push_back(std::to_string(i) + ".plan.json");
    write(kProjectFile, many.dump());
    EXPECT_NE(said(folder_.path()).find("has 100000 plans (a project opens at most 1000)"), std::string::npos)
        << said(folder_.path());
    std::filesystem::remove(folder_ / kProjectFile);
    for (int i = 0; i <= 1000; ++i)
        write(std::to_string(i) + ".plan.json", "{}");
    EXPECT_NE(said(folder_.path()).find("has 1001 plans"), std::string::npos) << said(folder_.path());
}

TEST_F(ProjectTest, TablesThatCameWithTheProgramAreNamedAlikeEverywhere)
{
    const std::vector<std::filesystem::path> tables = published_tables();
    ASSERT_FALSE(tables.empty());
    const std::string portable = portable_path(tables.front(), folder_.path());
    EXPECT_EQ(portable, "published:" + tables.front().filename().string());
    EXPECT_EQ(path_of(portable, folder_.path()), tables.front());
    EXPECT_FALSE(std::filesystem::exists(path_of("published:of another version.csv", folder_.path())));
}

// A plan that could not be opened keeps its place: another branch may have it.
TEST_F(ProjectTest, ItsListFollowsWhatIsOpen)
{
    write(kProjectFile, R"({"fourfold_project": 1, "plans": ["a.plan.json", "gone.plan.json", "b.plan.json"]})");
    Expected<Project> project = Project::open(folder_.path());
    ASSERT_TRUE(project) << project.error().line();
    const std::filesystem::path folder = project->folder();
    const std::vector<std::filesystem::path> gone{folder / "gone.plan.json"};
    project->follow_plans({folder / "a.plan.json", folder / "b.plan.json"}, gone);
    EXPECT_FALSE(project->is_changed());
    project->follow_plans({folder / "c.plan.json", folder / "b.plan.json"}, gone);
    EXPECT_EQ(project->part("plans"), Json::array({"c.plan.json", "gone.plan.json", "b.plan.json"}));
    project->follow_plans({}, {});
    EXPECT_EQ(project->part("plans"), Json());
}

TEST_F(ProjectTest, AComparisonIsReadBackAsItWasWritten)
{
    const std::filesystem::path folder = std::filesystem::canonical(folder_.path());
    ASSERT_FALSE(published_tables().empty());
    const std::filesystem::path table = published_tables().front();
    KeptComparison kept;
    kept.entries = {origin_of_run("01RUN"), origin_of_row(table, 7), origin_of_row(folder / "own.csv", 3),
        R"(plan:{"model":"llama-3.1-8b","gpus":8})"};
    kept.series = {{table, "Llama 3.1 8B, H100"}};
    kept.plans = {{folder / "a.plan.json", folder.parent_path() / "c.json"}};
    kept.reference = kept.entries[1];
    kept.differences_only = true;
    const Json json = to_json(kept, folder);
    EXPECT_EQ(kept_comparison(json, folder), kept);
    EXPECT_EQ(json.dump().find(folder.string()), std::string::npos) << "an absolute path: " << json.dump();
    EXPECT_EQ(json["entries"][0].dump(), R"({"run":"01RUN"})");
    EXPECT_EQ(json["entries"][1]["table"], "published:" + table.filename().string());
    EXPECT_EQ(json["entries"][2].dump(), R"({"table":"own.csv","line":3})");
    EXPECT_EQ(json["plans"].dump(), R"(["a.plan.json","../c.json"])");
    // Elsewhere it is of the files that are there.
    EXPECT_EQ(kept_comparison(json, "/other").plans->front(), "/other/a.plan.json");
    kept = {};
    kept.left_out = {folder / "b.plan.json"};
    kept.reference = "A plan's title";
    EXPECT_EQ(kept_comparison(to_json(kept, folder), folder), kept);
    EXPECT_TRUE(to_json(KeptComparison(), folder).empty());
}

TEST_F(ProjectTest, OfAComparisonWhatCannotBeUsedIsLeftOut)
{
    EXPECT_EQ(kept_comparison(Json(), "/"), KeptComparison());
    const KeptComparison kept
        = kept_comparison(Json::parse(R"({"plans": 3, "left_out": [4], "series": [{"job": "x"}, 2],
        "entries": [{"run": 7}, {"table": ""}, {"layout": []}, "row:1:x", {"run": "01RUN"}], "reference": {"a": 1}})"),
            "/");
    EXPECT_EQ(kept.entries, std::vector<std::string>{"run:01RUN"});
    EXPECT_TRUE(kept.series.empty() && kept.left_out.empty() && !kept.plans && kept.reference.empty());
    for (const char* none : {"", "run", "row:", "row:x:/t.csv", "row:7", "plan"})
        EXPECT_EQ(read_origin(none).kind, Origin::Kind::none) << none;
    EXPECT_EQ(read_origin("row:7:/a:b.csv").table, "/a:b.csv");
    EXPECT_EQ(read_origin("row:7:/a:b.csv").line, 7);
}

} // namespace
} // namespace fourfold::view
