// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of a plan in one line, as window and terminal offer it.
#include "app/view/plan/any_field.h"
#include "app/view/plan/data_files.h"
#include "core/base/json.h"
#include "core/plan/presets.h"
#include "core/plan/resolve.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace fourfold::view {
namespace {

using testing::HasSubstr;

class AnyFields : public testing::Test {
protected:
    [[nodiscard]] Plan plan(const char* more = "") const
    {
        return *parse_plan(R"({"model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 16)" + std::string(more) + "}",
            (folder_.path() / "a.plan.json").string());
    }
    void file(const std::string& name, const std::string& bytes) const
    {
        ASSERT_TRUE(make_folders((folder_.path() / name).parent_path()));
        ASSERT_TRUE(write_file_atomically(folder_.path() / name, bytes));
    }
    // The field as it is written afterwards, or the Problem.
    static std::string typed(const Plan& plan, const std::string& path, const std::string& text)
    {
        const Expected<Plan> changed = with_any_field(plan, path, text);
        if (!changed)
            return changed.error().line();
        const auto fields = any_fields(*changed, nullptr);
        const auto found = std::ranges::find(fields, path, &AnyField::path);
        return found == fields.end() ? "no such field" : found->written;
    }
    test::TemporaryFolder folder_;
};

// What is typed comes back in the same words: of each kind of field.
TEST_F(AnyFields, AreTypedAsTheyAreShown)
{
    const Plan none = plan();
    for (const auto& [path, text, shown] :
        std::initializer_list<std::array<const char*, 3>>{{"training.seq_len", " 16,384 ", "16384"},
            {"run.lr", "3e-4", "0.0003"}, {"run.deterministic", "Yes", "yes"}, {"run.deterministic", "off", "no"},
            {"run.betas", "0.9, 0.95", "0.9, 0.95"}, {"layout.stage_layers", "3 x 10, 2", "10, 10, 10, 2"},
            {"layout.order", "tp, cp, pp, dp", "tp, cp, pp, dp"}, {"training.recompute_parts", "mlp, moe", "mlp, moe"},
            {"run.lr_schedule", "wsd", "wsd"}, {"training.schedule", "zb-v", "zb-v"},
            {"run.environment", "NCCL_ALGO=Ring, X=a=b", "NCCL_ALGO=Ring, X=a=b"},
            {"run.environment", R"({"X": "a,b"})", R"({"X":"a,b"})"}, {"name", "[draft", "[draft"},
            {"budget.price_per_gpu_hour", "2.5", "2.5"}, {"run.checkpoint.path", "/ckpt", "/ckpt"}})
        EXPECT_EQ(typed(none, path, text), shown) << path << " = " << text;
}

TEST_F(AnyFields, WhatIsNoValueIsSaidAndChangesNothing)
{
    const Plan none = plan();
    EXPECT_THAT(typed(none, "run.steps", "many"), HasSubstr("run.steps: found \"many\", expected an integer"));
    EXPECT_THAT(typed(none, "run.steps", "0"), HasSubstr("expected at least 1"));
    EXPECT_THAT(typed(none, "run.deterministic", "perhaps"), HasSubstr("found \"perhaps\""));
    EXPECT_THAT(typed(none, "run.betas", "0.9"), HasSubstr("expected a list of two numbers"));
    EXPECT_THAT(typed(none, "layout.order", "tp, tp"), HasSubstr("layout.order"));
    EXPECT_THAT(typed(none, "run.environment", "=x"), HasSubstr("run.environment"));
    EXPECT_THAT(typed(none, "run.lr_schedule", "wavy"), HasSubstr("expected one of"));
    EXPECT_THAT(typed(none, "run.nothing", "1"), HasSubstr("no such field"));
}

// An empty line takes a field out of the file; what holds then is shown beside it.
TEST_F(AnyFields, ComeBackToTheirDefault)
{
    const Plan written = plan(R"(, "run": {"lr": 0.1})");
    const Expected<Plan> usual = with_any_field(written, "run.lr", "");
    ASSERT_TRUE(usual) << usual.error().line();
    EXPECT_TRUE(value_at(usual->document, "run.lr").is_null());
    const auto resolved = resolve(*usual, Presets());
    ASSERT_TRUE(resolved) << resolved.error().line();
    const auto fields = any_fields(*usual, &*resolved);
    const auto lr = std::ranges::find(fields, "run.lr", &AnyField::path);
    EXPECT_EQ(lr->written, "");
    EXPECT_EQ(lr->otherwise, "0.0003");
    EXPECT_THAT(lr->help, HasSubstr("Learning rate"));
    const auto fixed = std::ranges::find(fields, "run.deterministic", &AnyField::path);
    EXPECT_EQ(fixed->choices, (std::vector<std::string>{"yes", "no"}));
}

// Each key of the table that can be written in this plan is there, and none twice.
TEST_F(AnyFields, AreAllOfTheTable)
{
    const auto paths = [](const Plan& plan) {
        std::vector<std::string> out;
        for (const AnyField& field : any_fields(plan, nullptr))
            out.push_back(field.path);
        return out;
    };
    const std::vector<std::string> none = paths(plan());
    for (const Field& field : plan_fields()) {
        const bool leaf = field.type != FieldType::object && field.type != FieldType::open_object;
        const bool expected = leaf && field.path != "fourfold_plan" && !field.path.starts_with("cluster.")
            && field.path.find("[]") == std::string::npos;
        EXPECT_EQ(std::ranges::count(none, field.path), expected ? 1 : 0) << field.path;
    }
    const std::vector<std::string> own = paths(plan(R"(, "run": {"data": [{"path": "a.bin"}, {"path": "b.bin"}]})"));
    EXPECT_EQ(std::ranges::count(own, "run.data.1.weight"), 1);
    EXPECT_EQ(std::ranges::count(own, "run.data.2.weight"), 0);
    Plan cluster = plan();
    cluster.document["cluster"] = {{"gpu", "h100-sxm"}, {"gpus_per_node", 8}};
    EXPECT_EQ(std::ranges::count(paths(cluster), "cluster.inter_node.bandwidth_gb_s"), 1);
    EXPECT_EQ(std::ranges::count(paths(cluster), "cluster.gpu.memory_gib"), 0) << "a preset's";
}

TEST_F(AnyFields, TokenFilesAreNamedInALine)
{
    file("a.bin", "0123");
    file("more/b.txt", "text");
    const Plan none = plan();
    EXPECT_EQ(typed(none, "run.data", "a.bin, more/b.txt"), "a.bin, more/b.txt");
    const Plan mixed = plan(R"(, "run": {"data": [{"path": "a.bin", "weight": 3}]})");
    const Expected<Plan> both = with_any_field(mixed, "run.data", "more/b.txt,a.bin");
    ASSERT_TRUE(both) << both.error().line();
    EXPECT_EQ(value_at(both->document, "run.data"),
        Json::parse(R"([{"path": "more/b.txt"}, {"path": "a.bin", "weight": 3}])"))
        << "a file keeps its share";
    EXPECT_EQ(typed(*both, "run.data.1.weight", "0.5"), "0.5");
    EXPECT_EQ(typed(*both, "run.data.1.range", "0, 0.9"), "0, 0.9");
    EXPECT_EQ(typed(mixed, "run.data", ""), "");

    EXPECT_THAT(typed(none, "run.data", "lost.bin"), HasSubstr("the file \"lost.bin\" does not exist"));
    EXPECT_THAT(typed(none, "run.data", "more"), HasSubstr("\"more\" is a folder, expected a file"));
    EXPECT_THAT(typed(none, "run.data", "a.bin,,b"), HasSubstr("the name of a file on either side of each comma"));
    file("odd.bin", "012");
    EXPECT_THAT(typed(none, "run.data", "odd.bin"), HasSubstr("odd.bin"));
    EXPECT_NE(typed(none, "run.data", "odd.bin"), "odd.bin") << "three bytes are no tokens of two";
    file("empty.bin", "");
    EXPECT_THAT(typed(none, "run.data", "empty.bin"), HasSubstr("holds no tokens"));

    // Below the plan's folder a name moves with it.
    EXPECT_EQ(data_name(none, folder_.path() / "more/b.txt"), "more/b.txt");
    EXPECT_EQ(data_name(none, "/elsewhere/c.bin"), "/elsewhere/c.bin");
    file("x, y.bin", "01");
    const Expected<Plan> comma = with_any_field(none, "run.data", R"([{"path": "x, y.bin"}])");
    ASSERT_TRUE(comma) << comma.error().line();
    EXPECT_EQ(data_text(value_at(comma->document, "run.data")), R"([{"path":"x, y.bin"}])");
}

} // namespace
} // namespace fourfold::view
