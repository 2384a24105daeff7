// SPDX-License-Identifier: GPL-3.0-or-later
// Views of tables that are kept by a name: what window and terminal write is what the other reads; a file that is none.
#include "app/view/tables/saved_views.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace fourfold::view {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SavedViewsTest : public ::testing::Test {
protected:
    [[nodiscard]] std::filesystem::path file() const { return folder_ / "config/table-views.json"; }
    test::TemporaryFolder folder_;
};

TEST_F(SavedViewsTest, AreKeptRenamedAndForgottenByTable)
{
    const SavedViews found(kFoundTable, file()), runs(kRunsTable, file());
    EXPECT_THAT(*found.names(), ElementsAre());
    const SavedView fast{{"#", "TP", "Memory GiB"}, {"TP"}, {{"#", 54}}, "Memory GiB", true, "tp = 8", true, false};
    ASSERT_TRUE(found.keep(" Fast ones ", fast));
    ASSERT_TRUE(found.keep("all / \u5168\u90e8", {}));
    EXPECT_THAT(*found.names(), ElementsAre("all / \u5168\u90e8", "Fast ones"));
    EXPECT_THAT(*runs.names(), ElementsAre());
    EXPECT_EQ(*found.find("Fast ones"), fast);
    EXPECT_EQ(said(fast), "tp = 8; front only; by Memory GiB, falling; without TP");
    EXPECT_EQ(runs.find("Fast ones").error().code, ProblemCode::not_found);
    EXPECT_EQ(found.rename("Fast ones", "all / \u5168\u90e8").error().code, ProblemCode::conflict);
    ASSERT_TRUE(found.rename("Fast ones", "Quick"));
    EXPECT_EQ(*found.find("Quick"), fast);
    ASSERT_TRUE(found.forget("all / \u5168\u90e8"));
    EXPECT_THAT(*found.names(), ElementsAre("Quick"));
    EXPECT_FALSE(found.keep(" \t", fast));
}

TEST_F(SavedViewsTest, AFileThatIsNoneStaysAsItIs)
{
    std::filesystem::create_directories(file().parent_path());
    const SavedViews views(kRunsTable, file());
    for (const char* text :
        {"{", "[]", R"({"fourfold_views": 2, "views": {}})", R"({"fourfold_views": 1, "views": 3})"}) {
        std::ofstream(file()) << text;
        EXPECT_FALSE(views.names()) << text;
        const Expected<void> kept = views.keep("Mine", {});
        ASSERT_FALSE(kept) << text;
        EXPECT_THAT(kept.error().line(), HasSubstr("table-views.json"));
        EXPECT_EQ(*read_text_file(file()), text);
    }
    std::filesystem::remove(file());
    ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0); // nobody waits for who writes into it
    EXPECT_FALSE(views.names());
}

// Of two stores the first one's are met first, and take what is new.
TEST_F(SavedViewsTest, TwoStoresAreOne)
{
    const std::filesystem::path other = folder_ / "other.json";
    const SavedViews own(kRunsTable, file()), theirs(kRunsTable, other);
    const SavedViews both(kRunsTable, {view_file(other), view_file(file())});
    const SavedView falling{{}, {}, {}, "Run", true, "", false, false};
    ASSERT_TRUE(own.keep("Mine", {}));
    ASSERT_TRUE(own.keep("Both", {}));
    ASSERT_TRUE(both.keep("Both", falling));
    ASSERT_TRUE(both.keep("New", falling));
    EXPECT_THAT(*both.names(), ElementsAre("Both", "Mine", "New"));
    EXPECT_EQ(*both.find("Both"), falling);
    EXPECT_EQ(*both.find("Mine"), SavedView());
    EXPECT_THAT(*own.names(), ElementsAre("Both", "Mine"));
    EXPECT_THAT(*theirs.names(), ElementsAre("Both", "New"));
    ASSERT_TRUE(both.rename("Mine", "Ours"));
    ASSERT_TRUE(both.forget("Both"));
    EXPECT_THAT(*own.names(), ElementsAre("Both", "Ours"));
    EXPECT_EQ(*both.find("Both"), SavedView()) << "the other one is met now";
    std::ofstream(file()) << "{";
    EXPECT_THAT(*both.names(), ElementsAre("New")) << "of the store that can be read";
    std::ofstream(other) << "{";
    EXPECT_FALSE(both.names());
}

TEST_F(SavedViewsTest, WhatIsOddIsAsAtFirst)
{
    EXPECT_EQ(saved_view_from_json(Json::parse(R"({"columns": ["A", 3], "hidden": 1, "widths": {"A": 1e9, "B": 20},
        "sorted": 4, "falling": "yes", "filter": [], "front_only": 1})")),
        (SavedView{{"A"}, {}, {{"B", 20}}, "", false, "", false, false}));
    EXPECT_EQ(saved_view_from_json(nullptr), SavedView());
    EXPECT_EQ(column_name("Memory\nGiB"), "Memory GiB");
}

} // namespace
} // namespace fourfold::view
