// SPDX-License-Identifier: GPL-3.0-or-later
// A short slice of the example: real text, TP 2 x DP 2, the event stream of the contract.
#include "tests/parity/event_schema.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;

TEST(Corpus, SliceOfTheExampleLearnsAndReports)
{
    const TemporaryFolder folder;
    const auto plan = example_plan({"run.steps=12", "training.global_batch=8", "training.micro_batch=2",
        "run.log_every=2", "run.eval.every=6", "run.eval.batches=1", "run.warmup_steps=2"});
    ASSERT_TRUE(check(plan).empty());
    Ranks ranks(4, {trainer_program(), "--plan", write_plan(plan, folder.path()), "--run-dir", folder.path()},
        folder.path(), {{"FOURFOLD_RUN", "slice"}});
    ASSERT_EQ(ranks.wait(200s), std::vector<int>(4, 0)) << ranks.log(0) << ranks.log(3);

    const auto events = ranks.events(0);
    ASSERT_EQ(events.size(), 1u + 6u + 2u + 1u) << "start, steps, evaluations and the trace of a step";
    const Json& start = events[0];
    EXPECT_EQ(start["event"], "start");
    EXPECT_EQ(start["run"], "slice");
    EXPECT_EQ(start["plan_hash"], plan_hash(plan));
    EXPECT_EQ(start["mesh"]["tp"], 2);
    EXPECT_EQ(start["mesh"]["dp"], 2);
    EXPECT_EQ(start["hosts"].size(), 4u);
    EXPECT_EQ(start["versions"]["torch"], "2.11.0");
    for (const char* key : {"hardware", "environment", "hosts", "versions"})
        EXPECT_TRUE(start.contains(key)) << key;

    std::vector<Json> steps, evaluations;
    for (const Json& event : events) {
        EXPECT_EQ(event["rank"], 0);
        EXPECT_EQ(schema_violation(event), "");
        EXPECT_EQ(event["time"].get<std::string>().size(), std::string("2026-01-01T00:00:00.000Z").size());
        if (event["event"] == "step")
            steps.push_back(event);
        if (event["event"] == "eval")
            evaluations.push_back(event);
    }
    ASSERT_EQ(steps.size(), 6u);
    ASSERT_EQ(evaluations.size(), 2u);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Json& step = steps[i];
        for (const char* key : {"loss", "grad_norm", "learning_rate", "step_time_s", "tps_per_gpu", "tflops_per_gpu",
                 "mfu", "memory_peak_gib", "tokens", "samples", "global_batch", "loss_scale", "skipped_steps",
                 "nan_steps", "data_time_s"})
            EXPECT_TRUE(step.contains(key) && step[key].is_number()) << key << ": " << step;
        for (const char* key : {"memory_peak_gib", "step_time_s"}) {
            const Json& spread = step["ranks"][key];
            EXPECT_LE(spread["min"].get<double>(), spread["median"].get<double>()) << step;
            EXPECT_LE(spread["median"].get<double>(), spread["max"].get<double>()) << step;
            EXPECT_GE(spread["worst_rank"].get<int>(), 0) << step;
            EXPECT_LT(spread["worst_rank"].get<int>(), 4) << step;
        }
        EXPECT_EQ(step["ranks"]["memory_peak_gib"]["max"], step["memory_peak_gib"]);
        EXPECT_EQ(step["step"], 2 * (i + 1));
        EXPECT_EQ(step["samples"], 8.0 * 2 * double(i + 1));
        EXPECT_EQ(step["tokens"], 8.0 * 128 * 2 * double(i + 1));
        // The contract's identity: tokens of a step = tps_per_gpu * gpus * step_time_s.
        EXPECT_NEAR(step["tps_per_gpu"].get<double>() * 4 * step["step_time_s"].get<double>(), 8 * 128, 1e-6);
        EXPECT_GT(step["mfu"].get<double>(), 0);
        EXPECT_LT(step["mfu"].get<double>(), 1);
        EXPECT_GT(step["memory_peak_gib"].get<double>(), 0.02);
        EXPECT_DOUBLE_EQ(step["learning_rate"].get<double>(), plan.run.learning_rate(int(2 * i + 1), 12));
    }
    // Uniform over 256 bytes costs 5.545 nats; twelve steps must get well below it, and the held-out text too.
    EXPECT_LT(steps.back()["loss"].get<double>(), 4.8);
    EXPECT_LT(evaluations[1]["loss"].get<double>(), evaluations[0]["loss"].get<double>());
    EXPECT_FALSE(evaluations[0].contains("unigram_entropy"));
    EXPECT_GT(evaluations[1]["unigram_entropy"].get<double>(), 2.5);
    EXPECT_LT(evaluations[1]["unigram_entropy"].get<double>(), 3.6);
}

} // namespace
} // namespace fourfold::testing
