// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong is said once, clearly, by the rank that knows it, and every rank is gone soon after.
#include "tests/parity/event_schema.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <csignal>
#include <fstream>

namespace fourfold::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::vector<std::string> command(const std::filesystem::path& plan, const std::filesystem::path& folder)
{
    return {trainer_program(), "--plan", plan, "--run-dir", folder};
}

Json last_error(const Ranks& ranks, int rank)
{
    for (const Json& event : ranks.events(rank))
        if (event["event"] == "error") {
            EXPECT_EQ(schema_violation(event), "");
            return event;
        }
    return nullptr;
}

// Of all ranks of the job: who knows tells, nobody else does.
Json only_error(const Ranks& ranks, int count)
{
    std::vector<Json> errors;
    for (int rank = 0; rank < count; ++rank)
        if (const Json error = last_error(ranks, rank); !error.is_null())
            errors.push_back(error);
    EXPECT_EQ(errors.size(), 1u) << Json(errors).dump(1);
    return errors.empty() ? Json() : errors[0];
}

// Lines that the rank printed on its error output or as progress, without LibTorch's own warnings.
std::string only_line(const Ranks& ranks, int rank)
{
    std::string log = ranks.log(rank);
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
    return log;
}

class TrainerFailure : public ::testing::Test {
protected:
    std::filesystem::path tokens() const { return write_tokens(folder_.path()); }
    // A plan that runs for hours.
    ResolvedPlan endless(std::vector<std::string> assignments) const
    {
        assignments.emplace_back("run.steps=1000000");
        return tiny_plan(tokens(), assignments);
    }
    TemporaryFolder folder_;
};

TEST_F(TrainerFailure, KilledRankEndsTheOthersWithAClearError)
{
    const auto plan = endless({"gpus=4", "layout.tp=2", "layout.dp=2"});
    Ranks ranks(4, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    ASSERT_TRUE(ranks.wait_for_events(0, "step", 3, 90s)) << ranks.log(0);
    const auto begin = std::chrono::steady_clock::now();
    ranks.signal(3, SIGKILL);
    const auto statuses = ranks.wait(60s);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
    EXPECT_EQ(statuses, (std::vector<int>{1, 1, 1, 128 + SIGKILL}));
    const Json error = only_error(ranks, 4);
    ASSERT_TRUE(error.is_object()) << ranks.log(0) << ranks.log(1) << ranks.log(2);
    const int rank = error["rank"].get<int>();
    EXPECT_EQ(error["kind"], "fail");
    EXPECT_EQ(error["mesh"], (Json{{"tp", rank % 2}, {"cp", 0}, {"pp", 0}, {"dp", rank / 2}}));
    EXPECT_THAT(error["last_collective"].get<std::string>(), HasSubstr("bytes with ranks"));
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("rank " + std::to_string(rank) + ": lost rank 3, "));
    EXPECT_TRUE(error.contains("host"));
    for (int other = 0; other < 3; ++other) {
        if (other == rank)
            continue;
        EXPECT_THAT(ranks.log(other), HasSubstr("stopped, as another rank failed: rank " + std::to_string(rank)));
        EXPECT_TRUE(read_json_file(folder_.path() / ("rank" + std::to_string(other) + ".flight.json")));
    }
}

// Rank 0 serves the meeting point, over which the others agree who tells.
TEST_F(TrainerFailure, KilledRankZeroIsNamedOnce)
{
    const auto plan = endless({"gpus=3", "layout.dp=3", "training.global_batch=6"});
    Ranks ranks(3, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    ASSERT_TRUE(ranks.wait_for_events(0, "step", 3, 90s)) << ranks.log(0);
    const auto begin = std::chrono::steady_clock::now();
    ranks.signal(0, SIGKILL);
    EXPECT_EQ(ranks.wait(60s), (std::vector<int>{128 + SIGKILL, 1, 1}));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
    EXPECT_THAT(only_error(ranks, 3).value("message", ""), HasSubstr("lost rank 0"));
}

// They would train apart without a word. Files may lie elsewhere on each node.
TEST_F(TrainerFailure, RanksOfDifferentPlansDoNotTrain)
{
    const auto of_rank = [&](const std::vector<std::string>& second) {
        std::vector<std::filesystem::path> plans;
        for (const std::vector<std::string>& assignments : {std::vector<std::string>(), second}) {
            const auto own = folder_.path() / ("plan" + std::to_string(plans.size()));
            std::filesystem::create_directories(own);
            std::vector<std::string> all{"gpus=2", "layout.dp=2", "run.steps=2"};
            all.insert(all.end(), assignments.begin(), assignments.end());
            plans.push_back(write_plan(tiny_plan(tokens(), all), own));
        }
        return std::vector<std::string>{"/bin/sh", "-c",
            R"(if [ $RANK = 0 ]; then plan=$1; else plan=$2; fi; exec "$0" --plan "$plan" --run-dir "$3")",
            trainer_program(), plans[0], plans[1], folder_.path()};
    };
    Ranks ranks(2, of_rank({"run.lr=0.5"}), folder_.path());
    EXPECT_THAT(ranks.wait(60s), ::testing::Each(2));
    EXPECT_THAT(only_error(ranks, 2).value("message", ""), HasSubstr("has another plan than rank 0"));

    std::filesystem::create_directory(folder_.path() / "moved");
    std::filesystem::copy_file(tokens(), folder_.path() / "moved" / tokens().filename());
    const std::string moved = (folder_.path() / "moved" / tokens().filename()).string();
    Ranks same(2, of_rank({"run.data=[{\"path\": \"" + moved + "\"}]"}), folder_.path());
    EXPECT_THAT(same.wait(60s), ::testing::Each(0)) << same.log(0) << same.log(1);
}

TEST_F(TrainerFailure, StoppedRankIsAHang)
{
    const auto plan = endless({"gpus=2", "layout.dp=2"});
    Ranks ranks(
        2, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path(), {{"FOURFOLD_TIMEOUT_S", "20"}});
    ASSERT_TRUE(ranks.wait_for_events(0, "step", 3, 90s)) << ranks.log(0);
    ranks.signal(1, SIGSTOP);
    ASSERT_TRUE(ranks.wait_for_events(0, "error", 1, 80s)) << ranks.log(0);
    const Json error = last_error(ranks, 0);
    EXPECT_EQ(error["kind"], "hang") << error;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("lost rank 1, "));
    EXPECT_THAT(error["last_collective"].get<std::string>(), HasSubstr("with ranks 0 1"));
    const auto flight = read_json_file(folder_.path() / "rank0.flight.json");
    ASSERT_TRUE(flight) << flight.error().line();
    const Json& collectives = (*flight)["collectives"];
    ASSERT_GT(collectives.size(), 3u);
    for (std::size_t i = 1; i < collectives.size(); ++i)
        EXPECT_EQ(collectives[i]["number"], collectives[i - 1]["number"].get<int64_t>() + 1);
    const bool unfinished
        = std::ranges::any_of(collectives, [](const Json& entry) { return entry["end_s"].is_null(); });
    EXPECT_TRUE(unfinished) << "the collective in which it hangs";
    ranks.signal(1, SIGKILL);
    EXPECT_EQ(ranks.wait(30s)[0], 1);
}

// Where the libraries' own global objects get none, nothing but the log can say so.
TEST_F(TrainerFailure, ARankThatMayNotHaveMemoryIsOutOfIt)
{
    // Weights of 2 GB: what is enough to start with is not enough to train with.
    const auto plan = tiny_plan(tokens(), {"run.steps=2", "model.hidden_size=4096", "model.intermediate_size=16384"});
    const auto file = write_plan(plan, folder_.path());
    int told = 0;
    for (const int limit_kib : {390'000, 430'000, 460'000, 1'200'000}) {
        const auto folder = folder_.path() / std::to_string(limit_kib);
        std::filesystem::create_directories(folder);
        std::vector<std::string> limited{
            "/bin/sh", "-c", "ulimit -c 0; ulimit -v " + std::to_string(limit_kib) + "; exec \"$0\" \"$@\""};
        const auto words = command(file, folder);
        limited.insert(limited.end(), words.begin(), words.end());
        Ranks ranks(1, limited, folder);
        const int status = ranks.wait(60s)[0];
        const Json error = last_error(ranks, 0);
        EXPECT_NE(status, 0);
        EXPECT_NE(status, -1) << limit_kib << ": it ends by itself";
        if (error.is_object()) {
            ++told;
            EXPECT_EQ(error["kind"], "oom") << limit_kib << ": " << error;
            EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("MiB (ulimit -v)"));
        } else if (status != 128 + SIGSEGV) { // a library that looks at nothing before it uses it, ahead of main()
            EXPECT_THAT(ranks.log(0),
                AnyOf(HasSubstr("std::bad_alloc"), HasSubstr("failed to map segment"),
                    HasSubstr("annot allocate memory")))
                << limit_kib;
        }
    }
    EXPECT_GT(told, 0);
}

TEST_F(TrainerFailure, RankThatNeverComesIsNamed)
{
    const auto plan = endless({"gpus=4", "layout.dp=4"});
    const auto file = write_plan(plan, folder_.path());
    // Ranks 0 and 1 of four are started.
    Ranks ranks(2, command(file, folder_.path()), folder_.path(), {{"WORLD_SIZE", "4"}, {"FOURFOLD_TIMEOUT_S", "8"}});
    EXPECT_EQ(ranks.wait(60s), (std::vector<int>{1, 1}));
    const Json error = only_error(ranks, 2);
    EXPECT_THAT(error.value("message", ""), HasSubstr("2 of 4 ranks did not come within 8 s: rank 2 3"));
    EXPECT_EQ(error["kind"], "fail");
}

TEST_F(TrainerFailure, TerminateEndsPolitely)
{
    const auto plan = endless({"gpus=2", "layout.dp=2"});
    Ranks ranks(2, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    ASSERT_TRUE(ranks.wait_for_events(0, "step", 3, 90s)) << ranks.log(0);
    ranks.signal(1, SIGTERM); // one rank is enough: all agree on the step after which they stop
    EXPECT_EQ(ranks.wait(30s), (std::vector<int>{143, 143}));
    EXPECT_TRUE(last_error(ranks, 0).is_null()) << last_error(ranks, 0);
    EXPECT_TRUE(last_error(ranks, 1).is_null()) << last_error(ranks, 1);
    // Which one was meant stands where their agent looks.
    const auto heard = [&](int rank) {
        std::ifstream page(folder_.path() / ("rank" + std::to_string(rank) + ".progress"));
        const std::string text{std::istreambuf_iterator<char>(page), {}};
        return text.find("another rank was asked to end by a SIGTERM") != std::string::npos;
    };
    EXPECT_TRUE(heard(0));
    EXPECT_FALSE(heard(1));
}

TEST_F(TrainerFailure, NonFiniteStepsAreSkippedAndCounted)
{
    const auto plan = tiny_plan(tokens(), {"run.lr=1e6", "run.clip_norm=0", "run.warmup_steps=0", "run.steps=20"});
    Ranks ranks(1, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{0}) << ranks.log(0);
    Json last;
    int warnings = 0;
    for (const Json& event : ranks.events(0)) {
        if (event["event"] == "step")
            last = event;
        warnings += event["event"] == "warning";
        EXPECT_EQ(schema_violation(event), "");
    }
    EXPECT_EQ(last["step"], 20);
    EXPECT_TRUE(last["loss"].is_null() || last["grad_norm"].is_null()) << last;
    EXPECT_GT(last["nan_steps"].get<int>(), 0);
    EXPECT_EQ(last["skipped_steps"], last["nan_steps"]);
    EXPECT_EQ(warnings, 1);
}

TEST_F(TrainerFailure, FullDiskIsSaidOnce)
{
    std::filesystem::create_symlink("/dev/full", folder_.path() / "rank0.jsonl");
    Ranks ranks(1, command(write_plan(tiny_plan(tokens()), folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{1});
    EXPECT_THAT(only_line(ranks, 0), HasSubstr("rank0.jsonl: cannot append an event: No space left on device"));
}

// Nobody may ever read from it.
TEST_F(TrainerFailure, APipeInThePlaceOfTheEventsIsNotWaitedFor)
{
    ASSERT_EQ(::mkfifo((folder_.path() / "rank0.jsonl").c_str(), 0600), 0);
    Ranks ranks(1, command(write_plan(tiny_plan(tokens()), folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{1});
    EXPECT_THAT(only_line(ranks, 0), HasSubstr("rank0.jsonl: is a pipe, expected a file"));
}

// Bad input: exit status 2, one line, nothing trained.
TEST_F(TrainerFailure, MissingPlan)
{
    Ranks ranks(1, command(folder_.path() / "no.json", folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_line(ranks, 0), HasSubstr("no.json"));
}

TEST_F(TrainerFailure, MalformedPlan)
{
    std::ofstream(folder_.path() / "bad.json") << "{ \"fourfold_plan\": 1,";
    Ranks ranks(1, command(folder_.path() / "bad.json", folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_line(ranks, 0), HasSubstr("bad.json"));
    EXPECT_EQ(last_error(ranks, 0)["kind"], "bad_input");
}

TEST_F(TrainerFailure, PlanThatTheTrainerDoesNotRun)
{
    const auto plan = tiny_plan(tokens(), {"training.attention=\"flash3\""});
    Ranks ranks(1, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_line(ranks, 0),
        HasSubstr("training.attention: fourfold-trainer does not run the attention kernel \"flash3\" on CPUs yet"));
}

TEST_F(TrainerFailure, ScheduleFileWhoseFirstImpossibleActionIsNamed)
{
    const auto schedule = folder_.path() / "own.csv";
    std::ofstream(schedule) << "0F0,0B0,0F1,0B1,0F2,0B2,0F3,0B3\n1F1,1B1,1F0,1B0,1F2,1B2,1F3,1B3\n";
    const auto plan = tiny_plan(tokens(), {"gpus=2", "layout.pp=2", "training.schedule=\"" + schedule.string() + '"'});
    Ranks ranks(1, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_line(ranks, 0),
        HasSubstr("row 1, column 2: the schedule deadlocks: \"0B0\" waits for \"1B0\" of row 2, column 4"));
}

TEST_F(TrainerFailure, WrongNumberOfRanks)
{
    const auto plan = tiny_plan(tokens(), {"gpus=2", "layout.dp=2"});
    Ranks ranks(1, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_line(ranks, 0), HasSubstr("the plan is for 2 ranks, the job has 1"));
}

TEST_F(TrainerFailure, TokenOutsideOfTheVocabulary)
{
    auto plan = tiny_plan(tokens());
    plan.model.vocab = 30;
    plan.padded_vocab = 30;
    Ranks ranks(1, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_line(ranks, 0), HasSubstr("is outside the model's vocabulary of 30"));
}

TEST_F(TrainerFailure, MissingDataFile)
{
    auto plan = tiny_plan(tokens());
    plan.run.data[0].path = (folder_.path() / "gone.bin").string();
    Ranks ranks(1, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_line(ranks, 0), HasSubstr("gone.bin"));
}

TEST_F(TrainerFailure, BadArgumentsAndEnvironment)
{
    const auto file = write_plan(tiny_plan(tokens()), folder_.path());
    {
        Ranks ranks(1, {trainer_program(), "--plan", file}, folder_.path());
        EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
        EXPECT_THAT(only_line(ranks, 0), HasSubstr("--run-dir is missing"));
    }
    std::filesystem::remove(folder_.path() / "rank0.log");
    {
        Ranks ranks(1, command(file, folder_.path()), folder_.path(), {{"RANK", "one"}});
        EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
        EXPECT_THAT(only_line(ranks, 0), HasSubstr("environment variable RANK"));
    }
    std::filesystem::remove(folder_.path() / "rank0.log");
    {
        Ranks ranks(1, command(file, folder_.path() / "nowhere"), folder_.path());
        EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
        EXPECT_THAT(only_line(ranks, 0), HasSubstr("give an existing, writable --run-dir"));
    }
}

// The mean over nothing is no number: a run of such steps would only look like one.
TEST_F(TrainerFailure, ABatchWithoutALabelIsRefused)
{
    const auto file = tokens();
    const auto plan = tiny_plan(file, {"run.steps=2", R"(run.documents={"mask":true,"end":8})"});
    std::ofstream only_ends(file, std::ios::binary);
    for (int i = 0; i < 4000; ++i)
        only_ends.put(8).put(0);
    only_ends.close();
    Ranks ranks(1, command(write_plan(plan, folder_.path()), folder_.path()), folder_.path());
    EXPECT_EQ(ranks.wait(60s), std::vector<int>{2});
    EXPECT_THAT(only_error(ranks, 1).value("message", ""), HasSubstr("no token of step 1 has a label"));
}

} // namespace
} // namespace fourfold::testing
