// SPDX-License-Identifier: GPL-3.0-or-later
// A user's calibration: what it reports, what it saves, how it is found again.
#include "core/base/paths.h"
#include "core/calibration/user/calibrate.h"
#include "core/calibration/user/user_preset.h"
#include "tests/core/calibration/fit/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace fourfold::test {
namespace {

using testing::HasSubstr;

// The user's folders, empty, for one test.
class Calibrate : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = (std::filesystem::temp_directory_path() / "fourfold-calibrate-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    }
    void TearDown() override
    {
        ::unsetenv("XDG_CONFIG_HOME");
        std::filesystem::remove_all(folder_);
    }
    static CalibrationRequest request(std::size_t rows = 100)
    {
        CalibrationRequest request;
        request.stack = "generic";
        request.rows = measured(generic_with({{"gemm_efficiency", 0.6}}));
        request.rows.resize(std::min(rows, request.rows.size()));
        request.source = "rows of a test";
        return request;
    }
    std::filesystem::path folder_;
};

TEST_F(Calibrate, ReportsWhatImprovedAndWhatItCouldNotDetermine)
{
    const Calibration calibration = must(calibrate(Presets(), request()));
    ASSERT_TRUE(calibration.left_out);
    EXPECT_LT(calibration.left_out->time, calibration.fit.before.time / 4);
    const std::string text = to_text(calibration);
    EXPECT_THAT(text, HasSubstr("left out"));
    EXPECT_THAT(text, HasSubstr("gemm_efficiency"));
    const std::size_t unseen = text.find("no run depends on them");
    ASSERT_NE(unseen, std::string::npos);
    EXPECT_THAT(text.substr(unseen), HasSubstr("fp8_gain"));
    const Json json = to_json(calibration);
    EXPECT_LT(json["after"]["time_error"].get<double>(), json["before"]["time_error"].get<double>());
    EXPECT_EQ(json["constants"].size(), calibration.fit.constants.size());
}

TEST_F(Calibrate, OneRunIsEnoughButLeavesNothingOut)
{
    const Calibration calibration = must(calibrate(Presets(), request(1)));
    EXPECT_FALSE(calibration.left_out);
    EXPECT_FALSE(calibration.undetermined().empty());
    EXPECT_THAT(to_text(calibration), HasSubstr("too few runs to leave one out"));
}

TEST_F(Calibrate, SavesAPresetThatPlansCanName)
{
    const Presets presets;
    const Calibration calibration = must(calibrate(presets, request()));
    const auto file = must(save_preset(calibration, "", presets));
    EXPECT_EQ(file, folder_ / "fourfold" / "presets" / "stacks" / "generic-calibrated.json");
    const Stack saved = must(presets.stack("generic-calibrated"));
    EXPECT_TRUE(saved.calibrated_for("h100-80gb-sxm"));
    EXPECT_NEAR(saved.constant("gemm_efficiency", "h100-80gb-sxm", 0), 0.6, 0.05); // the prior says 0.8
    EXPECT_EQ(saved.training_defaults, must(presets.stack("generic")).training_defaults);
    ASSERT_TRUE(saved.base);
    EXPECT_EQ(saved.base->id, "generic");
    EXPECT_FALSE(saved.base->changed);

    // Another fit starts from it, and keeps its name.
    CalibrationRequest again = request();
    again.stack = "generic-calibrated";
    again.rows.front().step_time_s = *again.rows.front().step_time_s * 1.01; // measured once more
    EXPECT_EQ(default_preset_id(must(calibrate(presets, again))), "generic-calibrated");
}

TEST_F(Calibrate, CountsNoRowTwice)
{
    const Presets presets;
    ASSERT_GT(request().rows.size(), 5U);
    ASSERT_TRUE(save_preset(must(calibrate(presets, request(5))), "", presets));

    CalibrationRequest same = request(5);
    same.stack = "generic-calibrated";
    const auto refused = calibrate(presets, same);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().line(), HasSubstr("was fitted to these 5 rows before"));

    CalibrationRequest more = request();
    more.stack = "generic-calibrated";
    const Calibration calibration = must(calibrate(presets, more));
    EXPECT_EQ(calibration.known_rows, 5);
    EXPECT_EQ(calibration.fit.before.time_rows, int(more.rows.size()) - 5);
    EXPECT_EQ(calibration.rows.size(), more.rows.size()) << "old and new ones are known from now on";
    EXPECT_THAT(to_text(calibration),
        HasSubstr("5 rows not counted again: given twice, or the preset was fitted to them before"));

    // What ships starts anew with all of them.
    EXPECT_EQ(must(calibrate(presets, request())).known_rows, 0);
}

TEST_F(Calibrate, TellsWhenTheBaseHasChangedSince)
{
    const Presets presets;
    const auto file = must(save_preset(must(calibrate(presets, request())), "mine", presets));
    Json json = must(read_json_file(file));
    json["base"]["sha256"] = "an older one";
    ASSERT_TRUE(write_file_atomically(file, json.dump(2)));
    EXPECT_TRUE(must(presets.stack("mine")).base->changed);
    const Json plan = {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", "mine"}};
    const ResolvedPlan resolved = must(resolve(must(plan_from_json(plan, "p")), presets));
    EXPECT_THAT(resolved.notes, testing::Contains(HasSubstr("calibrated on an older version of generic")));
}

TEST_F(Calibrate, NeverShadowsAPresetThatShips)
{
    const Presets presets;
    const Calibration calibration = must(calibrate(presets, request(2)));
    for (const char* id : {"generic", "../escape", "", "-x", "a b"}) {
        if (*id == '\0')
            continue;
        const auto saved = save_preset(calibration, id, presets);
        ASSERT_FALSE(saved) << id;
        EXPECT_EQ(saved.error().code, ProblemCode::bad_input);
        EXPECT_FALSE(check_preset_id({}, "generic", id)) << "known before the fit";
    }
    EXPECT_TRUE(check_preset_id({}, "generic", ""));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "fourfold" / "presets" / "stacks"));
}

TEST_F(Calibrate, ReplacesCalibrationsAlone)
{
    const Presets presets;
    const Calibration calibration = must(calibrate(presets, request()));
    const auto file = must(save_preset(calibration, "mine", presets));
    EXPECT_TRUE(save_preset(calibration, "mine", presets));
    ASSERT_TRUE(write_file_atomically(file, R"({"id": "mine"})"));
    const auto saved = save_preset(calibration, "mine", presets);
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().line(), HasSubstr("is a preset of your own that no calibration made"));
    EXPECT_EQ(must(read_text_file(file)), R"({"id": "mine"})");
}

// One row of a release moves that release: every answer for another, and for none, stays to the bit.
TEST_F(Calibrate, OneRowOfAReleaseMovesThatReleaseAlone)
{
    const Presets presets;
    const auto plan = [&](const std::string& stack, int tp = 2) {
        return must(resolve(must(plan_from_json({{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8},
                                                    {"stack", stack}, {"layout", {{"tp", tp}, {"dp", 8 / tp}}}},
                                "test")),
            presets));
    };
    const auto seconds = [&](const std::string& stack, int tp = 2) { return *predict(plan(stack, tp)).step_time_s; };
    const double shipped = seconds("megatron-core");
    CalibrationRequest asked;
    asked.stack = "megatron-core@26.04"; // that no table has
    asked.source = "a test";
    asked.rows.push_back({plan(asked.stack), "row", Outcome::ran, shipped * 1.4, std::nullopt});
    const Calibration calibration = must(calibrate(presets, asked));
    EXPECT_EQ(calibration.stack, "megatron-core");
    EXPECT_EQ(calibration.release, "26.04");
    EXPECT_THAT(to_text(calibration), HasSubstr("release 26.04 alone"));
    EXPECT_EQ(name_in_plans(calibration, "mine"), "mine@26.04");
    ASSERT_TRUE(save_preset(calibration, "mine", presets));
    EXPECT_GT(seconds("mine@26.04"), shipped * 1.25);
    EXPECT_GT(seconds("mine@26.04", 4), seconds("megatron-core", 4) * 1.1) << "and what it was not measured with";
    for (const char* other : {"mine", "mine@26.02", "mine@25.02"})
        EXPECT_EQ(seconds(other), shipped) << other;
    EXPECT_EQ(plan("mine@26.04").stack.unknown_release(), "");
    EXPECT_EQ(predict(plan("mine@26.04")).evidence, Evidence::calibrated);
    EXPECT_GT(seconds("mine@26.05"), shipped * 1.25) << "of an unknown one it is the nearest";

    // Without its name the rows say it, and another release's are left out.
    asked.stack = "megatron-core";
    EXPECT_EQ(must(calibrate(presets, asked)).release, "26.04");
    asked.rows.push_back({plan("megatron-core@25.09"), "other", Outcome::ran, shipped * 2, std::nullopt});
    EXPECT_EQ(must(calibrate(presets, asked)).release, "") << "of several: the stack";
    asked.stack = "megatron-core@26.04";
    const Calibration one = must(calibrate(presets, asked));
    EXPECT_EQ(one.other_rows, 1);
    EXPECT_EQ(one.fit.time_rows, 1);
    EXPECT_THAT(to_text(one), HasSubstr("1 row of other releases left out"));
    asked.rows.erase(asked.rows.begin());
    EXPECT_THAT(calibrate(presets, asked).error().line(), HasSubstr("no measured row of stack megatron-core@26.04"));
    asked.stack = "torchtitan"; // rows of other software say nothing of its releases
    EXPECT_EQ(must(calibrate(presets, asked)).release, "");
}

// A row that is no further off than rows scatter moves nothing.
TEST_F(Calibrate, ARowOfAReleaseWithinTheScatterMovesNothing)
{
    const Presets presets;
    CalibrationRequest asked;
    asked.stack = "megatron-core@25.11";
    asked.rows.push_back(
        {must(resolve(
             must(plan_from_json(
                 {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", 8}, {"stack", asked.stack}}, "test")),
             presets)),
            "row", Outcome::ran, std::nullopt, std::nullopt});
    asked.rows.front().step_time_s = *predict(asked.rows.front().plan).step_time_s * 1.03;
    const Calibration calibration = must(calibrate(presets, asked));
    EXPECT_EQ(calibration.fit.time_share, 0);
    EXPECT_THAT(to_text(calibration), HasSubstr("no constant of time moves"));
}

TEST_F(Calibrate, AClusterKeepsItsLinksForOneStack)
{
    const Presets presets;
    CalibrationRequest asked = request();
    asked.rows = measured(generic_with({{"inter_node_efficiency", 0.3}}));
    asked.cluster = "dgx-h100";
    const Calibration calibration = must(calibrate(presets, asked));
    const auto file = must(save_preset(calibration, "our-h100", presets));
    EXPECT_EQ(file.parent_path().filename(), "clusters");
    const auto efficiency = [&](const char* stack) {
        const Json plan = {{"model", "llama-3.1-8b"}, {"cluster", "our-h100"}, {"gpus", 16}, {"stack", stack}};
        return must(resolve(must(plan_from_json(plan, "p")), presets))
            .stack.constant("inter_node_efficiency", "h100-80gb-sxm", 0);
    };
    EXPECT_LT(efficiency("generic"), 0.8 * must(presets.stack("generic")).constants["inter_node_efficiency"]);
    EXPECT_EQ(
        efficiency("nanotron"), must(presets.stack("nanotron")).constant("inter_node_efficiency", "h100-80gb-sxm", 0));

    asked.cluster = "abci-a";
    EXPECT_FALSE(calibrate(presets, asked)); // no row ran there
}

} // namespace
} // namespace fourfold::test
