// SPDX-License-Identifier: GPL-3.0-or-later
// Which checkpoint a run goes on from: its own course of the training, the same on every node, also at its end.
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/publish.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/trained.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

namespace fourfold::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder)
{
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().filename() != trainer::kLockFile)
            names.insert(entry.path().filename().string());
    return names;
}

// A run of eight steps with a checkpoint after every second.
class CheckpointCourse : public ::testing::Test {
protected:
    void SetUp() override
    {
        tokens = write_tokens(folder.path());
        all = folder.path() / "all";
        first = run({"run.steps=8", "run.checkpoint.every=2"});
        ASSERT_EQ(first.problem, "");
    }
    Trained run(const std::vector<std::string>& assignments)
    {
        return train(
            tiny_plan(
                tokens, joined({"run.checkpoint.path=\"" + all.string() + "\"", "run.checkpoint.keep=9"}, assignments)),
            folder.path() / ("run" + std::to_string(++runs)));
    }
    [[nodiscard]] static std::string load(const fs::path& from)
    {
        return "run.checkpoint.load=\"" + from.string() + "\"";
    }

    TemporaryFolder folder;
    fs::path tokens, all;
    Trained first;
    int runs = 0;
};

// As a user does whose loss went wrong; a later load of the folder, by a restart say, must not take up the wrong
// course.
TEST_F(CheckpointCourse, WhatARunLeavesBehindItIsNotGoneOnFrom)
{
    const Trained back = run({"run.steps=5", "run.checkpoint.every=1", "run.lr=1e-5", load(all / "step-00000004")});
    ASSERT_EQ(back.problem, "");
    EXPECT_EQ(names_in(all),
        (std::set<std::string>{
            "step-00000002", "step-00000004", "step-00000005", "step-00000006.kept", "step-00000008.kept"}));
    // A busy disk is a warning as well.
    EXPECT_THAT(back.warnings, Contains(HasSubstr("kept as step-00000006.kept, step-00000008.kept")));
    const Trained on = run({"run.steps=7", "run.checkpoint.every=1", "run.lr=1e-5", load(all)});
    EXPECT_EQ(on.losses.begin()->first, 6) << "behind its own fifth step";
    EXPECT_THAT(on.warnings, Not(Contains(HasSubstr("kept as"))));
    EXPECT_TRUE(run({"run.steps=10", load(all / "step-00000008.kept")}).losses.contains(9)) << "it can be had";
}

TEST_F(CheckpointCourse, ARunFromTheSeedReplacesNothing)
{
    const Trained anew = run({"run.steps=4", "run.checkpoint.every=2", "run.seed=9"});
    ASSERT_EQ(anew.problem, "");
    EXPECT_EQ(names_in(all),
        (std::set<std::string>{"step-00000002", "step-00000004", "step-00000002.kept", "step-00000004.kept",
            "step-00000006.kept", "step-00000008.kept"}));
    EXPECT_EQ(run({"run.steps=6", "run.seed=9", load(all)}).losses.begin()->first, 5);
}

// Every step of the run is saved; what comes behind the last save was cut off, and somebody starts it anew.
TEST_F(CheckpointCourse, AtItsEndOnlyTheLastEvaluationIsLeft)
{
    const std::vector<std::string> end{
        "run.steps=8", load(all), "run.eval.data=[{\"path\": \"" + tokens.string() + "\"}]"};
    EXPECT_THAT(run(end).problem, HasSubstr("has finished 8 steps, the plan asks for 8")) << "asked for by somebody";
    const Trained again = run(joined(end, {"run.checkpoint.from_last_good=true", "run.checkpoint.every=2"}));
    EXPECT_EQ(again.problem, "");
    EXPECT_TRUE(again.losses.empty());
    ASSERT_THAT(again.warnings, SizeIs(1));
    EXPECT_THAT(again.warnings[0], HasSubstr("nothing is left to train"));
    EXPECT_THAT(run({"run.steps=7", load(all), "run.checkpoint.from_last_good=true"}).problem, HasSubstr("asks for 7"));
}

TEST_F(CheckpointCourse, OfWeightsThatAreNoNumbersNothingIsTrained)
{
    const fs::path model = folder.path() / "model";
    fs::create_directory(model);
    fs::copy_file(all / "step-00000008/config.json", model / "config.json");
    std::string bytes = *read_text_file(all / "step-00000008/model-00001-of-00001.safetensors");
    std::uint64_t head = 0;
    std::memcpy(&head, bytes.data(), sizeof head);
    std::fill(bytes.begin() + std::ptrdiff_t(8 + head), bytes.end(), '\xff');
    std::ofstream(model / "model.safetensors", std::ios::binary) << bytes;
    EXPECT_THAT(
        run({"run.steps=3", load(model)}).problem, HasSubstr("nothing was trained: the loss or the gradient norm"));
}

TEST_F(CheckpointCourse, BesideALinkAreOlderOnes)
{
    fs::create_directory_symlink("step-00000008", all / "latest");
    fs::remove(all / "step-00000008/trainer.json");
    const Trained gone_on = run({"run.steps=9", load(all / "latest"), "run.checkpoint.from_last_good=true"});
    EXPECT_EQ(gone_on.problem, "");
    EXPECT_EQ(gone_on.losses.begin()->first, 7);
    EXPECT_THAT(run({"run.steps=9", load(all / "latest/")}).problem, HasSubstr("whole is step-00000006"));
}

// Nodes with disks of their own, or that see a new folder later.
TEST_F(CheckpointCourse, IsTheSameOnAllNodes)
{
    if (std::system("unshare -rm true 2>/dev/null") != 0)
        GTEST_SKIP() << "no right to make name spaces here";
    const fs::path other = folder.path() / "other";
    const auto refused = [&](const fs::path& from) {
        const auto plan = tiny_plan(tokens, {"gpus=2", "layout.dp=2", "run.steps=9", load(from)});
        const fs::path own = folder.path() / ("nodes" + std::to_string(++runs));
        fs::create_directories(own);
        // The second rank has `other` in the place of `all`.
        Ranks ranks(2,
            {"/bin/sh", "-c",
                "[ $RANK = 0 ] && exec \"$@\"; exec unshare -rm sh -c 'mount --bind \"$0\" \"$1\"; shift; exec \"$@\"' "
                "'" + other.string()
                    + "' '" + all.string() + "' \"$@\"",
                "sh", trainer_program(), "--plan", write_plan(plan, own), "--run-dir", own},
            own, {{"FOURFOLD_BACKEND", "gloo"}});
        EXPECT_THAT(ranks.wait(std::chrono::seconds(100)), ::testing::Each(::testing::Ne(0)));
        return ranks.log(0) + ranks.log(1);
    };
    fs::copy(all, other, fs::copy_options::recursive);
    fs::remove_all(other / "step-00000008");
    const std::string older = refused(all);
    EXPECT_THAT(older, HasSubstr("step-00000008"));
    EXPECT_THAT(older, HasSubstr("the newest one that is whole is step-00000006"));
    fs::remove_all(other);
    ASSERT_EQ(
        run({"run.steps=8", "run.checkpoint.every=8", "run.seed=9", "run.checkpoint.path=\"" + other.string() + "\""})
            .problem,
        "");
    EXPECT_THAT(refused(all / "step-00000008"), HasSubstr("rank 1 has another checkpoint there than rank 0"));
}

TEST(Course, WhatIsNoCheckpointIsNotSetAside)
{
    const TemporaryFolder folder;
    for (const char* const name : {"step-00000002/trainer.json", "step-00000004/trainer.json",
             "step-00000006/thesis.tex", "step-00000008/trainer.json", "step-00000008.kept/trainer.json"}) {
        fs::create_directories((folder.path() / name).parent_path());
        std::ofstream(folder.path() / name) << "mine";
    }
    fs::create_directory(folder.path() / "step-00000009");
    const auto aside = trainer::set_others_aside(folder.path(), [](int step) { return step == 2; });
    EXPECT_THAT(aside, ElementsAre(folder.path() / "step-00000004.kept", folder.path() / "step-00000008.kept-2"));
    EXPECT_THAT(names_in(folder.path()),
        UnorderedElementsAre("step-00000002", "step-00000004.kept", "step-00000006", "step-00000008.kept",
            "step-00000008.kept-2", "step-00000009"));
}

} // namespace
} // namespace fourfold::testing
