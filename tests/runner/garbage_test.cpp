// SPDX-License-Identifier: GPL-3.0-or-later
// What is cleared from a node's base folder, and what is kept.
#include "runner/agent/files/garbage.h"
#include "runner/agent/run/run_folder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace fourfold {
namespace {

constexpr double kDay = 86400;

class Garbage : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = testing::TempDir() + "fourfold.XXXXXX";
        base = mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(base); }

    // A share that ended `days` ago, as its agent leaves it.
    void ended(const std::string& run, int node, double days, bool followed = true) const
    {
        const RunFolder share(base, run, node);
        ASSERT_TRUE(share.create());
        write(share.file("spec.json"), "{}", days);
        write(share.file("events.jsonl"), "{\"seq\":0,\"event\":\"end\",\"status\":\"ok\"}\n", days);
        write(share.file("status.json"), R"({"state":"ended","status":"ok"})", days);
        if (followed)
            write(share.file("followed"), "", days);
    }
    static void write(const std::filesystem::path& file, const std::string& text, double days)
    {
        std::ofstream(file) << text;
        grow_old(file, days);
    }
    static void grow_old(const std::filesystem::path& file, double days)
    {
        const timespec then{std::time(nullptr) - static_cast<time_t>(days * kDay), 0};
        const timespec times[2] = {then, then};
        ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    }
    [[nodiscard]] bool has(const std::string& run) const { return std::filesystem::exists(base / "runs" / run); }
    [[nodiscard]] Json collect(double days, bool dry_run = false) const
    {
        return collect_garbage(base, {days * kDay, dry_run}, base / "agent/own/fourfold-agent");
    }

    std::filesystem::path base;
};

TEST_F(Garbage, LookingAtAnOldRunDoesNotMakeItYoung)
{
    ended("OLD", 0, 40);
    ended("YOUNG", 0, 20);
    for (int look = 0; look < 3; ++look)
        EXPECT_EQ(collect(30, true)["runs"], 1);
    EXPECT_TRUE(has("OLD"));
    EXPECT_EQ(collect(30)["kept_runs"], 1);
    EXPECT_FALSE(has("OLD"));
    EXPECT_TRUE(has("YOUNG"));
}

// A restart saves into the folder of the attempt before it, and a run may go on from another one's checkpoint.
TEST_F(Garbage, CheckpointsOfAKeptRunStay)
{
    const auto saves_in = [&](const std::string& run, const std::string& key, const std::filesystem::path& place) {
        RunSpec spec;
        spec.run = run;
        spec.nodes = 1;
        spec.world_size = 1;
        spec.host = "here";
        spec.address = "127.0.0.1";
        spec.program = "bin/fourfold-trainer";
        spec.backend = "gloo";
        spec.ranks = {{0, 0, Json::object()}};
        spec.files = {{spec.program, "", 0, "/bin/true"}};
        spec.plan = {{"run", {{"checkpoint", {{key, place.string()}}}}}};
        ASSERT_TRUE(RunFolder(base, run, 0).write_spec(spec));
        ASSERT_TRUE(RunFolder(base, run, 0).read_spec());
    };
    for (const char* run : {"FIRST", "SECOND", "OTHER", "ALONE"})
        ended(run, 0, 40);
    ended("THIRD", 0, 1);
    saves_in("THIRD", "path", base / "runs/SECOND/checkpoints");
    saves_in("SECOND", "load", base / "runs/../runs/FIRST/checkpoints/step-00000004");
    saves_in("OTHER", "path", base / "runs/ALONE/checkpoints");
    const Json result = collect(30);
    EXPECT_EQ(result["runs"], 2);
    EXPECT_EQ(result["kept_runs"], 3);
    for (const char* run : {"FIRST", "SECOND", "THIRD"})
        EXPECT_TRUE(has(run)) << run;
    for (const char* run : {"OTHER", "ALONE"})
        EXPECT_FALSE(has(run)) << run;
}

// A node other than the first holds its own share alone.
TEST_F(Garbage, TheShareOfAFurtherNodeIsCleared)
{
    ended("FURTHER", 3, 40);
    ended("UNSEEN", 3, 40, false);
    EXPECT_EQ(collect(30)["runs"], 1);
    EXPECT_FALSE(has("FURTHER"));
    EXPECT_TRUE(has("UNSEEN")) << "its events were never fetched";
}

TEST_F(Garbage, SharesOnOneFileSystemGoTogether)
{
    ended("JOB", 0, 40); // of a Slurm job the first share alone is followed
    ended("JOB", 1, 40, false);
    ended("LATE", 0, 40);
    ended("LATE", 1, 10);
    EXPECT_EQ(collect(30)["runs"], 1);
    EXPECT_FALSE(has("JOB"));
    EXPECT_TRUE(has("LATE"));
}

// A launch that failed on another node, or whose prelude failed here, leaves folders that nobody will follow.
TEST_F(Garbage, WhatWasNeverStartedIsCleared)
{
    for (const char* run : {"BEGUN", "HELD"}) {
        const RunFolder share(base, run, 1);
        ASSERT_TRUE(share.create());
        write(share.file("lock"), "", 40);
        grow_old(share.path().parent_path(), 40);
    }
    for (const char* run : {"PREPARED", "SPOKE"}) {
        const RunFolder share(base, run, 0);
        ASSERT_TRUE(share.create());
        write(share.file("spec.json"), "{}", 40);
    }
    write(RunFolder(base, "SPOKE", 0).file("events.jsonl"), "{}\n", 40);
    const auto held = RunFolder(base, "HELD", 1).lock(); // a launch is at it
    ASSERT_TRUE(held);
    EXPECT_EQ(collect(50)["runs"], 0);
    EXPECT_EQ(collect(30)["runs"], 2);
    EXPECT_FALSE(has("BEGUN"));
    EXPECT_FALSE(has("PREPARED"));
    EXPECT_TRUE(has("HELD"));
    EXPECT_TRUE(has("SPOKE"));
}

TEST_F(Garbage, WhatIsNoRunStays)
{
    std::filesystem::create_directories(base / "runs/notes");
    write(base / "runs/notes/important.txt", "x", 40);
    grow_old(base / "runs/notes", 40);
    std::filesystem::create_directories(base / "runs/EMPTY"); // a run whose launch came no further
    grow_old(base / "runs/EMPTY", 40);
    EXPECT_EQ(collect(30)["runs"], 1);
    EXPECT_TRUE(has("notes"));
    EXPECT_FALSE(has("EMPTY"));
}

TEST_F(Garbage, FilesThatAKeptRunLinksToStay)
{
    std::filesystem::create_directories(base / "store");
    const std::string needed(64, 'a'), unused(64, 'b');
    write(base / "store" / needed, "x", 40);
    write(base / "store" / unused, "x", 40);
    ended("YOUNG", 2, 1);
    std::filesystem::create_symlink(base / "store" / needed, RunFolder(base, "YOUNG", 2).file("data"));
    EXPECT_EQ(collect(30)["files"], 1);
    EXPECT_TRUE(std::filesystem::exists(base / "store" / needed));
    EXPECT_FALSE(std::filesystem::exists(base / "store" / unused));
}

} // namespace
} // namespace fourfold
