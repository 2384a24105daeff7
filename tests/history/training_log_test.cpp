// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of other training software: what is read of each, and what no line may do.
#include "core/history/training_log.h"
#include "tests/damaged.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fourfold {
namespace {

// As Megatron-LM's training.py prints it.
const std::string kMegatron
    = " [2026-01-01 00:00:00] iteration      100/     500 | consumed samples:       102400 | elapsed time per "
      "iteration (ms): 4000.5 | throughput per GPU (TFLOP/s/GPU): 440.5 | learning rate: 1.500000E-04 | global batch "
      "size:  1024 | lm loss: 2.345678E+00 | loss scale: 1.0 | grad norm: 1.250 | number of skipped iterations:   0 | "
      "number of nan iterations:   0 |\n";
// As Megatron-DeepSpeed prints it.
const std::string kDeepSpeed
    = "[default7]: iteration     2000/  115311 | consumed samples:      4096000 | consumed tokens:   8388608000 | "
      "elapsed time per iteration (s): 104.25 | learning rate: 6.000E-05 | global batch size:  2048 | lm loss: "
      "3.0E+00 | loss scale: 65536.0 | grad norm: 0.5 | num zeros: 0.0 | number of skipped iterations:   0 | number of "
      "nan iterations:   0 | samples per second: 19.645 | TFLOPs: 150.25 |\n";
// As torchtitan prints it, in colours.
const std::string kTitan
    = "[rank0]:[titan] 2026-01-01 00:00:00,000 - root - INFO - \x1b[36mstep: 10  \x1b[32mloss:  7.1234  "
      "\x1b[38;2;180;60;0mgrad_norm:  2.5000  \x1b[33mmemory: 38.17GiB(40.85%)  \x1b[34mtps: 5,762  \x1b[36mtflops: "
      "333.65  \x1b[35mmfu: 33.74%\x1b[39m\r\n";

TrainingLog parsed(const std::string& text)
{
    auto log = parse_training_log(text, "x.log");
    EXPECT_TRUE(log) << (log ? "" : log.error().line());
    return log ? *std::move(log) : TrainingLog{};
}

TEST(TrainingLogs, OfMegatron)
{
    const TrainingLog log = parsed("using world size: 16, data-parallel size: 8\n"
                                   "  seq_length ...................................... 8192\n"
        + kMegatron);
    EXPECT_EQ(log.stack, "megatron-lm");
    EXPECT_EQ(log.gpus, 16);
    EXPECT_EQ(log.seq_len, 8192);
    ASSERT_EQ(log.steps.size(), 1u);
    const LoggedStep& step = log.steps[0];
    EXPECT_EQ(step.step, 100);
    EXPECT_EQ(step.step_time_s, 4.0005);
    EXPECT_EQ(step.loss, 2.345678);
    EXPECT_EQ(step.grad_norm, 1.25);
    EXPECT_EQ(step.learning_rate, 1.5e-4);
    EXPECT_EQ(step.loss_scale, 1.0);
    EXPECT_EQ(step.samples, 102400);
    EXPECT_EQ(step.global_batch, 1024);
    EXPECT_EQ(step.tflops_per_gpu, 440.5);
    EXPECT_FALSE(step.tps_per_gpu) << "it does not print it";
    EXPECT_FALSE(log.out_of_memory);
}

TEST(TrainingLogs, OfMegatronDeepSpeed)
{
    const TrainingLog log = parsed(kDeepSpeed);
    EXPECT_EQ(log.stack, "megatron-deepspeed");
    ASSERT_EQ(log.steps.size(), 1u);
    EXPECT_EQ(log.steps[0].step, 2000);
    EXPECT_EQ(log.steps[0].step_time_s, 104.25) << "seconds here, not milliseconds";
    EXPECT_EQ(log.steps[0].tflops_per_gpu, 150.25);
    EXPECT_EQ(log.steps[0].loss_scale, 65536);
    EXPECT_FALSE(log.gpus);
}

TEST(TrainingLogs, OfTorchtitan)
{
    const TrainingLog log = parsed(kTitan);
    EXPECT_EQ(log.stack, "torchtitan");
    ASSERT_EQ(log.steps.size(), 1u);
    const LoggedStep& step = log.steps[0];
    EXPECT_EQ(step.step, 10);
    EXPECT_EQ(step.loss, 7.1234);
    EXPECT_EQ(step.grad_norm, 2.5);
    EXPECT_EQ(step.memory_gib, 38.17);
    EXPECT_EQ(step.tps_per_gpu, 5762) << "a comma parts thousands";
    EXPECT_EQ(step.tflops_per_gpu, 333.65);
    ASSERT_TRUE(step.mfu);
    EXPECT_NEAR(*step.mfu, 0.3374, 1e-12);
    EXPECT_FALSE(step.step_time_s);
    const TrainingLog older = parsed("step: 5 loss: 8.0 memory: 10.00GiB(10%) wps: 1,234 mfu: 10.00%\n");
    EXPECT_EQ(older.steps.at(0).tps_per_gpu, 1234) << "what tps was called before";
}

TEST(TrainingLogs, BecomeEventsWithWhatFollowsFromTheirFigures)
{
    const auto events = events_of_log(parsed(kMegatron), 8, 100, 16, "2026-01-01T00:00:00.000Z");
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0]["seq"], 0);
    EXPECT_EQ(events[0]["event"], "step");
    EXPECT_DOUBLE_EQ(events[0]["tps_per_gpu"].get<double>(), 1024 * 100 / 4.0005 / 16)
        << "the log's batch, not the plan's";
    EXPECT_TRUE(events[0]["mfu"].is_null());
    EXPECT_EQ(events[1]["seq"], 1);
    EXPECT_EQ(events[1]["event"], "end");
    EXPECT_EQ(events[1]["status"], "ok");
    const auto titan = events_of_log(parsed(kTitan), 8, 100, 16, "t");
    EXPECT_DOUBLE_EQ(titan[0]["step_time_s"].get<double>(), 8 * 100 / 5762.0 / 16);
}

TEST(TrainingLogs, AreInTheOrderOfTheirStepsWithTheLastOfEach)
{
    const auto line
        = [](int step, const char* loss) { return "step: " + std::to_string(step) + " loss: " + loss + " tps: 100\n"; };
    const TrainingLog log = parsed(line(3, "3.0") + line(4, "9.0") + line(1, "1.0") + line(4, "4.0"));
    ASSERT_EQ(log.steps.size(), 3u);
    EXPECT_EQ(log.steps[0].step, 1);
    EXPECT_EQ(log.steps[1].step, 3);
    EXPECT_EQ(log.steps[2].step, 4);
    EXPECT_EQ(log.steps[2].loss, 4.0) << "of a step that was made again";
}

TEST(TrainingLogs, OutOfMemoryCountsWhenNothingComesAfterIt)
{
    const std::string oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
    EXPECT_TRUE(parsed(kTitan + oom).out_of_memory);
    EXPECT_FALSE(parsed(oom + kTitan).out_of_memory) << "it was started again and went on";
    EXPECT_EQ(events_of_log(parsed(kTitan + oom), 1, 1, 1, "t").back()["status"], "oom");
}

TEST(TrainingLogs, WithoutAKnownStepAreNamed)
{
    for (const std::string text :
        {"", "\n", "nothing here\n", "iteration 5/10 | lm loss: 1.0 |", "step: 5 loss: 1", "val_step: 3 tps: 5",
            "step: tps: 100", "step: x tps: 100", "step: 1.5 tps: 100", "step: -1 tps: 100", "step: 3 tps: -5",
            "step: 3 tps: 0", "step: 99999999999 tps: 100", "step: 1e400 tps: 100", "step: nan tps: 100"}) {
        const auto log = parse_training_log(text, "x.log");
        ASSERT_FALSE(log) << text;
        EXPECT_EQ(log.error().code, ProblemCode::bad_input);
        EXPECT_EQ(log.error().where, "x.log");
        EXPECT_FALSE(log.error().hint.empty());
    }
}

TEST(TrainingLogs, HostileLinesDoNoHarm)
{
    using namespace std::string_literals;
    const std::string hostile
        = "using world size: 1e300\nusing world size: -4\nusing world size: 0.5\n seq_length ..... 99999999999999\n"
          "\x1b[\x1b[31\n\x1b\nstep: \x1b[3\n"
        + "step: 2 tps: 50 loss: \xff\xfe\0 mfu: %\n"s + std::string(3u << 20, 'x') + "\n" + std::string(200000, ',')
        + "\nstep: 3 loss: nan grad_norm: inf memory: 1e999GiB tps: 7 tflops: -\n" + "step: 5 tps: 1"
        + std::string(100000, '0') + "\n" + kMegatron.substr(0, 90) + "\n" + "step: 4 tps: 8";
    const TrainingLog log = parsed(hostile);
    EXPECT_EQ(log.stack, "torchtitan");
    EXPECT_FALSE(log.gpus);
    EXPECT_FALSE(log.seq_len);
    ASSERT_EQ(log.steps.size(), 3u) << "the step with a throughput of 100,000 digits is none";
    EXPECT_EQ(log.steps[0].tps_per_gpu, 50);
    EXPECT_FALSE(log.steps[0].loss);
    EXPECT_FALSE(log.steps[1].loss) << "NaN is no figure";
    EXPECT_FALSE(log.steps[1].memory_gib) << "nor is infinity";
    EXPECT_FALSE(log.steps[1].tflops_per_gpu);
    EXPECT_EQ(log.steps[2].step, 4) << "the last line needs no newline";
    for (const Json& event : events_of_log(log, 8, 1024, 4, "t"))
        EXPECT_TRUE(parse_json(event.dump(), "event")) << event.dump();
}

// Lines with a few bytes changed: read or refused, and what is read keeps its order and finite figures.
TEST(TrainingLogs, DamagedLinesKeepTheOrder)
{
    std::mt19937 random(11);
    const std::string whole = kMegatron + kDeepSpeed + kTitan;
    int read = 0;
    for (int i = 0; i < 2000; ++i) {
        const auto log = parse_training_log(test::damaged(whole, 6, random), "x.log");
        if (!log)
            continue;
        ++read;
        for (std::size_t k = 0; k < log->steps.size(); ++k) {
            EXPECT_GE(log->steps[k].step, k == 0 ? 0 : log->steps[k - 1].step + 1);
            EXPECT_TRUE(std::isfinite(log->steps[k].step_time_s.value_or(0)));
        }
    }
    EXPECT_GT(read, 1000);
}

} // namespace
} // namespace fourfold
