// SPDX-License-Identifier: GPL-3.0-or-later
// A run of 2,000 steps that is killed five times at moments that nobody chose, and goes on from its newest checkpoint
// each time, on the same mesh or on another: its curve is that of the run that nobody disturbed.
#include "runner/trainer/checkpoint/names.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

namespace fourfold::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using List = std::vector<std::string>;

constexpr int kSteps = 2000, kEvery = 40, kKills = 5;
constexpr auto kLimit = 900s; // of one start, on a computer that has other things to do

// As many tokens as the steps read, so that none is learnt by heart: where the loss nears 0, rounding grows in what
// Adam divides by.
fs::path write_walk(const fs::path& folder)
{
    const fs::path path = folder / "walk.bin";
    std::ofstream file(path, std::ios::binary);
    std::mt19937 random(1);
    unsigned token = 0;
    for (int i = 0; i < 400'000; ++i) {
        token = (token * 5 + random() % 16) % 61;
        file.put(static_cast<char>(token)).put(0);
    }
    return path;
}

struct Mesh {
    const char* name;
    int ranks;
    List assignments;
};
const std::vector<Mesh>& meshes()
{
    static const std::vector<Mesh> all{{"dp 2", 2, {"layout.dp=2"}}, {"tp 2", 2, {"layout.tp=2"}},
        {"pp 2", 2, {"layout.pp=2"}}, {"cp 2", 2, {"layout.cp=2"}},
        {"fully sharded dp 2", 2, {"layout.dp=2", "training.sharding=\"parameters\""}}, {"one rank", 1, {}}};
    return all;
}

// What happened to a run, from its first start to its end.
struct Story {
    std::map<int, double> losses; // by step, as they were said last
    double furthest_again = 0; // of a step that was done twice, relative
    int done_again = 0, kills = 0;
};

class MovedRun : public ::testing::Test {
protected:
    // From start to end, killed while it does each of the steps in `kills`, the n-th start on `mesh_of(n)`.
    Story train(const std::string& name, const std::vector<int>& kills, const std::function<const Mesh&(int)>& mesh_of)
    {
        Story story;
        const fs::path checkpoints = folder_.path() / (name + "-checkpoints");
        for (int start = 0; start <= int(kills.size()); ++start) {
            const Mesh& mesh = mesh_of(start);
            const int from = start == 0 ? 0 : newest(checkpoints);
            SCOPED_TRACE(name + ", start " + std::to_string(start) + " on " + mesh.name);
            const fs::path run = folder_.path() / (name + std::to_string(start));
            fs::create_directories(run);
            List assignments = mesh.assignments;
            assignments.insert(assignments.end(),
                {"gpus=" + std::to_string(mesh.ranks), "run.steps=" + std::to_string(kSteps), "run.lr=0.003",
                    "run.min_lr=0.0003", "run.warmup_steps=20", "run.checkpoint.every=" + std::to_string(kEvery),
                    "run.checkpoint.path=\"" + checkpoints.string() + '"'});
            if (start > 0)
                assignments.push_back("run.checkpoint.load=\"" + checkpoints.string() + '"');
            Ranks ranks(mesh.ranks,
                {trainer_program(), "--plan", write_plan(tiny_plan(tokens_, assignments), run), "--run-dir", run}, run);
            if (start < int(kills.size())) {
                EXPECT_TRUE(ranks.wait_for_events(0, "step", kills[std::size_t(start)] - from, kLimit)) << ranks.log(0);
                std::this_thread::sleep_for(std::chrono::microseconds(random_() % 50'000));
                const int first = int(random_() % unsigned(mesh.ranks));
                ranks.signal(first, SIGKILL);
                for (int rank = 0; rank < mesh.ranks; ++rank)
                    ranks.signal(rank, SIGKILL);
                const auto statuses = ranks.wait(60s);
                story.kills += statuses[std::size_t(first)] == 128 + SIGKILL;
            } else {
                for (const int status : ranks.wait(kLimit))
                    EXPECT_EQ(status, 0) << ranks.log(0);
            }
            take(ranks, from, story);
            if (HasFailure())
                break;
        }
        return story;
    }

    // Steps to be killed in: one in each sixth of the run, none of them before the second checkpoint.
    std::vector<int> moments()
    {
        std::vector<int> steps;
        constexpr int kPart = kSteps / (kKills + 1);
        for (int kill = 1; kill <= kKills; ++kill)
            steps.push_back(kill * kPart + int(random_() % kPart) - kPart / 2);
        return steps;
    }

    static double furthest(const Story& one, const Story& other)
    {
        EXPECT_EQ(one.losses.size(), std::size_t(kSteps));
        double worst = one.losses.size() == other.losses.size() ? 0 : INFINITY;
        for (const auto& [step, loss] : one.losses)
            if (const auto there = other.losses.find(step); there != other.losses.end())
                worst = std::max(worst, std::abs(loss - there->second) / there->second);
        return worst;
    }

    static constexpr unsigned kSeed = 25;

private:
    static int newest(const fs::path& checkpoints)
    {
        const auto steps = trainer::step_folders(checkpoints);
        return steps.empty() ? 0 : steps.rbegin()->first;
    }

    static void take(const Ranks& ranks, int from, Story& story)
    {
        int expected = from + 1;
        for (const Json& event : ranks.events(0)) {
            if (event["event"] != "step")
                continue;
            const int step = event["step"].get<int>();
            ASSERT_EQ(step, expected++);
            const double loss = event["loss"].get<double>();
            const auto [before, is_new] = story.losses.emplace(step, loss);
            if (is_new)
                continue;
            ++story.done_again;
            story.furthest_again = std::max(story.furthest_again, std::abs(loss - before->second) / before->second);
            before->second = loss;
        }
    }

    TemporaryFolder folder_;
    fs::path tokens_ = write_walk(folder_.path());
    std::mt19937 random_{kSeed};
};

TEST_F(MovedRun, HasTheCurveOfTheRunThatNobodyDisturbed)
{
    const auto stays = [](int) -> const Mesh& { return meshes().front(); };
    const Story undisturbed = train("undisturbed", {}, stays);
    ASSERT_EQ(undisturbed.losses.size(), std::size_t(kSteps));
    EXPECT_LT(undisturbed.losses.at(kSteps), 0.8 * undisturbed.losses.at(1)) << "it has to learn";

    const Story killed = train("killed", moments(), stays);
    const Story moved = train(
        "moved", moments(), [](int start) -> const Mesh& { return meshes()[std::size_t(start) % meshes().size()]; });
    for (const auto& [name, story] : {std::pair{"same mesh", &killed}, std::pair{"other meshes", &moved}})
        std::printf("%s: killed %d times (seed %u), %d steps done again; furthest from the undisturbed run %.2e, of a "
                    "step done again from the first time %.2e; loss %.4f -> %.4f\n",
            name, story->kills, kSeed, story->done_again, furthest(*story, undisturbed), story->furthest_again,
            story->losses.at(1), story->losses.rbegin()->second);
    for (const Story* story : {&killed, &moved}) {
        EXPECT_EQ(story->kills, kKills);
        EXPECT_GT(story->done_again, 0) << "all kills came right behind a checkpoint";
    }
    EXPECT_EQ(furthest(killed, undisturbed), 0);
    EXPECT_EQ(killed.furthest_again, 0);
    EXPECT_LT(furthest(moved, undisturbed), 1e-4);
    EXPECT_LT(moved.furthest_again, 1e-4);
}

} // namespace
} // namespace fourfold::testing
