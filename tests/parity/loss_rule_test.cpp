// SPDX-License-Identifier: GPL-3.0-or-later
// What a run does about losses and gradient norms that stand out: what it promises, what it does.
#include "runner/trainer/data/sampler.h"
#include "runner/trainer/metrics/loss_rule.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

namespace fourfold::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trainer::LossRule;

// A loss of mean 2 and standard deviation 0.1 (by n - 1, of an even number of steps), a norm of 1.
LossRule after(int steps, const WatchSettings& settings)
{
    LossRule rule(settings, false);
    const double swing = 0.1 * std::sqrt((steps - 1) / double(steps));
    for (int i = 0; i < steps; ++i)
        EXPECT_FALSE(rule.look(2 + (i % 2 == 0 ? swing : -swing), 1)) << i;
    return rule;
}

TEST(LossRule, ComparesWithTheStepsBefore)
{
    WatchSettings settings;
    settings.sigma = 5;
    EXPECT_FALSE(after(40, settings).look(2.499, 1));
    auto rule = after(40, settings);
    const auto found = rule.look(2.501, 1);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->of, "loss");
    EXPECT_EQ(found->action, SpikeAction::warn);
    EXPECT_NEAR(*found->mean, 2, 1e-12);
    EXPECT_NEAR(*found->limit, 2.5, 1e-12);
    EXPECT_EQ(found->message,
        "the loss 2.501 stands out of the last 40 steps (mean 2, limit 2.5); the run goes on (run.watch.spike)");
    // A hundredth more of the norm, which has not moved so far; a loss that falls is welcome.
    EXPECT_FALSE(after(40, settings).look(0.5, std::exp(0.0099)));
    const auto of_norm = after(40, settings).look(2, std::exp(0.0101));
    ASSERT_TRUE(of_norm);
    EXPECT_EQ(of_norm->of, "grad_norm");
    // Too few steps say nothing.
    EXPECT_FALSE(after(18, settings).look(100, 100));
    settings.spike = SpikeAction::ignore;
    EXPECT_FALSE(after(40, settings).look(100, 100));
}

TEST(LossRule, WhatIsLeftOutIsNoMeasure)
{
    WatchSettings settings;
    settings.spike = SpikeAction::skip;
    auto skips = after(40, settings);
    EXPECT_TRUE(skips.look(9, 1));
    EXPECT_TRUE(skips.look(9, 1)) << "as the first";
    settings.spike = SpikeAction::warn;
    auto warns = after(40, settings);
    EXPECT_TRUE(warns.look(9, 1));
    EXPECT_FALSE(warns.look(7, 1)) << "the run has seen one";
    settings.window = 20;
    LossRule rule = after(20, settings);
    for (int i = 0; i < 20; ++i)
        (void)rule.look(9 + 0.01 * (i % 2), 1);
    EXPECT_NEAR(*rule.look(11, 1)->mean, 9.005, 1e-9) << "the window has moved on";
}

TEST(LossRule, NotFiniteIsFoundAtOnce)
{
    WatchSettings settings;
    LossRule rule(settings, false);
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    EXPECT_EQ(rule.look(nan, 1)->action, SpikeAction::skip);
    EXPECT_EQ(rule.look(1, infinite)->of, "grad_norm");
    settings.not_finite = NotFiniteAction::stop;
    EXPECT_EQ(LossRule(settings, false).look(nan, nan)->action, SpikeAction::stop);
}

TEST(LossRule, PromisesWhatItDoes)
{
    EXPECT_THAT(LossRule({}, false).promises(),
        ElementsAre("Where the loss or the gradient norm is not finite, the step's update is left out.",
            "Where the loss or the gradient norm is more than 6 standard deviations above the last 100 steps (from the "
            "21st step on), there is a warning."));
    WatchSettings settings{NotFiniteAction::stop, SpikeAction::ignore, 6, 100};
    EXPECT_THAT(LossRule(settings, true).promises(),
        ElementsAre(
            HasSubstr("the run ends before the step's update."), HasSubstr("fp16"), HasSubstr("not looked for")));
    settings.spike = SpikeAction::stop; // of an optimizer in the backward pass
    EXPECT_THAT(LossRule(settings, false, true).promises(),
        ElementsAre(HasSubstr("the run ends after the step's update."), HasSubstr("the run ends after its update.")));
}

void write_text(const std::filesystem::path& path, const std::vector<int64_t>& tokens)
{
    std::ofstream file(path, std::ios::binary);
    for (const int64_t token : tokens)
        file.put(static_cast<char>(token)).put(0);
    ASSERT_TRUE(file.flush());
}

// One token over and over, but for the window of the run's first sample in `step`: whatever computes it, the loss of
// that step stands out, and hardly another sample reaches into that window.
void write_text_with_a_strange_page(const std::filesystem::path& path, const ResolvedPlan& plan, int step)
{
    constexpr int64_t kDigit = 61, kTokens = kDigit * kDigit * kDigit;
    const Training& training = plan.training;
    std::vector<int64_t> text(kTokens), seen(std::size_t(training.seq_len)), labels = seen;
    int64_t begin = 0;
    for (int64_t weight = 1; weight < kTokens; weight *= kDigit) { // a digit of each place is its token
        for (int64_t place = 0; place < kTokens; ++place)
            text[std::size_t(place)] = place / weight % kDigit;
        write_text(path, text);
        const auto sampler
            = *trainer::Sampler::open(plan.run.data, {""}, plan.run.seed, training.seq_len, plan.model.vocab);
        ASSERT_TRUE(
            sampler.sample(int64_t(step) * training.global_batch, training.global_batch, {seen.data(), labels.data()}));
        begin += seen[0] * weight;
    }
    std::ranges::fill(text, 7);
    for (int64_t i = 0; i <= training.seq_len; ++i)
        text[std::size_t(begin + i)] = i * i % kDigit;
    write_text(path, text);
}

// What two ranks do about a step that stands out, and say before.
TEST(Watch, ARunDoesWhatItSaid)
{
    const TemporaryFolder folder;
    const auto tokens = write_tokens(folder.path());
    const std::vector<std::string> settings{"run.steps=60", "run.lr=0.01", "run.lr_schedule=\"constant\"",
        "run.eval.data=[]", "gpus=2", "layout.dp=2", "run.watch.sigma=3", "run.watch.window=20"};
    write_text_with_a_strange_page(tokens, tiny_plan(tokens, settings), 52);
    const auto run = [&](const std::string& action) {
        auto assignments = settings;
        assignments.push_back("run.watch.spike=\"" + action + "\"");
        return train(tiny_plan(tokens, assignments), folder.path() / action);
    };
    const auto ignored = run("ignore"), warned = run("warn"), skipped = run("skip"), stopped = run("stop");
    EXPECT_EQ(ignored.problem + warned.problem + skipped.problem, "");
    EXPECT_THAT(ignored.warnings, IsEmpty());
    EXPECT_THAT(warned.warnings, Contains(HasSubstr("stands out")));
    EXPECT_EQ(warned.losses, ignored.losses) << "a warning changes nothing";
    EXPECT_THAT(skipped.warnings, Contains(HasSubstr("the update was left out (run.watch.spike)")));
    EXPECT_GT(skipped.steps.at(60)["skipped_steps"].get<int>(), 0);
    EXPECT_EQ(skipped.steps.at(60)["nan_steps"], 0);
    EXPECT_THAT(stopped.problem, HasSubstr("the run ends before the update (run.watch.spike is stop)"));
    ASSERT_FALSE(stopped.errors.empty());
    EXPECT_EQ(stopped.errors[0]["kind"], "fail");
    EXPECT_LT(stopped.steps.size(), 60u);
    EXPECT_GT(ignored.losses.at(53), 3 * ignored.losses.at(52)) << "the test's own page";
}

} // namespace
} // namespace fourfold::testing
