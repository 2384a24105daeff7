// SPDX-License-Identifier: GPL-3.0-or-later
#include "support.h"

namespace fourfold::test {
namespace {

TEST(WithField, SetsNestedFieldsAndMakesTheirSections)
{
    const Plan before = base_plan();
    const Plan after = must(with_field(before, "layout.tp", "4"));
    EXPECT_EQ(after.document["layout"]["tp"], 4);
    EXPECT_FALSE(before.document.contains("layout"));
    EXPECT_EQ(after.where, before.where);
    EXPECT_EQ(
        must(with_field(after, "training.fsdp.prefetch", "false")).document["training"]["fsdp"]["prefetch"], false);
}

TEST(WithField, ReadsJsonElseText)
{
    const Plan plan = base_plan();
    EXPECT_EQ(must(with_field(plan, "training.schedule", "1f1b")).document["training"]["schedule"], "1f1b");
    EXPECT_EQ(must(with_field(plan, "training.schedule", "\"gpipe\"")).document["training"]["schedule"], "gpipe");
    EXPECT_EQ(must(with_field(plan, "name", "8")).document["name"], "8");
    EXPECT_EQ(must(with_field(plan, "name", "true")).document["name"], "true");
    EXPECT_EQ(must(with_field(plan, "layout.stage_layers", "[4,4]")).document["layout"]["stage_layers"].size(), 2u);
    EXPECT_EQ(must(with_field(plan, "run.environment.OMP_NUM_THREADS", "2"))
                  .document["run"]["environment"]["OMP_NUM_THREADS"],
        "2");
}

TEST(WithField, NullGivesTheDefaultBack)
{
    const Plan plan = changed(base_plan(), {"layout.tp=4"});
    const Plan without = must(with_field(plan, "layout.tp", "null"));
    EXPECT_FALSE(without.document["layout"].contains("tp"));
    EXPECT_EQ(resolved(without).layout.tp, 1);
    EXPECT_EQ(must(with_field(base_plan(), "run.steps", "null")).document, base_plan().document);
    EXPECT_FALSE(with_field(plan, "gpus", "null"));
}

TEST(WithField, ListEntries)
{
    Json document = base_plan().document;
    document["run"] = {{"data", Json::array({{{"path", "a"}}, {{"path", "b"}}})}};
    const Plan plan = must(plan_from_json(document, "p"));
    EXPECT_EQ(must(with_field(plan, "run.data.1.path", "c")).document["run"]["data"][1]["path"], "c");
    EXPECT_NE(
        with_field(plan, "run.data.2.path", "c").error().line().find("the list has 2 entries"), std::string::npos);
    EXPECT_FALSE(with_field(plan, "run.data.x.path", "c"));
}

TEST(WithField, KeysInsideAModelObject)
{
    Json document = base_plan().document;
    document["model"] = {{"model_type", "llama"}, {"hidden_size", 8}};
    const Plan plan = must(plan_from_json(document, "p"));
    EXPECT_EQ(must(with_field(plan, "model.hidden_size", "16")).document["model"]["hidden_size"], 16);
}

TEST(WithField, Problems)
{
    const Plan plan = base_plan();
    EXPECT_NE(with_field(plan, "layout.tpp", "2").error().line().find("did you mean layout.tp"), std::string::npos)
        << with_field(plan, "layout.tpp", "2").error().line();
    EXPECT_NE(
        with_field(plan, "model.hidden_size", "2").error().line().find("is the preset \"small\""), std::string::npos);
    EXPECT_NE(with_field(plan, "layout.tp", "four").error().line().find("found \"four\", expected an integer"),
        std::string::npos);
    EXPECT_FALSE(with_field(plan, "", "1"));
    EXPECT_FALSE(with_field(plan, ".", "1"));
    EXPECT_FALSE(with_field(plan, "layout.", "1"));
    EXPECT_FALSE(with_field(plan, "layout.tp.x", "1"));
    EXPECT_FALSE(with_field(plan, "name", "\xff\xfe"));
}

TEST(WithAssignment, SplitsAtTheFirstEqualsSign)
{
    EXPECT_EQ(must(with_assignment(base_plan(), "name=a=b")).document["name"], "a=b");
    EXPECT_EQ(must(with_assignment(base_plan(), "name=")).document["name"], "");
    for (const char* bad : {"layout.tp", "=4", ""})
        EXPECT_NE(with_assignment(base_plan(), bad).error().line().find("FIELD=VALUE"), std::string::npos) << bad;
}

} // namespace
} // namespace fourfold::test
