// SPDX-License-Identifier: GPL-3.0-or-later
// A project while it is open: when its file is written, what is said of it, and what becomes of what others wrote.
#include "app/view/project/open_project.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <fstream>
#include <optional>
#include <set>

namespace fourfold::view {
namespace {

using News = OpenProject::News;
using Paths = std::vector<std::filesystem::path>;
using ::testing::HasSubstr;

// `here_` is what the front end has on show.
class OpenProjectTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        write_file(R"({"fourfold_project": 1, "plans": ["a.plan.json", "b.plan.json"]})");
        for (const char* name : {"a", "b"})
            std::ofstream(plan(name)) << "{}";
        here_.plans = {plan("a"), plan("b")};
        open();
    }
    void open()
    {
        Expected<Project> project = Project::open(folder_.path());
        ASSERT_TRUE(project) << project.error().line();
        open_.emplace(*std::move(project), [this](const Project&) { return here_; });
    }
    // As a front end does it: those plans that are there.
    void open_plans()
    {
        std::set<std::filesystem::path> opened;
        problems_ = open_->open_plans(
            [&](const Paths& files) {
                std::vector<Problem> problems;
                for (const std::filesystem::path& file : files) {
                    if (std::filesystem::exists(file))
                        opened.insert(file);
                    else
                        problems.push_back({ProblemCode::io, "is gone", "", file.string()});
                }
                return problems;
            },
            [&](const std::filesystem::path& file) { return opened.contains(file); });
        here_.plans.assign(opened.begin(), opened.end());
    }
    void write_file(const std::string& text) const { std::ofstream(folder_ / kProjectFile) << text; }
    [[nodiscard]] std::filesystem::path plan(const std::string& name) const
    {
        return std::filesystem::canonical(folder_.path()) / (name + ".plan.json");
    }
    [[nodiscard]] std::string file() const { return *read_text_file(folder_ / kProjectFile); }
    [[nodiscard]] Json plans() const { return parse_json(file(), "")->at("plans"); }

    test::TemporaryFolder folder_;
    OpenProject::Here here_;
    std::optional<OpenProject> open_;
    std::vector<Problem> problems_;
};

TEST_F(OpenProjectTest, ItsFileIsWrittenWhereItWouldChange)
{
    const std::string before = file();
    EXPECT_EQ(open_->keep().news, News::none);
    EXPECT_EQ(file(), before) << "in other words than ours";
    here_.plans = {plan("b")};
    here_.comparison = {{"differences_only", true}};
    here_.comparisons = {{"All", {{"plans", Json::array({"b.plan.json"})}}}};
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_EQ(plans(), Json::array({"b.plan.json"}));
    EXPECT_EQ(parse_json(file(), "")->at(kComparisonPart), here_.comparison);
    EXPECT_EQ(parse_json(file(), "")->at(kComparisonsPart), here_.comparisons);
    EXPECT_EQ(open_->keep().news, News::none);
    here_.comparison = Json::object();
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_FALSE(parse_json(file(), "")->contains(kComparisonPart));
    EXPECT_EQ(open_->look().news, News::none) << "it wrote the file itself";
}

TEST_F(OpenProjectTest, AFileThatCannotBeWrittenIsToldOnce)
{
    const auto block = [this] { // with a folder of its name, which not even root writes over
        std::filesystem::remove(folder_ / kProjectFile);
        std::filesystem::create_directory(folder_ / kProjectFile);
    };
    block();
    here_.plans = {plan("a")};
    const OpenProject::Told told = open_->keep();
    EXPECT_EQ(told.news, News::failed);
    EXPECT_THAT(told.why, HasSubstr(kProjectFile));
    EXPECT_EQ(open_->keep().news, News::none) << "the same again";
    std::filesystem::remove(folder_ / kProjectFile);
    EXPECT_EQ(open_->keep().news, News::kept) << "what could not be written is not forgotten";
    EXPECT_EQ(plans(), Json::array({"a.plan.json"}));
    block();
    here_.plans = {plan("b")};
    EXPECT_EQ(open_->keep().news, News::failed) << "and the next time that it fails is told again";
}

TEST_F(OpenProjectTest, WhatSomebodyElseWroteIsReadWhereNothingHereIsLost)
{
    EXPECT_EQ(open_->look().news, News::none);
    write_file(R"({"fourfold_project": 1, "plans": ["b.plan.json"]})");
    EXPECT_EQ(open_->look().news, News::reload);
    // A plan with changes would lose them.
    here_.has_changes = true;
    EXPECT_EQ(open_->look().news, News::differs);
    here_.has_changes = false;
    // What is here and not written yet would be lost, too.
    here_.plans = {plan("b"), plan("a")};
    EXPECT_EQ(open_->look().news, News::differs);
    EXPECT_EQ(plans(), Json::array({"b.plan.json"})) << "nobody has decided";
    EXPECT_EQ(open_->keep().news, News::differs) << "nor is it written over";
    EXPECT_EQ(plans(), Json::array({"b.plan.json"}));
    open_->project().keep_mine();
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_EQ(plans(), Json::array({"b.plan.json", "a.plan.json"}));
    EXPECT_EQ(open_->look().news, News::none);
}

TEST_F(OpenProjectTest, WhatIsHereReplacesTheOtherFileWhereSomebodyDecidesSo)
{
    const std::string other = R"({"fourfold_project": 1, "plans": ["b.plan.json"]})";
    write_file(other);
    here_.has_changes = true; // of a plan: the project's own file would say what it said
    EXPECT_EQ(open_->look().news, News::differs);
    EXPECT_EQ(open_->keep().news, News::none);
    EXPECT_EQ(file(), other);
    open_->project().keep_mine();
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_EQ(plans(), Json::array({"a.plan.json", "b.plan.json"}));
    EXPECT_EQ(open_->look().news, News::none);
}

TEST_F(OpenProjectTest, PlansInOtherWordsAreNoChange)
{
    write_file(R"({"fourfold_project": 1, "plans": ["./a.plan.json", "here/../b.plan.json"]})");
    open();
    EXPECT_EQ(open_->keep().news, News::none);
    EXPECT_THAT(file(), HasSubstr("./a.plan.json"));
    here_.plans = {plan("b")};
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_EQ(plans(), Json::array({"b.plan.json"}));
}

TEST_F(OpenProjectTest, AFileThatCannotBeReadIsToldOnceAndWaitedFor)
{
    const std::string whole = file();
    write_file("<<<<<<< HEAD\n" + whole);
    const OpenProject::Told told = open_->look();
    EXPECT_EQ(told.news, News::unreadable);
    EXPECT_THAT(told.why, HasSubstr(kProjectFile));
    EXPECT_FALSE(told.is_readable_again);
    EXPECT_TRUE(open_->is_unreadable());
    EXPECT_EQ(open_->look().news, News::none) << "the same again";
    write_file(R"({"fourfold_project": 7})");
    EXPECT_EQ(open_->look().news, News::unreadable) << "for another reason";
    EXPECT_THAT(file(), HasSubstr("7")) << "it is left alone";
    // What changes here meanwhile does not go over it without a word.
    here_.plans = {plan("a")};
    EXPECT_EQ(open_->keep().news, News::differs);
    EXPECT_THAT(file(), HasSubstr("7"));
    here_.plans = {plan("a"), plan("b")};
    EXPECT_TRUE(open_->is_unreadable());

    write_file(whole);
    const OpenProject::Told again = open_->look();
    EXPECT_EQ(again.news, News::none) << "it says what it said";
    EXPECT_TRUE(again.is_readable_again);
    EXPECT_FALSE(open_->is_unreadable());
    EXPECT_FALSE(open_->look().is_readable_again) << "told once";

    write_file("{");
    EXPECT_EQ(open_->look().news, News::unreadable);
    write_file(R"({"fourfold_project": 1, "plans": ["b.plan.json"]})");
    const OpenProject::Told other = open_->look();
    EXPECT_EQ(other.news, News::reload) << "whole, and another one";
    EXPECT_TRUE(other.is_readable_again);
}

// A file that is gone is no other one: it comes back with the next change.
TEST_F(OpenProjectTest, AFileThatIsGoneComesBack)
{
    std::filesystem::remove(folder_ / kProjectFile);
    EXPECT_EQ(open_->look().news, News::none);
    EXPECT_EQ(open_->keep().news, News::none);
    here_.plans = {plan("a")};
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_EQ(plans(), Json::array({"a.plan.json"}));
}

TEST_F(OpenProjectTest, PlansThatCannotBeOpenedStayInItsList)
{
    write_file(R"({"fourfold_project": 1, "plans": ["gone.plan.json", "a.plan.json", "b.plan.json"]})");
    open();
    open_plans();
    ASSERT_EQ(problems_.size(), 1U);
    EXPECT_THAT(problems_.front().line(), HasSubstr("gone.plan.json"));
    EXPECT_EQ(here_.plans, (Paths{plan("a"), plan("b")}));
    EXPECT_EQ(open_->keep().news, News::none) << "nothing has changed";
    here_.plans = {plan("b")};
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_EQ(plans(), Json::array({"gone.plan.json", "b.plan.json"}));
    // Once it can be opened, closing it takes it out.
    std::ofstream(plan("gone")) << "{}";
    open();
    open_plans();
    EXPECT_TRUE(problems_.empty());
    here_.plans = {plan("b")};
    EXPECT_EQ(open_->keep().news, News::kept);
    EXPECT_EQ(plans(), Json::array({"b.plan.json"}));
}

} // namespace
} // namespace fourfold::view
