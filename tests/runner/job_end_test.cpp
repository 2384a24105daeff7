// SPDX-License-Identifier: GPL-3.0-or-later
// When the end of a Slurm job counts as near, with a scontrol of the test. Linked with the agent's own parts.
#include "runner/agent/slurm/job_end.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace fourfold {
namespace {

class JobEndTest : public testing::Test {
protected:
    JobEndTest()
    {
        std::string pattern = testing::TempDir() + "end.XXXXXX";
        folder = mkdtemp(pattern.data());
        setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
    }
    ~JobEndTest() override
    {
        setenv("PATH", before_.c_str(), 1);
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    void write_program(const std::string& name, const std::string& lines) const
    {
        std::ofstream(folder / name) << "#!/bin/sh\n" << lines;
        std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
    }
    std::filesystem::path folder;

private:
    std::string before_ = std::getenv("PATH");
};

// Slurm is asked for the end of a job after its sign, and only what it says counts: limits are moved, and it may be
// silent or say what is none.
TEST_F(JobEndTest, IsNearWhenSlurmSaysSo)
{
    const auto says = [&](const std::string& end) {
        write_program("scontrol",
            "echo >> '" + (folder / "asked").string() + "'\necho 'JobState=RUNNING Reason=None EndTime=" + end + "'\n");
    };
    const auto in_seconds = [](int seconds) {
        const std::time_t end = std::time(nullptr) + seconds;
        std::tm local{};
        char text[40];
        localtime_r(&end, &local);
        return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local));
    };
    const auto is_near_within = [](JobEnd& end, double needed_s, int tries) {
        for (int i = 0; i < tries; ++i, usleep(10000)) {
            if (end.is_near(needed_s))
                return true;
        }
        return false;
    };
    says(in_seconds(30));
    JobEnd early("7");
    EXPECT_FALSE(is_near_within(early, 60, 20));
    EXPECT_FALSE(std::filesystem::exists(folder / "asked")) << "slurmctld serves a whole cluster";
    early.warned();
    early.warned(); // some hosts give it twice
    EXPECT_TRUE(is_near_within(early, 60, 1000));

    says(in_seconds(3600)); // moved meanwhile
    EXPECT_FALSE(is_near_within(early, 60, 100));
    for (const std::string end : {"Unknown", "", "soon"}) {
        says(end);
        JobEnd rubbish("7");
        rubbish.warned();
        EXPECT_FALSE(is_near_within(rubbish, 60, 100)) << end;
    }
    write_program("scontrol", "exec sleep 600\n");
    JobEnd silent("7");
    silent.warned();
    EXPECT_FALSE(is_near_within(silent, 60, 100));
    says(in_seconds(-5)); // Slurm ends jobs somewhat later than it says
    JobEnd over("7");
    over.warned();
    EXPECT_TRUE(is_near_within(over, 60, 1000));
}

} // namespace
} // namespace fourfold
