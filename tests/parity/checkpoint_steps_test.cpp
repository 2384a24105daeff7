// SPDX-License-Identifier: GPL-3.0-or-later
// The folders of a run's steps and of an export: what is put there, what goes, and who may write.
#include "runner/trainer/checkpoint/export_folder.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/publish.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace fourfold::testing {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text)
{
    std::ofstream(file) << text;
}

TEST(Steps, LaterOnesAreLeftAndOlderOnesGo)
{
    const TemporaryFolder folder;
    for (const char* name : {"step-00000002", "step-00000004", "step-00000006", "step-00000008",
             "step-00000005.partial", "step-00000003.removed", "step-00000009.partial", "notes"})
        fs::create_directories(folder.path() / name);
    write_text(folder.path() / "step-00000008/model-00001-of-00001.safetensors", "old");
    write_text(folder.path() / "step-00000008/trainer.json", "{}");
    trainer::remove_oldest(folder.path(), 6, 2);
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(folder.path()))
        left.push_back(entry.path().filename().string());
    EXPECT_THAT(left,
        ::testing::UnorderedElementsAre(
            "step-00000004", "step-00000006", "step-00000008", "step-00000009.partial", "notes"));
    // A step that is saved again takes the place of the one before.
    fs::create_directories(folder.path() / "step-00000008.partial");
    write_text(folder.path() / "step-00000008.partial/trainer.json", "new");
    const auto published
        = trainer::publish_step(folder.path() / "step-00000008.partial", folder.path() / "step-00000008");
    ASSERT_TRUE(published) << published.error().line();
    EXPECT_TRUE(fs::exists(folder.path() / "step-00000008/trainer.json"));
    EXPECT_FALSE(fs::exists(folder.path() / "step-00000008/model-00001-of-00001.safetensors"));
    EXPECT_FALSE(fs::exists(folder.path() / "step-00000008.partial"));
}

TEST(Exported, WhatCannotAllBeMovedIsNotLeftInPart)
{
    const TemporaryFolder folder;
    const fs::path from = folder.path() / "from", to = folder.path() / "to";
    for (const fs::path& made : {from, to})
        fs::create_directory(made);
    for (const char* name : {"config.json", "generation_config.json", "model.safetensors"})
        std::ofstream(from / name) << name;
    fs::create_directory(to / "model.safetensors"); // made meanwhile by somebody
    const std::vector<std::string> names{"config.json", "generation_config.json", "model.safetensors"};
    const auto failed = trainer::move_files(from, to, names);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().line(), HasSubstr("cannot be put in its place"));
    EXPECT_FALSE(fs::exists(to / "generation_config.json"));
    EXPECT_FALSE(fs::exists(to / "config.json"));
    fs::remove(to / "model.safetensors");
    std::ofstream(from / "generation_config.json") << "again";
    ASSERT_TRUE(trainer::move_files(from, to, names));
    EXPECT_TRUE(fs::exists(to / "config.json"));
    EXPECT_FALSE(fs::exists(from));
}

TEST(Steps, AreOfOneRunAtATime)
{
    const TemporaryFolder folder;
    const fs::path steps = folder.path() / "checkpoints";
    using trainer::hold_folder;
    auto first = hold_folder(steps, {"FIRST", "here"}, 60);
    ASSERT_TRUE(first) << first.error().line();
    EXPECT_TRUE(first->valid());
    const auto second = hold_folder(steps, {"SECOND", "here"}, 60);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().line(), HasSubstr("run FIRST on here saves into this folder"));
    EXPECT_THAT(second.error().line(), HasSubstr(steps.string()));
    // A host that may have died is waited for, but not longer than the ranks that wait for this one.
    const auto elsewhere = hold_folder(steps, {"OTHER", "there"}, 0.1);
    ASSERT_FALSE(elsewhere);
    EXPECT_THAT(elsewhere.error().line(), HasSubstr("run FIRST on here saves into this folder"));
    first->close();
    auto third = hold_folder(steps, {"THIRD", "there"}, 60);
    ASSERT_TRUE(third) << third.error().line();
    EXPECT_TRUE(third->valid());

    // Another user's lock is seen all the same, and what cannot be opened is not taken for free.
    fs::permissions(folder.path(), fs::perms::all);
    fs::permissions(steps, fs::perms::all);
    const bool is_root = ::geteuid() == 0;
    constexpr uid_t kNobody = 65534;
    const auto as_other = [&](const fs::perms of_lock) {
        fs::permissions(steps / trainer::kLockFile, of_lock);
        if (is_root)
            EXPECT_EQ(::seteuid(kNobody), 0);
        auto held = hold_folder(steps, {"FOURTH", "there"}, 0.1);
        if (is_root)
            EXPECT_EQ(::seteuid(0), 0);
        return held;
    };
    const auto seen = as_other(fs::status(steps / trainer::kLockFile).permissions());
    ASSERT_FALSE(seen);
    EXPECT_THAT(seen.error().line(), HasSubstr("run THIRD on there saves into this folder"));
    const auto unknown = as_other(fs::perms::none);
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().line(), HasSubstr("belongs to another user and cannot be opened"));

    // The name of the run before is none of the one that has just taken the lock.
    fs::permissions(steps / trainer::kLockFile, fs::perms::owner_read | fs::perms::owner_write);
    third->close();
    auto fifth = hold_folder(steps, {"FIFTH", "here"}, 60);
    ASSERT_TRUE(fifth) << fifth.error().line();
    std::ofstream(steps / trainer::kLockFile) << R"({"run": "BEFORE", "host": "here"})";
    const std::jthread late([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::ofstream(steps / trainer::kLockFile) << R"({"run": "FIFTH", "host": "here"})";
    });
    const auto sixth = hold_folder(steps, {"SIXTH", "here"}, 60);
    ASSERT_FALSE(sixth);
    EXPECT_THAT(sixth.error().line(), HasSubstr("run FIFTH on here saves into this folder"));

    // What cannot be made or locked is not refused here.
    std::ofstream(folder.path() / "file") << "x";
    const auto none = hold_folder(folder.path() / "file", {"RUN", "here"}, 60);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->valid());
    EXPECT_TRUE(trainer::step_folders(steps).empty());
}

TEST(Steps, WhatIsNoCheckpointStays)
{
    const TemporaryFolder folder;
    const auto in = [&](const char* name) { return folder.path() / name; };
    const auto put = [&](const char* name) {
        fs::create_directories(in(name).parent_path());
        write_text(in(name), "mine");
    };
    put("step-00000002/thesis.tex"); // also beside the files of a checkpoint
    put("step-00000002/trainer.json");
    put("step-00000004/config.json"); // a model from elsewhere
    put("step-00000004/model-00001-of-00001.safetensors");
    put("step-00000006"); // a file
    put("step-00000003.partial/thesis.tex");
    put("step-00000005.removed/thesis.tex");
    for (const char* name : {"step-00000002", "step-00000004", "step-00000006"}) {
        for (const char* ending : {".kept", ".kept-2"}) { // where no save of the step empties it
            put("step-00000008.partial/trainer.json");
            const auto refused = trainer::publish_step(in("step-00000008.partial"), in(name));
            ASSERT_FALSE(refused) << name;
            EXPECT_EQ(refused.error().where, in(name).string());
            EXPECT_THAT(refused.error().line(), HasSubstr("whole in " + in(name).string() + ending + ": "));
            EXPECT_TRUE(fs::exists(in(name).string() + ending + "/trainer.json"));
        }
    }
    put("step-00000008.partial/trainer.json");
    EXPECT_THAT(trainer::check_replaceable(in("step-00000002")).error().line(), HasSubstr("thesis.tex"));
    ASSERT_TRUE(trainer::publish_step(in("step-00000008.partial"), in("step-00000008")));
    trainer::remove_oldest(folder.path(), 8, 1);
    for (const char* name :
        {"step-00000002/thesis.tex", "step-00000004/config.json", "step-00000006", "step-00000003.partial/thesis.tex",
            "step-00000005.removed/thesis.tex", "step-00000008/trainer.json", "step-00000002.kept/trainer.json"})
        EXPECT_TRUE(fs::exists(in(name))) << name;

    // Before a run begins, for the steps that it would save.
    EXPECT_FALSE(trainer::check_steps(folder.path(), 0, 20, 2));
    EXPECT_TRUE(trainer::check_steps(folder.path(), 6, 20, 2)) << "they are behind it";
    EXPECT_TRUE(trainer::check_steps(folder.path(), 0, 20, 5));
    EXPECT_FALSE(trainer::check_steps(folder.path(), 0, 4, 5)) << "the last one is saved always";
}

} // namespace
} // namespace fourfold::testing
