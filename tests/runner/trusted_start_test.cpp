// SPDX-License-Identifier: GPL-3.0-or-later
// What the nodes of a Slurm job run is the agent that submitted it, from a place that is nobody else's to write.
#include "runner/agent/slurm/trusted_start.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace fourfold {
namespace {

class TrustedStart : public testing::Test {
protected:
    TrustedStart()
    {
        umask(022);
        std::string pattern = testing::TempDir() + "start.XXXXXX";
        top = std::filesystem::canonical(mkdtemp(pattern.data()));
        folder = top / "a base's folder";
        std::filesystem::create_directory(folder);
        program = folder / "the agent";
        write("echo \"$# [$1] [$2] in $PWD\"");
    }
    ~TrustedStart() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(top, ignored);
    }
    void write(const std::string& line) const
    {
        std::filesystem::remove(program);
        std::ofstream(program) << "#!/bin/sh\n" << line << "\n";
        chmod(program.c_str(), 0500);
    }
    [[nodiscard]] std::string start(const GroupFolders& group_writable = {}) const
    {
        const auto command = trusted_start(program, group_writable);
        EXPECT_TRUE(command) << command.error().line();
        return command ? *command : "false";
    }
    // What the command says, on both streams, as a job's script runs it; `status` as of a shell.
    std::string run(const std::string& command)
    {
        std::ofstream(top / "job.sh") << "cd " << top.string() << "\n" << command << " slurm-node '/runs/the run'\n";
        FILE* pipe = popen(("timeout 20 /bin/sh " + (top / "job.sh").string() + " 2>&1").c_str(), "r");
        std::string out;
        std::array<char, 4096> block{};
        while (const std::size_t got = fread(block.data(), 1, block.size(), pipe))
            out.append(block.data(), got);
        status = WEXITSTATUS(pclose(pipe));
        return out;
    }
    void expect_refused(const std::string& command, const std::string& why)
    {
        const std::string said = run(command);
        EXPECT_EQ(status, 1) << said;
        EXPECT_NE(said.find("fourfold: nothing can safely be run from here: "), std::string::npos) << said;
        EXPECT_NE(said.find(why), std::string::npos) << said;
        EXPECT_EQ(said.find("slurm-node"), std::string::npos) << "it was run: " << said;
    }

    std::filesystem::path top, folder, program;
    int status = -1;
};

TEST_F(TrustedStart, RunsTheAgentWhereTheJobStands)
{
    EXPECT_EQ(run(start()), "2 [slurm-node] [/runs/the run] in " + top.string() + "\n");
    EXPECT_EQ(status, 0);
}

TEST_F(TrustedStart, RefusesAnotherProgramInItsPlace)
{
    const std::string command = start();
    write("echo evil \"$@\"");
    expect_refused(command, program.string() + " is not the agent that submitted the job");
    std::filesystem::remove(program);
    ASSERT_EQ(mkfifo(program.c_str(), 0700), 0); // to open it would be to wait for its writer
    expect_refused(command, "is not the agent that submitted the job");
    std::filesystem::remove(program);
    expect_refused(command, "is not the agent that submitted the job");
}

TEST_F(TrustedStart, RefusesAFolderThatOthersMayWrite)
{
    const std::string command = start();
    chmod(folder.c_str(), 0777);
    expect_refused(command, folder.string() + " may be written by others");
    chmod(folder.c_str(), 01777);
    EXPECT_NE(run(command).find("[slurm-node]"), std::string::npos) << "nobody else can put another in its place";
    chmod(folder.c_str(), 0775);
    expect_refused(command, folder.string() + " may be written by its group");
    EXPECT_NE(run(start({folder.string()})).find("[slurm-node]"), std::string::npos) << "its group is trusted by name";
}

TEST_F(TrustedStart, MakesNothingWhereTheFolderIsMissing)
{
    const std::string command = start();
    std::filesystem::rename(folder, top / "elsewhere");
    expect_refused(command, folder.string() + " is not there");
    EXPECT_FALSE(std::filesystem::exists(folder));
    // A link of the user's own may lead there.
    std::filesystem::create_symlink("elsewhere", folder);
    EXPECT_NE(run(command).find("[slurm-node]"), std::string::npos);
}

TEST_F(TrustedStart, AnUnreadableAgentIsAProblem)
{
    std::filesystem::remove(program);
    EXPECT_FALSE(trusted_start(program, {}));
}

} // namespace
} // namespace fourfold
