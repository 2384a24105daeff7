// SPDX-License-Identifier: GPL-3.0-or-later
// Widths of intervals on data that had no part in them.
#include "core/calibration/widths.h"
#include "core/stack/constants.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fourfold::test {
namespace {

// About normal, the same with every standard library.
double normal(std::mt19937& random)
{
    double sum = 0;
    for (int i = 0; i < 12; ++i)
        sum += double(random()) / 4294967296.0;
    return sum - 6;
}

TEST(Widths, EveryGroupCountsTheSame)
{
    std::vector<GroupedError> errors(90, {"large", 0.01});
    for (int i = 0; i < 3; ++i)
        errors.push_back({"small", 0.3});
    EXPECT_EQ(grouped_width(errors), 0.3) << "half of the groups, not 3 of 93 rows";
    EXPECT_EQ(grouped_width(errors, 0.4), 0.01);
    EXPECT_EQ(grouped_width({}), 0);
}

TEST(Widths, FewGroupsAreWidenedAndDrawnTowardsTheUsual)
{
    const std::vector<GroupedError> one{{"a", 0.1}, {"a", -0.1}};
    EXPECT_NEAR(predictive_width(one), 0.1 * std::sqrt(2), 1e-12);
    EXPECT_NEAR(predictive_width(one, 0.3), std::sqrt((0.02 + kUsualGroups * 0.09) / (1 + kUsualGroups)), 1e-12);
    EXPECT_EQ(predictive_width({}, 0.2), 0.2);
    std::vector<GroupedError> many;
    for (int i = 0; i < kManyGroups; ++i)
        many.push_back({std::to_string(i), i + 1.0});
    EXPECT_NEAR(predictive_width(many, 100), 18.9, 1e-9) << "conformal: the 21 * 0.9th of 20";
}

// Two sources of 0.01 and 0.03 on average, whatever their rows: 2.920 is Student's t for two degrees of freedom.
TEST(Widths, EffectsOfFewGroupsAreASampleFromOneDistribution)
{
    EXPECT_NEAR(effect_width({{"a", 0.01}, {"b", 0.02}, {"b", 0.04}}), 2.920 * std::sqrt(0.02 * 1.5), 1e-9);
    EXPECT_EQ(effect_width({{"a", -0.01}, {"b", 0.005}}), 0) << "all is accounted for";
    EXPECT_EQ(effect_width({}), 0);
    std::vector<GroupedSquare> many;
    for (int i = 0; i < 1000; ++i)
        many.push_back({std::to_string(i), 0.04});
    EXPECT_NEAR(effect_width(many), 1.6449 * 0.2, 1e-3);
}

TEST(Widths, WhatIsBeyondAddsUpInSquares)
{
    EXPECT_NEAR(beyond(0.5, 0.3), 0.4, 1e-12);
    EXPECT_NEAR(beyond(-0.5, 0.3), 0.4, 1e-12);
    EXPECT_EQ(beyond(0.2, 0.3), 0);
}

// Sources with an effect of their own on top of what their rows scatter; the software of each was fitted to its rows,
// so that left out it knows the effect, and `generic` does not.
std::vector<OuterError> synthetic(unsigned seed, double effect, double scatter)
{
    std::mt19937 random(seed);
    std::vector<OuterError> errors;
    for (int source = 0; source < 8; ++source) {
        const std::string name = "source " + std::to_string(source);
        const double own = effect * normal(random);
        for (int row = 0; row < 60; ++row) {
            OuterError error{OuterError::Kind::left_out, name, "stack of " + name, "gpu",
                name + " group " + std::to_string(row % 6), Band(row % 3), false, scatter * normal(random)};
            errors.push_back(error);
            error.kind = OuterError::Kind::unmeasured;
            error.stack = "generic";
            error.error += own;
            errors.push_back(error);
        }
    }
    return errors;
}

TEST(Widths, HoldSourcesThatHadNoPartInThem)
{
    double held = 0, wide = 0, left_out = 0;
    constexpr int kTrials = 12;
    for (unsigned seed = 1; seed <= kTrials; ++seed) {
        for (const Coverage& coverage : nested_coverage(synthetic(seed, 0.15, 0.05))) {
            const bool unmeasured = coverage.name.starts_with("software never measured");
            (unmeasured ? held : left_out) += *coverage.crossed / (3 * kTrials);
            wide += unmeasured ? coverage.width / (3 * kTrials) : 0;
        }
    }
    EXPECT_GT(held, 0.85);
    EXPECT_LT(held, 0.97);
    EXPECT_GT(left_out, 0.87);
    EXPECT_LT(left_out, 0.97);
    EXPECT_LT(wide, 1.5 * 1.645 * std::hypot(0.15, 0.05)) << "and are not far wider than they must be";
}

// Chips that a software never ran on, each with an error of its own; GPUs of a chip that it did run on have none.
TEST(Widths, WhatANewChipAddsIsNoOthers)
{
    std::mt19937 random(7);
    std::vector<OuterError> errors;
    for (int chip = 0; chip < 12; ++chip) {
        const double own = chip % 2 == 0 ? 0.4 : -0.4;
        for (int row = 0; row < 40; ++row) {
            OuterError error;
            error.kind = OuterError::Kind::elsewhere;
            error.source = "source " + std::to_string(row % 4);
            error.stack = "stack";
            error.generation = "chip " + std::to_string(chip);
            error.gpu = error.generation + (row % 2 == 0 ? ", much memory" : ", little");
            error.group = error.gpu;
            error.new_gpu = error.new_generation = true;
            error.error = own + 0.02 * normal(random);
            errors.push_back(error);
            error.new_generation = false;
            error.error -= own;
            errors.push_back(error);
        }
    }
    const Widths widths = widths_of(errors);
    EXPECT_GT(widths.gpu, 0.3);
    OuterError error = errors[0];
    EXPECT_NEAR(widths.of(error), std::hypot(widths.elsewhere, widths.gpu), 1e-12);
    error.new_generation = false;
    EXPECT_NEAR(widths.of(error), widths.elsewhere, 1e-12);
    for (const Coverage& coverage : nested_coverage(errors))
        EXPECT_GT(*coverage.crossed, 0.85) << coverage.name;
}

// A mixture of experts that is well predicted, measured whole and cut to fewer layers four times, is one model: it must
// not hide behind its cuts that another is half wrong.
TEST(Widths, CutsOfOneMixtureAreOneModel)
{
    std::vector<OuterError> errors;
    const auto add = [&](const char* family, const char* group, double error) {
        for (const double sign : {1, -1}) {
            OuterError row;
            row.source = "source";
            row.stack = "stack";
            row.gpu = "gpu";
            row.experts = true;
            row.family = family;
            row.group = group;
            row.error = sign * error;
            errors.push_back(row);
        }
    };
    for (const char* gpu : {"1", "2", "3", "4", "5", "6", "7", "8"})
        add(gpu, gpu, 0.01);
    add("wrong", "wrong", 0.6);
    const double alone = widths_of(errors).experts_of.at("stack");
    EXPECT_GT(alone, 0.5) << "one of nine";
    for (const char* cut : {"2 layers", "4 layers", "8 layers", "16 layers"})
        add("1", cut, 0.01);
    EXPECT_EQ(widths_of(errors).experts_of.at("stack"), alone);
}

TEST(Widths, WhatASourceAddsIsFoundAgain)
{
    const Widths widths = widths_of(synthetic(3, 0.3, 0.02));
    EXPECT_NEAR(widths.usual[0], 0.02 * 1.645, 0.02);
    EXPECT_GT(widths.unmeasured, 0.25);
    OuterError error;
    error.kind = OuterError::Kind::unmeasured;
    EXPECT_NEAR(widths.of(error), std::hypot(widths.usual[0], widths.unmeasured), 1e-12);
    error.experts = true;
    EXPECT_EQ(widths.experts, info(Constant::interval_experts).prior) << "none was measured: what was believed before";
    EXPECT_EQ(widths_of(synthetic(3, 0, 0.02)).elsewhere, info(Constant::interval_elsewhere).prior);
}

} // namespace
} // namespace fourfold::test
