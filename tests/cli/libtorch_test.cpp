// SPDX-License-Identifier: GPL-3.0-or-later
// A trainer whose LibTorch is not where it was built, as after the installation of a package: the places where it is
// found, and what is said when there is none.
#include "tests/cli/training.h"

#include <cstdlib>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class LibTorch : public TrainingTest {
protected:
    LibTorch()
        : TrainingTest(FOURFOLD_FAKE_TORCH_TRAINER)
    {
        ::unsetenv("FOURFOLD_LIBTORCH");
    }
    ~LibTorch() override { ::unsetenv("FOURFOLD_LIBTORCH"); }

    // Two libraries as a LibTorch in `torch`.
    static void place(const fs::path& torch)
    {
        fs::create_directories(torch.parent_path());
        fs::copy(FOURFOLD_FAKE_TORCH, torch, fs::copy_options::recursive);
    }
    [[nodiscard]] fs::path cached() const
    {
        return folder() / "cache/fourfold/libtorch-" FOURFOLD_TORCH_VERSION "/torch";
    }
};

TEST_F(LibTorch, MissingIsOneLineThatNamesTheCommandToGetIt)
{
    for (const std::vector<std::string>& command :
        {std::vector<std::string>{"run", tiny_plan()}, {"run", tiny_plan(), "--dry-run"},
            {"run", tiny_plan(), "--target", "me@node1", "--dry-run"}, {"libtorch", "where"}}) {
        const Output output = fourfold(command);
        expect_problem(output, 2, "fourfold-trainer: needs lib");
        expect_problem(output, 2, "(get LibTorch " FOURFOLD_TORCH_VERSION " with: fourfold libtorch get; or set");
    }
    EXPECT_FALSE(fs::exists(history_file())) << "nothing was begun";
}

TEST_F(LibTorch, OfTheUsersCacheIsFound)
{
    place(cached());
    const Output where = fourfold({"libtorch", "where"});
    EXPECT_EQ(where.status, 0) << where.err;
    EXPECT_EQ(where.out, cached().string() + "\n");
    const Output run = fourfold({"run", tiny_plan()});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(json_of(fourfold({"history", "list", "--json"}))[0]["state"], "ok");
    const Output remote = fourfold({"run", tiny_plan(), "--target", "me@node1", "--dry-run"});
    EXPECT_THAT(remote.out, HasSubstr((cached() / "lib/libtorch_cpu.so").string())) << "it is sent to nodes";
}

TEST_F(LibTorch, ThatIsNamedComesFirst)
{
    place(cached());
    place(folder() / "mine");
    ::setenv("FOURFOLD_LIBTORCH", "mine", 1); // relative to the folder that the program is started in
    EXPECT_EQ(fourfold({"libtorch", "where"}).out, (folder() / "mine\n").string());
    const Output run = fourfold({"run", tiny_plan()});
    EXPECT_EQ(run.status, 0) << run.err;
    fs::remove_all(folder() / "mine/lib");
    expect_problem(fourfold({"run", tiny_plan()}), 2, "mine: holds no lib/libtorch_cpu.so (set FOURFOLD_LIBTORCH to");
}

TEST_F(LibTorch, IsNotNeededInFrontOfAProgramThatIsNone)
{
    const fs::path trainer = folder() / "bin/fourfold-trainer";
    place(folder() / "mine");
    fs::rename(trainer, folder() / "bin/real-trainer");
    file("bin/fourfold-trainer",
        "#!/bin/sh\nLD_LIBRARY_PATH='" + (folder() / "mine/lib").string() + "' exec '"
            + (folder() / "bin/real-trainer").string() + "' \"$@\"\n");
    fs::permissions(trainer, fs::perms::owner_all);
    const Output run = fourfold({"run", tiny_plan()});
    EXPECT_EQ(run.status, 0) << run.err;
}

} // namespace
} // namespace fourfold::test
