// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold rehearse` as a user sees it, with the real trainer.
#include "core/base/json.h"
#include "tests/cli/program.h"

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>

namespace fourfold::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Rehearse : public ProgramTest {
protected:
    // On GPUs that this computer need not have, without data.
    std::string plan(const Json& edits = Json::object())
    {
        Json plan = Json::parse(R"({"name": "Tiny", "cluster": "dgx-h100", "stack": "fourfold", "gpus": 16,
            "model": {"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 8,
                "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256, "rms_norm_eps": 1e-5,
                "max_position_embeddings": 128, "tie_word_embeddings": false},
            "layout": {"tp": 2, "cp": 2, "pp": 2, "dp": 2, "virtual_stages": 2},
            "training": {"seq_len": 64, "micro_batch": 1, "global_batch": 16, "precision": "bf16",
                "schedule": "interleaved"}})");
        plan.merge_patch(edits);
        return file("tiny.plan.json", plan.dump());
    }
};

TEST_F(Rehearse, SaysThatNoRankWaitsForEver)
{
    const Output text = fourfold({"rehearse", plan()});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out,
        AllOf(HasSubstr("16 ranks, 16 of them rehearsed"), HasSubstr("fits, no deadlock"), HasSubstr(" s per step")));
    const Json json = json_of(fourfold({"rehearse", plan(), "--json"}));
    EXPECT_EQ(json["verdict"], "ok");
    EXPECT_TRUE(json["problem"].is_null());
    EXPECT_EQ(json["fits"], true);
    EXPECT_EQ(json["deadlock"], false);
    EXPECT_GT(json["step_time_s"].get<double>(), 0);
    ASSERT_EQ(json["stages"].size(), 2U);
    for (const Json& stage : json["stages"]) {
        EXPECT_GT(stage["peak_tensors_gib"].get<double>(), 0);
        EXPECT_GE(stage["reserved_gib"].get<double>(), stage["peak_allocated_gib"].get<double>());
        EXPECT_GT(stage["step_flops"].get<double>(), 0);
        EXPECT_FALSE(stage["traffic"].empty());
    }
}

// The trainer, a program of its own, prices kernels and messages with the constants with which the planner does.
TEST_F(Rehearse, ItsStepTakesAboutAsLongAsThePlannedOne)
{
    for (const auto& [plan, bound] : {std::pair("llama-3.1-8b-torchtitan-fsdp-128", 0.1), {"this-computer", 0.2}}) {
        const Json json = json_of(fourfold({"rehearse", plan, "--json"}));
        const double planned = json["planned_step_time_s"].get<double>();
        EXPECT_NEAR(json["step_time_s"].get<double>() / planned, 1, bound) << plan << ": " << planned;
    }
}

TEST_F(Rehearse, WhatCannotBeIsSaidBeforeItBegins)
{
    expect_problem(fourfold({"rehearse", plan(), "--trace", "step.txt"}), 2, "name a file that ends in .json, .svg");
    for (const char* const time : {"nan", "0", "-1", "inf", "1,5", "1e400"})
        expect_problem(fourfold({"rehearse", plan(), "--timeout", time}), 2, "expected a number above 0");
    // What was found out is not lost with the file.
    const Output unwritable = fourfold({"rehearse", plan(), "--trace", "none/step.svg"});
    EXPECT_EQ(unwritable.status, 2);
    EXPECT_THAT(unwritable.out, HasSubstr("fits, no deadlock"));
    EXPECT_THAT(unwritable.err, HasSubstr("none/step.svg"));
}

TEST_F(Rehearse, OutOfMemoryNamesRankAndPass)
{
    const std::string large = plan({{"model", {{"vocab_size", 120000000}}}, {"training", {{"micro_batch", 4}}}});
    const Output text = fourfold({"rehearse", large});
    EXPECT_EQ(text.status, 1) << text.err;
    EXPECT_THAT(text.out,
        AllOf(HasSubstr("FAILED: does not fit, no deadlock"), HasSubstr("rank "),
            HasSubstr(" runs out of memory: the "), HasSubstr(" of micro-batch ")));
}

TEST_F(Rehearse, ATimeLimitSaysHowFarItCame)
{
    const std::string large = plan({{"gpus", 512}, {"layout", {{"dp", 64}}}, {"training", {{"global_batch", 4096}}}});
    const Output text = fourfold({"rehearse", large, "--timeout", "0.05"});
    expect_problem(
        text, 1, "the rehearsal came to its time limit of 0.05 s: no rank was through; whether ranks wait for");
    expect_problem(fourfold({"rehearse", plan(), "--timeout", "0"}), 2, "--timeout");
}

TEST_F(Rehearse, TheTraceIsATimelineOfAllStages)
{
    const std::string trace = (folder() / "trace.json").string();
    EXPECT_EQ(fourfold({"rehearse", plan(), "--trace", trace}).status, 0);
    const auto json = read_json_file(trace);
    ASSERT_TRUE(json) << json.error().line();
    std::map<int, int> forwards; // by stage
    for (const Json& event : (*json)["traceEvents"])
        if (event["ph"] == "X" && event["name"].get<std::string>().starts_with("forward"))
            ++forwards[event["tid"].get<int>()];
    EXPECT_EQ(forwards, (std::map<int, int>{{0, 2 * 8}, {1, 2 * 8}})) << "chunks, micro-batches";
    const Output beside
        = fourfold({"timeline", plan(), "--measured", trace, "--output", (folder() / "step.svg").string()});
    EXPECT_EQ(beside.status, 0) << beside.err;
    EXPECT_THAT(beside.out, HasSubstr("an average stage, the furthest off first"));
    EXPECT_THAT(beside.err, HasSubstr("2 stages, "));
    const Output unwritten = fourfold({"rehearse", plan(), "--trace", folder() / "none" / "trace.json"});
    EXPECT_EQ(unwritten.status, 2);
    EXPECT_THAT(unwritten.err, HasSubstr("none"));
    EXPECT_THAT(unwritten.out, HasSubstr("no deadlock")) << "what it found is kept";
}

TEST_F(Rehearse, WhatCannotBeRehearsedSaysWhy)
{
    expect_problem(
        fourfold({"rehearse", plan({{"training", {{"attention", "flash3"}}}})}), 2, "nothing of this plan is proven");
    expect_problem(fourfold({"rehearse", folder() / "none.json"}), 2, "none.json");
    expect_problem(fourfold({"rehearse", plan({{"layout", {{"tp", 3}}}})}), 2, "layout");
}

TEST_F(Rehearse, TakesARoutingByItsQuantile)
{
    expect_problem(fourfold({"rehearse", plan(), "--routing", "0.95"}), 2, "has no expert parallelism");
    expect_problem(fourfold({"rehearse", plan(), "--routing", "1"}), 2, "--routing");
    const std::string experts
        = plan({{"gpus", 4}, {"layout", {{"tp", 1}, {"cp", 1}, {"pp", 1}, {"dp", 4}, {"virtual_stages", 1}, {"ep", 4}}},
            {"training", {{"schedule", "1f1b"}, {"micro_batch", 4}}},
            {"model", {{"model_type", "mixtral"}, {"num_local_experts", 8}, {"num_experts_per_tok", 2}}}});
    const Json even = json_of(fourfold({"rehearse", experts, "--json"})),
               rare = json_of(fourfold({"rehearse", experts, "--json", "--routing", "0.95"}));
    EXPECT_EQ(rare["verdict"], "ok") << "all agree on who sends how much";
    EXPECT_FALSE(even.contains("expert_imbalance"));
    EXPECT_NEAR(rare["expert_imbalance"].get<double>(), 0.3, 0.001) << "-0.1 ln 0.05";
    for (const char* const key : {"peak_tensors_gib", "planned_gib", "step_flops"})
        EXPECT_GT(rare["stages"][0][key].get<double>(), even["stages"][0][key].get<double>()) << key;
    EXPECT_THAT(fourfold({"rehearse", experts, "--routing", "0.95"}).out,
        HasSubstr("the busiest expert-parallel rank gets 30 % more tokens than the mean"));
}

// The most that a run's events have of as many ranks.
TEST_F(Rehearse, TakesTheRoutingOfARun)
{
    const Json experts{{"gpus", 4},
        {"layout", {{"tp", 1}, {"cp", 1}, {"pp", 1}, {"dp", 4}, {"virtual_stages", 1}, {"ep", 4}}},
        {"training", {{"schedule", "1f1b"}, {"micro_batch", 4}}},
        {"model", {{"model_type", "mixtral"}, {"num_local_experts", 8}, {"num_experts_per_tok", 2}}}};
    const auto step = [](int step, int ranks, double busiest) {
        return Json{{"event", "step"}, {"step", step},
                   {"experts",
                       {{"busiest", 2}, {"layer", 0}, {"idle", 0}, {"ranks", ranks}, {"busiest_rank", busiest}}}}
                   .dump()
            + "\n";
    };
    const std::string run
        = file("events.jsonl", "{\"event\":\"start\"}\n" + step(1, 4, 1.25) + step(2, 4, 1.5) + step(3, 4, 1));
    const Json rehearsed = json_of(fourfold({"rehearse", plan(experts), "--json", "--routing", run})),
               even = json_of(fourfold({"rehearse", plan(experts), "--json", "--routing", "balanced"}));
    EXPECT_EQ(rehearsed["verdict"], "ok");
    EXPECT_NEAR(rehearsed["expert_imbalance"].get<double>(), 0.5, 1e-12);
    EXPECT_FALSE(even.contains("expert_imbalance"));
    EXPECT_GT(rehearsed["stages"][0]["step_flops"].get<double>(), even["stages"][0]["step_flops"].get<double>());

    expect_problem(fourfold({"rehearse", plan(), "--routing", run}), 2, "has no expert parallelism");
    const auto refused = [&](const std::string& routing, const std::string& words) {
        expect_problem(fourfold({"rehearse", plan(experts), "--routing", routing}), 2, words);
    };
    refused("none.jsonl", "none.jsonl: cannot be read");
    refused(file("dense.jsonl", "{\"event\":\"step\"}\n"), "no event tells how expert-parallel ranks were loaded");
    refused(file("others.jsonl", step(1, 8, 1.5)), "line 1: is of 8 expert-parallel ranks, the plan has 4");
    refused(file("broken.jsonl", "{\"busiest_rank\""), "broken.jsonl");
    refused(file("strange.jsonl", "{\"experts\":{\"busiest_rank\":\"a\"}}\n"), "is no step event");
    refused("nan", "--routing");
}

// LibTorch ends so where the session's limit leaves it no room; a script stands for it, as the limit differs.
TEST_F(Rehearse, WithoutTheMemoryThatItNeedsItSaysSo)
{
    std::filesystem::copy_file(FOURFOLD_BIN_DIR "/fourfold", folder() / "fourfold");
    const std::filesystem::path trainer = file("fourfold-trainer",
        "#!/bin/sh\necho \"terminate called after throwing an instance of 'std::bad_alloc'\" >&2\nkill -ABRT $$\n");
    std::filesystem::permissions(trainer, std::filesystem::perms::owner_all);
    use_program(folder() / "fourfold");
    expect_problem(
        fourfold({"rehearse", plan()}), 1, "may not have the memory that it needs; nothing is proven (raise");
}

// Killed, the command takes its rehearsal along, which may have minutes to go.
TEST_F(Rehearse, EndsWithTheCommand)
{
    const Started started
        = start({"rehearse", plan({{"gpus", 512}, {"layout", {{"dp", 64}}}, {"training", {{"global_batch", 4096}}}})});
    const std::string children
        = "/proc/" + std::to_string(started.process) + "/task/" + std::to_string(started.process) + "/children";
    pid_t trainer = 0;
    for (int i = 0; i < 500 && trainer == 0; ++i) {
        ::usleep(10'000);
        std::ifstream(children) >> trainer;
    }
    ASSERT_GT(trainer, 0);
    ::usleep(300'000); // beyond its first lines
    ::kill(started.process, SIGKILL);
    (void)finish(started);
    for (int i = 0; i < 2000 && ::kill(trainer, 0) == 0; ++i)
        ::usleep(10'000);
    EXPECT_NE(::kill(trainer, 0), 0);
}

TEST_F(Rehearse, LeavesNothingBehind)
{
    const auto scratch = folder() / "scratch";
    std::filesystem::create_directories(scratch);
    setenv("TMPDIR", scratch.c_str(), 1);
    EXPECT_EQ(fourfold({"rehearse", plan()}).status, 0);
    EXPECT_TRUE(std::filesystem::is_empty(scratch));
    setenv("TMPDIR", file("no-folder", "").c_str(), 1);
    EXPECT_EQ(fourfold({"rehearse", plan()}).status, 0) << "its files are in memory alone";
    unsetenv("TMPDIR");
    EXPECT_FALSE(std::filesystem::exists(history_file())) << "a rehearsal is no run";
}

} // namespace
} // namespace fourfold::test
