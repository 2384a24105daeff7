// SPDX-License-Identifier: GPL-3.0-or-later
// The open plans: which one is current when others come, go and change places.
#include "app/view/plan/open_plans.h"

#include <gtest/gtest.h>

namespace fourfold::view {
namespace {

struct Document {
    std::filesystem::path name;
    [[nodiscard]] const std::filesystem::path& file() const { return name; }
};

class OpenPlansTest : public ::testing::Test {
protected:
    void add(const char* name) { plans_.set_current(plans_.insert(std::make_unique<Document>(Document{name}))); }
    [[nodiscard]] std::string order() const
    {
        std::string text;
        for (int i = 0; i < plans_.count(); ++i)
            text += (i == plans_.current_index() ? "*" : "") + plans_.at(i).name.string();
        return text;
    }
    OpenPlans<Document> plans_{std::make_unique<Document>(Document{"a"})};
};

TEST_F(OpenPlansTest, ANewOneStandsBehindTheCurrentOne)
{
    add("b");
    plans_.set_current(0);
    plans_.insert(std::make_unique<Document>(Document{"c"}));
    EXPECT_EQ(order(), "*acb");
    EXPECT_FALSE(plans_.set_current(0));
    EXPECT_FALSE(plans_.set_current(3));
    EXPECT_FALSE(plans_.set_current(-1));
}

TEST_F(OpenPlansTest, TheNextOneInheritsAndAnotherStaysCurrent)
{
    add("b");
    add("c");
    EXPECT_EQ(order(), "ab*c");
    EXPECT_EQ(plans_.take(0)->name, "a"); // not the current one
    EXPECT_EQ(order(), "b*c");
    plans_.set_current(0);
    EXPECT_EQ(plans_.heir(0), 1);
    plans_.take(0);
    EXPECT_EQ(order(), "*c");
}

TEST_F(OpenPlansTest, OneThatIsGoneIsNotThere)
{
    add("b");
    const Document* const first = &plans_.at(0);
    EXPECT_TRUE(plans_.has(first));
    const std::unique_ptr<Document> taken = plans_.take(0);
    EXPECT_FALSE(plans_.has(first));
    EXPECT_FALSE(plans_.has(nullptr));
}

TEST_F(OpenPlansTest, TheLastOneIsInheritedFromByTheOneBefore)
{
    add("b");
    EXPECT_EQ(plans_.heir(1), 0);
    plans_.take(1);
    EXPECT_EQ(order(), "*a");
}

TEST_F(OpenPlansTest, TheCurrentOneIsCurrentWhereverItMoves)
{
    add("b");
    add("c");
    EXPECT_TRUE(plans_.move(2, 0));
    EXPECT_EQ(order(), "*cab");
    EXPECT_TRUE(plans_.move(1, 2));
    EXPECT_EQ(order(), "*cba");
    EXPECT_FALSE(plans_.move(0, 3));
}

TEST_F(OpenPlansTest, AFileIsFoundByWhateverNameItHas)
{
    const std::filesystem::path file = FOURFOLD_SOURCE_DIR "/README.md";
    add(file.c_str());
    EXPECT_EQ(plans_.index_of(std::filesystem::path(FOURFOLD_SOURCE_DIR "/core/../README.md")), 1);
    EXPECT_EQ(plans_.index_of(std::filesystem::path(FOURFOLD_SOURCE_DIR "/LICENSE")), -1);
    EXPECT_EQ(plans_.index_of(plans_.at(1)), 1);
}

} // namespace
} // namespace fourfold::view
