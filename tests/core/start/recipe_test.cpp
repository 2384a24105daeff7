// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes: plans that run, steps that name what is there, curves that are those of their sources.
#include "core/start/recipe.h"

#include "core/base/input_file.h"
#include "core/layout/batch_ramp.h"
#include "core/plan/trainable.h"
#include "core/predict/prediction.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <fstream>

namespace fourfold {
namespace {

using testing::HasSubstr;

struct Known {
    Recipe recipe;
    ResolvedPlan plan;
};

Known known(const std::string& id)
{
    const Presets presets;
    Expected<Recipe> recipe = read_recipe(id, presets);
    EXPECT_TRUE(recipe) << (recipe ? "" : recipe.error().line());
    Expected<ResolvedPlan> plan = resolve(recipe->plan, presets);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().line());
    return {*std::move(recipe), *std::move(plan)};
}

std::string commands(const Recipe& recipe)
{
    std::string all;
    for (const RecipeStep& step : recipe.steps)
        all += step.command + "\n";
    return all;
}

TEST(Recipes, EachPlanIsSoundFitsAndIsTakenByTheTrainer)
{
    ASSERT_EQ(recipe_ids(Presets()), (std::vector<std::string>{"gpt-1.5b-h100-8", "gpt2-124m", "story-15m"}));
    for (const std::string& id : recipe_ids(Presets())) {
        const auto [recipe, plan] = known(id);
        EXPECT_TRUE(recipe.plan.unknown_keys.empty()) << id;
        EXPECT_TRUE(check(plan).empty()) << id;
        const std::vector<Reason> limits = trainer_limits(plan);
        EXPECT_TRUE(limits.empty()) << id << ": " << (limits.empty() ? "" : limits.front().message);
        const Prediction prediction = predict(plan);
        EXPECT_EQ(prediction.fit, Fit::fits) << id << " " << prediction.memory_device_gib.value_or(0);
        ASSERT_TRUE(prediction.step_time_s) << id;
        // Modest: a day at most.
        EXPECT_LT(total_steps(plan.training, plan.run) * *prediction.step_time_s, 24 * 3600.0) << id;
    }
    EXPECT_NEAR(known("story-15m").plan.model.parameters(), 15.7e6, 0.1e6);
    EXPECT_NEAR(known("gpt2-124m").plan.model.parameters(), 124.4e6, 0.1e6);
    EXPECT_NEAR(known("gpt-1.5b-h100-8").plan.model.parameters(), 1.55e9, 0.01e9);
    // "under an hour", as the recipe says
    const ResolvedPlan story = known("story-15m").plan;
    EXPECT_LT(predict(story).step_time_s.value_or(1e9) * total_steps(story.training, story.run), 3600.0);
}

// From nothing to a model: the file that is packed is the one that the plan trains on, the scripts are there.
TEST(Recipes, StepsLeadFromATextToAModel)
{
    for (const std::string& id : recipe_ids(Presets())) {
        const auto [recipe, plan] = known(id);
        const std::string all = commands(recipe);
        const std::vector<std::string> words{"fourfold recipe " + id + " --output ", "--tokenizer tokenizer",
            "fourfold run " + id + ".plan.json", "fourfold recipe " + id + " --run last",
            "fourfold-trainer --export checkpoints", "fourfold-trainer --generate "};
        for (const std::string& word : words)
            EXPECT_THAT(all, HasSubstr(word)) << id;
        ASSERT_FALSE(plan.run.data.empty());
        const std::string tokens = plan.run.data.front().path;
        ASSERT_TRUE(tokens.ends_with(".bin")) << tokens;
        EXPECT_THAT(all, HasSubstr(" --output " + tokens.substr(0, tokens.size() - 4) + "\n")) << id;
        EXPECT_FALSE(plan.run.eval.data.empty()) << "nothing to lay beside the expected losses";
        for (const std::string& file : recipe.files) {
            EXPECT_TRUE(recipe_file(file)) << file;
            EXPECT_THAT(all, HasSubstr("python3 " + file + " ")) << id;
        }
    }
    EXPECT_FALSE(recipe_file("nothing.py"));
}

// What the guide tells is what the recipes hold.
TEST(Recipes, TheGuideHasEveryStep)
{
    const auto chapter = read_text_file(std::filesystem::path(FOURFOLD_SOURCE_DIR) / "resources/guide/23-recipes.md");
    ASSERT_TRUE(chapter);
    for (const std::string& id : recipe_ids(Presets())) {
        const auto [recipe, plan] = known(id);
        EXPECT_THAT(*chapter, HasSubstr(commands(recipe))) << id;
        for (const LossCurve& curve : recipe.curves)
            EXPECT_THAT(*chapter, HasSubstr(curve.name)) << id;
    }
}

TEST(Recipes, CurvesFallAndCoverTheRun)
{
    for (const std::string& id : recipe_ids(Presets())) {
        const auto [recipe, plan] = known(id);
        const double tokens = total_steps(plan.training, plan.run) * plan.tokens_per_step();
        for (const LossCurve& curve : recipe.curves) {
            EXPECT_FALSE(curve.source.empty());
            for (std::size_t i = 1; i < curve.points.size(); ++i)
                EXPECT_LE(curve.points[i].loss, curve.points[i - 1].loss) << id << " " << i;
            EXPECT_TRUE(curve.at(tokens)) << id << ": the curve ends before the run";
            EXPECT_LT(curve.points.front().loss, std::log(double(plan.model.vocab))) << "no better than chance";
        }
    }
    // The ends that the sources print.
    EXPECT_EQ(known("gpt2-124m").recipe.curves.front().points.back().loss, 3.2722);
    EXPECT_EQ(known("gpt-1.5b-h100-8").recipe.curves.front().points.back().loss, 2.7737);
}

// Equation 1.5 of arXiv:2001.08361, for tokens of this text: of so many bytes each instead of WebText2's.
TEST(Recipes, TheStoryModelsLawIsThePublishedOne)
{
    const auto [recipe, plan] = known("story-15m");
    const double parameters = plan.model.parameters() - double(plan.model.vocab * plan.model.hidden);
    const double bytes = 3.66 / (96e9 / 2.29e10); // a token of this text, in WebText2's
    const auto law = std::ranges::find_if(
        recipe.curves, [](const LossCurve& curve) { return curve.source.find("2001.08361") != std::string::npos; });
    ASSERT_NE(law, recipe.curves.end());
    for (const LossPoint& point : law->points) {
        const double sum = std::pow(6.4e13 / parameters, 0.076 / 0.103) + 1.8e13 / (point.tokens * bytes);
        EXPECT_NEAR(point.loss, std::pow(sum, 0.103) * bytes, 1e-3) << point.tokens;
    }
}

TEST(Recipes, BetweenPointsALineOverTheLogarithm)
{
    const LossCurve curve{"", "", "", {{100, 4}, {10'000, 2}}};
    EXPECT_EQ(curve.at(100), 4);
    EXPECT_EQ(curve.at(10'000), 2);
    EXPECT_NEAR(curve.at(1000).value_or(0), 3, 1e-12);
    EXPECT_FALSE(curve.at(99));
    EXPECT_FALSE(curve.at(10'001));
    EXPECT_FALSE(curve.at(NAN));
}

TEST(Recipes, ARunFollowsTheRecipeOfItsModelBatchAndRate)
{
    const Presets presets;
    const auto with = [&](const std::vector<std::string>& assignments) {
        Plan plan = known("gpt2-124m").recipe.plan;
        for (const std::string& assignment : assignments)
            plan = with_assignment(plan, assignment).value();
        const auto resolved = resolve(plan, presets);
        EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().line());
        const auto followed = recipe_followed(*resolved, presets);
        return followed ? followed->id : "none";
    };
    EXPECT_EQ(with({}), "gpt2-124m");
    EXPECT_EQ(with({"gpus=8", "layout.dp=8", "training.precision=fp32", "run.steps=100"}), "gpt2-124m");
    EXPECT_EQ(with({"training.global_batch=256"}), "none");
    EXPECT_EQ(with({"run.lr=0.001"}), "none");
    EXPECT_EQ(with({"model=gpt2-xl"}), "none");
}

// Who asks at every edit of a plan waits for the files once.
TEST(Recipes, AreReadOnceUntilTheirFilesChange)
{
    const test::TemporaryFolder folder;
    const std::filesystem::path source = std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets";
    std::filesystem::create_directories(folder.path() / "recipes");
    const std::filesystem::path file = folder.path() / "recipes/gpt2-124m.json";
    std::filesystem::copy_file(source / "recipes/gpt2-124m.json", file);
    const Presets presets({folder.path(), source});
    const ResolvedPlan plan = known("gpt2-124m").plan;
    const auto rename = [&](const char* name) {
        Json json = Json::parse(*read_text_file(file));
        json["name"] = name;
        std::ofstream(file) << json;
    };
    const std::string before = recipe_followed(plan, presets)->name;
    const auto written = std::filesystem::last_write_time(file);
    rename("another");
    std::filesystem::last_write_time(file, written);
    EXPECT_EQ(recipe_followed(plan, presets)->name, before) << "it was read again";
    std::filesystem::last_write_time(file, written + std::chrono::seconds(1));
    EXPECT_EQ(recipe_followed(plan, presets)->name, "another");
}

TEST(Recipes, DamagedOnesSayWhatIsWrong)
{
    const test::TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "recipes");
    const auto problem = [&](const Json& change) {
        Json json = Json::parse(
            *read_text_file(std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets/recipes/story-15m.json"));
        json.merge_patch(change);
        std::ofstream(folder.path() / "recipes/story-15m.json") << json;
        const auto read = read_recipe(
            "story-15m", Presets({folder.path(), std::filesystem::path(FOURFOLD_SOURCE_DIR) / "presets"}));
        return read ? "" : read.error().line();
    };
    EXPECT_EQ(problem(Json::object()), "");
    EXPECT_THAT(problem({{"name", nullptr}}), HasSubstr("name"));
    EXPECT_THAT(problem({{"steps", Json::array()}}), HasSubstr("steps"));
    EXPECT_THAT(problem({{"files", {"../x.py"}}}), HasSubstr("files"));
    const auto curve = [](const Json& points) {
        return Json{{"curves", {{{"name", "a"}, {"source", "b"}, {"points", points}}}}};
    };
    EXPECT_EQ(problem(curve({{1, 3}, {2, 2}})), "");
    EXPECT_THAT(problem(curve({{1, 3}})), HasSubstr("at least two"));
    EXPECT_THAT(problem(curve({{2, 3}, {1, 2}})), HasSubstr("no more than"));
    EXPECT_THAT(problem(curve({{1, 3}, {2, -2}})), HasSubstr("above 0"));
    EXPECT_THAT(problem(curve({{1, 3}, {2, "x"}})), HasSubstr("pairs"));
}

} // namespace
} // namespace fourfold
