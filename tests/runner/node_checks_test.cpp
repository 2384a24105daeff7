// SPDX-License-Identifier: GPL-3.0-or-later
// What a node finds standing in the way of a run, each made in a mount namespace of the test's own: small, read-only
// and noexec disks, low limits, GPUs as a stand-in for nvidia-smi describes them. Skipped where mounts are not allowed.
#include "runner/agent/checks/container_checks.h"
#include "runner/agent/checks/node_checks.h"
#include "runner/protocol/message.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>

namespace fourfold {
namespace {

class NodeChecks : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = testing::TempDir() + "fourfold-checks.XXXXXX";
        base = mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(base); }

    // The findings of a process that `prepare` was done to; nothing when mounts are not allowed here.
    std::optional<Json> findings(const std::function<bool()>& prepare, bool on_gpus = false)
    {
        const auto file = base.string() + ".findings";
        const pid_t child = fork();
        if (child == 0) {
            if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0
                || !prepare())
                _exit(77);
            std::ofstream(file) << node_checks(base, 1, on_gpus).dump();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            return {};
        const auto json = read_json_file(file);
        std::filesystem::remove(file);
        return json ? std::optional(*json) : std::nullopt;
    }
    [[nodiscard]] bool tmpfs(const std::filesystem::path& at, const char* options, unsigned long flags = 0) const
    {
        return mount("small", at.c_str(), "tmpfs", flags, options) == 0;
    }
    // The finding of this name, or null.
    static Json about(const Json& findings, const std::string& check)
    {
        const auto at = std::find_if(
            findings.begin(), findings.end(), [&](const Json& one) { return text_field(one, "check") == check; });
        return at == findings.end() ? Json() : *at;
    }
    static void expect(
        const Json& findings, const std::string& check, const std::string& level, const std::string& part)
    {
        const Json found = about(findings, check);
        ASSERT_FALSE(found.is_null()) << check << " is not in " << findings.dump();
        EXPECT_EQ(text_field(found, "level"), level) << found.dump();
        EXPECT_NE(text_field(found, "message").find(part), std::string::npos) << found.dump();
        EXPECT_FALSE(text_field(found, "evidence").empty()) << found.dump();
        EXPECT_EQ(text_field(found, "cure").empty(), level == "info") << found.dump();
    }

    std::filesystem::path base;
};

TEST_F(NodeChecks, ASoundNodeHasNoErrors)
{
    const Json found = node_checks(base, 1, false);
    for (const Json& one : found)
        EXPECT_NE(text_field(one, "level"), "error") << one.dump();
    for (const char* check : {"noexec", "read-only", "flock"})
        EXPECT_TRUE(about(found, check).is_null()) << check;
    EXPECT_FALSE(about(found, "disk").is_null());
}

TEST_F(NodeChecks, ADiskThatIsSmallAndFullOfFilesAndRunsNothing)
{
    const auto found = findings([&] { return tmpfs(base, "size=100m,nr_inodes=50", MS_NOEXEC); });
    if (!found)
        GTEST_SKIP() << "mounts need root";
    expect(*found, "disk", "warning", "free");
    expect(*found, "inodes", "warning", "files can still be made");
    expect(*found, "noexec", "error", "programs cannot be run");
    EXPECT_TRUE(about(*found, "flock").is_null());
}

TEST_F(NodeChecks, ADiskThatCannotBeWritten)
{
    const auto found = findings([&] { return tmpfs(base, "size=1m", MS_RDONLY); });
    if (!found)
        GTEST_SKIP() << "mounts need root";
    expect(*found, "read-only", "error", "cannot be written");
    expect(*found, "flock", "error", "cannot be locked");
}

TEST_F(NodeChecks, LowLimitsAndLittleSharedMemory)
{
    const auto found = findings([&] {
        std::error_code error;
        const rlimit files{1000, 1000}, locked{65536, 65536};
        return tmpfs("/dev/shm", "size=1m") && tmpfs("/sys/class", "size=1m")
            && std::filesystem::create_directories("/sys/class/infiniband/mlx5_0", error)
            && setrlimit(RLIMIT_NOFILE, &files) == 0 && setrlimit(RLIMIT_MEMLOCK, &locked) == 0;
    });
    if (!found)
        GTEST_SKIP() << "mounts need root";
    expect(*found, "/dev/shm", "warning", "free");
    expect(*found, "open files", "warning", "at most 1000");
    expect(*found, "locked memory", "error", "InfiniBand");
}

TEST_F(NodeChecks, OtherRunsAreNamed)
{
    setenv("FOURFOLD_RUN", "SOMEBODYELSES", 1);
    const pid_t other = fork();
    if (other == 0) {
        execlp("sleep", "sleep", "60", nullptr);
        _exit(127);
    }
    unsetenv("FOURFOLD_RUN");
    Json found;
    for (int i = 0; i < 200 && about(found, "other runs").is_null(); ++i) { // until it has its own environment
        usleep(10000);
        found = node_checks(base, 1, false);
    }
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    Json named;
    for (const Json& one : found) {
        if (text_field(one, "message").find("SOMEBODYELSES") != std::string::npos)
            named = one;
    }
    ASSERT_TRUE(named.is_object()) << found.dump();
    EXPECT_EQ(text_field(named, "cure").find("fourfold stop"), std::string::npos) << "its folder is not here";
}

TEST_F(NodeChecks, AContainerThatCannotRun)
{
    const auto says = [&](const std::string& image, bool prelude, const std::string& path) {
        std::string out;
        for (const Json& one : container_findings(image, prelude, {{"PATH", path}, {"HOME", base.string()}}))
            out += text_field(one, "level") + " " + text_field(one, "message") + "; ";
        return out;
    };
    const std::string missing = "neither apptainer nor singularity is in the PATH of the node; ";
    EXPECT_EQ(says("docker://debian:12", false, "/nowhere"), "error " + missing);
    EXPECT_EQ(says("docker://debian:12", true, "/nowhere"), "warning " + missing) << "the prelude may bring it";
    std::ofstream(base / "apptainer") << "#!/bin/sh\n";
    std::filesystem::permissions(base / "apptainer", std::filesystem::perms::owner_all);
    EXPECT_EQ(says("docker://debian:12", false, base.string()), "");
    EXPECT_EQ(says("~/a.sif", false, base.string()), "error the image cannot be read; ");
    std::ofstream(base / "a.sif") << "x";
    EXPECT_EQ(says("~/a.sif", false, base.string()), "");
}

// The whole way: a program in nvidia-smi's place, the driver's mark, the kernel's log.
TEST_F(NodeChecks, GpusThatAreInAPoorState)
{
    const auto found = findings(
        [&] {
            std::error_code error;
            if (!tmpfs("/proc/driver", "size=1m") || !tmpfs("/usr/local/bin", "size=1m")
                || !std::filesystem::create_directories("/proc/driver/nvidia", error))
                return false;
            std::ofstream("/proc/driver/nvidia/version") << "NVRM version: 580.1\n";
            std::ofstream("/usr/local/bin/nvidia-smi")
                << "#!/bin/sh\ncase \"$1\" in\n--query-gpu=*) echo '0, NVIDIA H100, 81559, 1000, 3, 0x40, Enabled, "
                   "90';;\n"
                   "--query-compute-apps=*) echo '77, 60000 MiB, python';;\nesac\n";
            std::filesystem::permissions("/usr/local/bin/nvidia-smi", std::filesystem::perms::owner_all, error);
            std::ofstream(base / "kmsg") << "4,1,1,-;NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n";
            return mount((base / "kmsg").c_str(), "/dev/kmsg", nullptr, MS_BIND, nullptr) == 0;
        },
        true);
    if (!found)
        GTEST_SKIP() << "mounts need root";
    if (std::filesystem::exists("/usr/bin/nvidia-smi"))
        GTEST_SKIP() << "this computer has a GPU with an nvidia-smi of its own";
    expect(*found, "GPU memory", "warning", "1000 of 81559 MiB free");
    expect(*found, "ECC", "error", "3 uncorrected");
    expect(*found, "clocks", "warning", "too hot");
    expect(*found, "MIG", "error", "split");
    expect(*found, "GPU processes", "warning", "python");
    expect(*found, "Xid", "warning", "1 GPU errors");
    EXPECT_NE(text_field(about(*found, "Xid"), "evidence").find("fallen off the bus"), std::string::npos);
    EXPECT_FALSE(about(*found, "NCCL").is_null());
}

} // namespace
} // namespace fourfold
