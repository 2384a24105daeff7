// SPDX-License-Identifier: GPL-3.0-or-later
// The agent's parts that watch ranks, each by itself: stalls by a clock of the test, capped logs, cores of a NUMA node,
// the page that a rank shares.
#include "runner/agent/checks/load_checks.h"
#include "runner/agent/checks/node_checks.h"
#include "runner/agent/node/numa.h"
#include "runner/agent/ranks/rank_log.h"
#include "runner/agent/slurm/job_question.h"
#include "runner/agent/slurm/slurm_checks.h"
#include "runner/agent/slurm/slurm_commands.h"
#include "runner/agent/supervision/diagnosis.h"
#include "runner/agent/supervision/stall_watch.h"
#include "runner/protocol/message.h"
#include "runner/protocol/slurm_time.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace fourfold {
namespace {

class Folder : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = testing::TempDir() + "fourfold.XXXXXX";
        folder = mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    void write(const std::string& name, const std::string& text) const
    {
        std::filesystem::create_directories((folder / name).parent_path());
        std::ofstream(folder / name) << text;
    }
    std::filesystem::path folder;
};

TEST(StallWatches, TenMediansOrSixtySeconds)
{
    StallWatch watch(RunLimits{}, 1000);
    EXPECT_EQ(watch.limit(), 900) << "before the first step";
    for (int i = 0; i <= 20; ++i)
        watch.step(1000 + i);
    EXPECT_EQ(watch.median(), 1);
    EXPECT_EQ(watch.limit(), 60);
    EXPECT_EQ(watch.look(1020 + 59), StallWatch::Finding::none);
    EXPECT_EQ(watch.look(1020 + 61), StallWatch::Finding::stalled);
    EXPECT_EQ(watch.look(1020 + 62), StallWatch::Finding::none) << "said once";
    watch.step(1090);
    EXPECT_EQ(watch.look(1091), StallWatch::Finding::recovered);
    EXPECT_EQ(watch.look(1092), StallWatch::Finding::none);
    EXPECT_EQ(watch.look(1151), StallWatch::Finding::stalled);
    EXPECT_EQ(watch.look(1151 + 59), StallWatch::Finding::none);
    EXPECT_EQ(watch.look(1151 + 61), StallWatch::Finding::hung);
    EXPECT_EQ(watch.look(1151 + 70), StallWatch::Finding::none);
    StallWatch slow(RunLimits{}, 0);
    for (int i = 0; i <= 5; ++i)
        slow.step(i * 30);
    EXPECT_EQ(slow.limit(), 300) << "ten medians";
    slow.sign_of_life(400);
    EXPECT_EQ(slow.look(690), StallWatch::Finding::none);
    EXPECT_EQ(slow.look(701), StallWatch::Finding::stalled);
    RunLimits off;
    off.stall_s = 0;
    StallWatch never(off, 0);
    EXPECT_EQ(never.look(1e9), StallWatch::Finding::none);
}

using RankLogs = Folder;

TEST_F(RankLogs, KeepBeginningAndEnd)
{
    const auto file = folder / "rank0.log";
    auto log = RankLog::open(file, {100, 50});
    ASSERT_TRUE(log);
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
        const std::string line = "line " + std::to_string(i) + "\n";
        ASSERT_EQ(::write(log->write_end(), line.data(), line.size()), ssize_t(line.size()));
        if (i % 7 == 0)
            log->poll();
        expected += line;
    }
    log->started();
    log->close();
    EXPECT_EQ(log->bytes(), expected.size());
    const std::string kept = slurp(file);
    EXPECT_TRUE(kept.starts_with(expected.substr(0, 100)));
    EXPECT_NE(kept.find("a part is left out here"), std::string::npos);
    EXPECT_TRUE(kept.ends_with("line 998\nline 999\n")) << kept;
    EXPECT_LT(kept.size(), 1000u);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "no parts are left";
}

// A fast writer fills both parts of the end within one tick of the clock by which files have their times.
TEST_F(RankLogs, PartsOfOneInstantKeepTheirOrder)
{
    const auto file = folder / "rank0.log";
    const auto at_once = [&] {
        const timespec times[2]{{1'000'000'000, 0}, {1'000'000'000, 0}};
        for (const char* part : {"rank0.log.tail0", "rank0.log.tail1"})
            ASSERT_EQ(utimensat(AT_FDCWD, (folder / part).c_str(), times, 0), 0) << part;
    };
    const std::vector<std::string> blocks{std::string(10, 'a'), std::string(20, 'b'), std::string(20, 'c'), "ddd"};
    const auto filled = [&](int count) {
        auto log = RankLog::open(file, {10, 20});
        for (int i = 0; i < count; ++i) {
            EXPECT_EQ(::write(log->write_end(), blocks[std::size_t(i)].data(), blocks[std::size_t(i)].size()),
                ssize_t(blocks[std::size_t(i)].size()));
            log->poll();
        }
        return log;
    };
    for (const int count : {3, 4}) { // the last part is the second, then the first one again
        std::filesystem::remove(file);
        auto log = filled(count);
        ASSERT_TRUE(log);
        at_once();
        log->close();
        const std::string kept = slurp(file), last = blocks[std::size_t(count - 1)];
        EXPECT_TRUE(kept.ends_with(blocks[std::size_t(count - 2)] + last)) << kept;
    }
    std::filesystem::remove(file);
    {
        const auto left = filled(4); // its agent is gone
        at_once();
    }
    RankLog::put_together(file);
    EXPECT_TRUE(slurp(file).ends_with("cccccddd")) << slurp(file);
}

TEST_F(RankLogs, AShortOneIsAsItCame)
{
    auto log = RankLog::open(folder / "rank0.log");
    ASSERT_TRUE(log);
    const std::string text("a\0b\x1b[31m\xff\n", 10);
    ASSERT_EQ(::write(log->write_end(), text.data(), text.size()), ssize_t(text.size()));
    log->close(); // somebody still holds the write end: not waited for
    EXPECT_EQ(slurp(folder / "rank0.log"), text);
}

using NumaNodes = Folder;

TEST_F(NumaNodes, ARankGetsTheCoresOfItsGpusNode)
{
    write("proc/driver/nvidia/gpus/0000:01:00.0/information", "");
    write("proc/driver/nvidia/gpus/0000:C1:00.0/information", "");
    write("sys/bus/pci/devices/0000:01:00.0/numa_node", "1\n");
    write("sys/bus/pci/devices/0000:c1:00.0/numa_node", "0\n");
    write("sys/devices/system/node/node0/cpulist", "0-3\n");
    write("sys/devices/system/node/node1/cpulist", "4-6,9\n");
    RunSpec spec;
    spec.ranks = {RankPlace{0, 0, {}}, RankPlace{1, 1, {}}};
    spec.numa = "gpu";
    const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_EQ(cores_of_rank(spec, spec.ranks[0], all, "", folder), (std::vector<int>{4, 5, 6, 9}));
    EXPECT_EQ(cores_of_rank(spec, spec.ranks[1], all, "", folder), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(cores_of_rank(spec, spec.ranks[0], all, "1,0", folder), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(cores_of_rank(spec, spec.ranks[1], {2, 8}, "", folder), (std::vector<int>{2})) << "only what may be used";
    EXPECT_TRUE(cores_of_rank(spec, spec.ranks[0], all, "GPU-1234", folder).empty());
    write("sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n");
    EXPECT_TRUE(cores_of_rank(spec, spec.ranks[0], all, "", folder).empty()) << "the kernel does not know";
    spec.numa = "spread";
    EXPECT_EQ(cores_of_rank(spec, spec.ranks[1], all, "", folder), (std::vector<int>{4, 5, 6, 9}));
    spec.numa = "none";
    EXPECT_TRUE(cores_of_rank(spec, spec.ranks[0], all, "", folder).empty());
}

TEST(CoreLists, AreRead)
{
    EXPECT_EQ(parse_core_list("0-2,5\n"), (std::vector<int>{0, 1, 2, 5}));
    EXPECT_TRUE(parse_core_list("").empty());
    EXPECT_TRUE(parse_core_list("a").empty());
    EXPECT_TRUE(parse_core_list("1-x").empty());
    EXPECT_TRUE(parse_core_list("-1").empty());
    EXPECT_TRUE(parse_core_list("5-3").empty());
    EXPECT_TRUE(parse_core_list("2147483640-2147483647").empty());
}

// "level check" of each finding.
std::vector<std::string> kinds(const Json& findings)
{
    std::vector<std::string> out;
    for (const Json& one : findings)
        out.push_back(one["level"].get<std::string>() + " " + one["check"].get<std::string>());
    return out;
}

TEST(GpuFindings, OutOfWhatNvidiaSmiPrints)
{
    const std::string good = "0, NVIDIA H100, 81559, 81000, 0, 0x0000000000000001, Disabled, 35\n";
    EXPECT_EQ(kinds(gpu_findings(good, "", 1)), (std::vector<std::string>{"info GPUs"}));
    EXPECT_EQ(kinds(gpu_findings(good, "", 2)), (std::vector<std::string>{"error GPUs"}));
    EXPECT_EQ(kinds(gpu_findings(
                  "0, NVIDIA H100, 81559, 1000, 3, 0x0000000000000040, Enabled, 90\n", "77, 60000 MiB, python\n", 1)),
        (std::vector<std::string>{
            "warning GPU memory", "error ECC", "warning clocks", "error MIG", "info GPUs", "warning GPU processes"}));
    EXPECT_EQ(kinds(gpu_findings(good + "1, NVIDIA A100, 81559, 81000, [N/A], 0x0, [N/A], 35\n", "", 2)),
        (std::vector<std::string>{"info GPUs", "warning GPU models"}));
    EXPECT_EQ(kinds(gpu_findings("", "", 1)), (std::vector<std::string>{"error GPUs"})) << "nvidia-smi said nothing";
}

TEST(SlurmAnswers, AreRead)
{
    const SlurmJob waits = parse_squeue("PENDING|Resources|\n");
    EXPECT_EQ(waits.state, "PENDING");
    EXPECT_EQ(waits.reason, "Resources");
    EXPECT_TRUE(waits.answered);
    EXPECT_FALSE(parse_squeue("slurm_load_jobs error: Invalid job id specified\n").answered);
    const SlurmJob shown
        = parse_scontrol("JobId=7 JobName=x JobState=RUNNING Reason=None Dependency=(null) PreemptTime=None "
                         "NodeList=n[1-2]\n");
    EXPECT_EQ(shown.state, "RUNNING");
    EXPECT_EQ(shown.reason, "");
    EXPECT_EQ(shown.nodes, "n[1-2]");
    EXPECT_FALSE(shown.preempted);
    EXPECT_TRUE(parse_scontrol("JobState=COMPLETING PreemptTime=2026-01-01T00:00:00").preempted);
    const SlurmJob requeued = parse_scontrol("JobState=COMPLETING Reason=None Requeue=1 Restarts=2 EndTime=Unknown");
    EXPECT_EQ(requeued.restarts, 2);
    EXPECT_EQ(requeued.end_time, 0);
    EXPECT_GT(parse_scontrol("JobState=RUNNING EndTime=2026-01-02T03:04:05").end_time, 1767000000);
    EXPECT_TRUE(is_final("CANCELLED by 0"));
    EXPECT_FALSE(is_final("COMPLETING"));
    EXPECT_EQ(status_of_state("PREEMPTED"), RunState::preempted);
    EXPECT_EQ(status_of_state("NODE_FAIL"), RunState::lost);
    EXPECT_EQ(status_of_state(""), RunState::lost) << "absence is never success";
    EXPECT_EQ(status_of_state("COMPLETED"), RunState::lost) << "only the run folder says ok";
}

class SlurmPrograms : public Folder {
protected:
    void SetUp() override
    {
        Folder::SetUp();
        setenv("PATH", (folder.string() + ":" + before_).c_str(), 1);
    }
    void TearDown() override
    {
        setenv("PATH", before_.c_str(), 1);
        Folder::TearDown();
    }
    void write_program(const std::string& name, const std::string& lines) const
    {
        write(name, "#!/bin/sh\n" + lines);
        std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
    }

private:
    std::string before_ = std::getenv("PATH");
};

TEST_F(SlurmPrograms, SilenceOfSbatchIsSaid)
{
    write_program("sbatch", "exit 0\n");
    const auto job = submit_job("script", folder);
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().message, "sbatch printed nothing and ended with exit status 0");
}

// A run would be given up as lost while its job goes on.
TEST_F(SlurmPrograms, RubbishIsNoAnswer)
{
    write_program("scontrol", "echo '/etc/profile.d: not found'\n");
    write_program("squeue", "echo 'RUNNING|None|n[1-2]'\n");
    EXPECT_EQ(look_at_job("7").state, "RUNNING");
    write_program("squeue", "echo '/etc/profile.d: not found'\n");
    EXPECT_FALSE(look_at_job("7").answered);
    write_program("squeue", "exit 0\n");
    EXPECT_TRUE(look_at_job("7").answered) << "a queue without it";
    write_program("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified'; exit 1\n");
    write_program("squeue", "exit 1\n");
    EXPECT_TRUE(look_at_job("7").answered);
}

// Who follows a run would seem to be cut off, and would be asked anew for ever.
TEST_F(SlurmPrograms, NobodyWaitsForAnAnswer)
{
    write_program("scontrol", "echo 'JobState=PENDING Reason=Priority Restarts=1'\n");
    JobQuestion question;
    EXPECT_FALSE(question.answer());
    question.ask("7");
    std::optional<SlurmJob> job;
    for (int i = 0; i < 1000 && !(job = question.answer()); ++i)
        usleep(10000);
    ASSERT_TRUE(job);
    EXPECT_TRUE(job->answered);
    EXPECT_EQ(job->state + " " + job->reason + " " + std::to_string(job->restarts), "PENDING Priority 1");
    EXPECT_FALSE(question.is_open());

    write_program("scontrol", "exec sleep 600\n");
    const auto begin = std::chrono::steady_clock::now();
    {
        JobQuestion late;
        late.ask("7");
        EXPECT_FALSE(late.answer());
        EXPECT_TRUE(late.is_open());
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "its process is ended";
}

TEST_F(SlurmPrograms, WhatTheyPrintIsReadToItsEnd)
{
    write_program("sinfo", "head -c 5000000 /dev/zero\necho end\n");
    const SlurmAnswer answer = ask_slurm({"sinfo"});
    EXPECT_EQ(answer.status, 0);
    EXPECT_TRUE(answer.text.ends_with("end\n"));
    EXPECT_LT(answer.text.size(), 3u << 20);
}

TEST(SlurmAnswers, ThePartitionIsHeldAgainstTheTarget)
{
    const auto all = parse_sinfo("low*|up|idle|3|1-00:00:00|(null)\nlow*|up|down*|1|1-00:00:00|(null)\n"
                                 "gpu|up|mixed|2|infinite|gpu:a100:8(S:0-1),shard:4\nold|inact|idle|1|infinite|(null)\n"
                                 "sinfo: rubbish\n");
    ASSERT_EQ(all.size(), 4u);
    const auto line = [&](const Json& wanted) {
        std::string out;
        for (const Json& one : partition_findings(all, wanted))
            out += text_field(one, "level") + " " + text_field(one, "message") + "; ";
        return out;
    };
    EXPECT_EQ(line({{"nodes", 3}, {"time", "23:00:00"}}), "info partition low; ");
    EXPECT_EQ(line({{"nodes", 4}}), "warning too few nodes of partition low are up: the job will wait; ");
    EXPECT_EQ(line({{"nodes", 5}}), "error partition low has fewer than 5 nodes; ");
    EXPECT_EQ(line({{"time", "1-0:0:1"}}), "error slurm.time 1-0:0:1 is beyond the limit of partition low; ");
    EXPECT_EQ(line({{"gres", "gpu:2"}}), "error no node of partition low offers gpu; ");
    EXPECT_EQ(line({{"gres", "gpu:2"}, {"partition", "gpu"}, {"time", "99-0"}}), "info partition gpu; ");
    EXPECT_EQ(line({{"partition", "old"}}), "error partition old takes no jobs; ");
    EXPECT_EQ(line({{"partition", "gpu,new"}}), "info partition gpu; error there is no partition \"new\"; ");
    EXPECT_EQ(partition_findings({}, Json::object()).size(), 1u) << "no partition at all";
    for (const auto& [time, seconds] :
        {std::pair("90", 5400.0), std::pair("90:30", 5430.0), std::pair("1:30:00", 5400.0), std::pair("2-12", 216000.0),
            std::pair("2-12:30", 217800.0), std::pair("2-12:30:10", 217810.0)})
        EXPECT_EQ(slurm_seconds(time), seconds) << time;
    for (const char* none : {"infinite", "", "-1", "1-", "1:2:3:4", "1.5", "1:", " 1"})
        EXPECT_FALSE(slurm_seconds(none)) << none;
}

using ProgressPages = Folder;

TEST_F(ProgressPages, AreReadWhileTheyAreWritten)
{
    EXPECT_FALSE(read_progress(folder, 0));
    ProgressWriter writer((folder / "rank0.progress").string());
    writer.begin(7, 3, "all_gather of 8 bytes", "tp ranks 0 1");
    auto progress = read_progress(folder, 0);
    ASSERT_TRUE(progress);
    EXPECT_EQ(progress->number, 7u);
    EXPECT_EQ(progress->group_number, 3u);
    EXPECT_TRUE(progress->inside);
    EXPECT_EQ(progress->operation, "all_gather of 8 bytes");
    writer.end();
    EXPECT_FALSE(read_progress(folder, 0)->inside);
    std::jthread busy([&](const std::stop_token& stop) {
        for (uint64_t i = 1; !stop.stop_requested(); ++i) {
            writer.begin(i, i, "operation " + std::to_string(i), std::string(500, 'g'));
            writer.end();
        }
    });
    for (int i = 0; i < 2000; ++i) {
        if (const auto seen = read_progress(folder, 0); seen && seen->operation.starts_with("operation ")) {
            ASSERT_EQ(seen->operation, "operation " + std::to_string(seen->number));
        }
    }
    write("rank1.progress", "short");
    EXPECT_FALSE(read_progress(folder, 1));
    write("rank2.progress", std::string(4096, 'x'));
    EXPECT_FALSE(read_progress(folder, 2));
}

TEST_F(ProgressPages, KeepWhyARankFailed)
{
    const std::string file = (folder / "rank0.progress").string();
    {
        ProgressWriter writer(file);
        EXPECT_FALSE(read_failure(folder, 0));
        writer.fail({FailureOrigin::told, "fail", std::string(2000, 'm')});
    }
    const auto failure = read_failure(folder, 0);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->origin, FailureOrigin::told);
    EXPECT_EQ(failure->kind, "fail");
    EXPECT_EQ(failure->message, std::string(1023, 'm'));
    const ProgressWriter later(file);
    EXPECT_FALSE(read_failure(folder, 0)) << "a page begins empty";
    write("rank1.progress", std::string(4096, 'x'));
    EXPECT_FALSE(read_failure(folder, 1));
}

// Its blocks are real from the beginning: a page with a hole is a SIGBUS when the disk is full.
TEST_F(ProgressPages, HaveTheirRoomFromTheBeginning)
{
    const std::string file = (folder / "rank0.progress").string();
    const ProgressWriter writer(file);
    struct stat info { };
    ASSERT_EQ(stat(file.c_str(), &info), 0);
    EXPECT_GE(info.st_blocks * 512, 4096);
}

// A rank writes on where somebody empties its page; what else is a SIGBUS stays one.
TEST_F(ProgressPages, CutShortTheyStopNoRank)
{
    const std::string file = (folder / "rank0.progress").string();
    ProgressWriter writer(file);
    writer.begin(1, 1, "all_gather of 8 bytes", "tp ranks 0 1");
    std::filesystem::resize_file(file, 0);
    writer.end();
    writer.begin(2, 2, "all_gather of 8 bytes", "tp ranks 0 1");
    writer.fail({FailureOrigin::own, "fail", "no disk"});
    EXPECT_FALSE(read_progress(folder, 0));
    const auto fault = [&] {
        const std::string other = (folder / "other").string();
        write("other", std::string(4096, 'x'));
        const int fd = ::open(other.c_str(), O_RDWR);
        volatile char* const page
            = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
        std::filesystem::resize_file(other, 0);
        page[0] = 'y';
    };
    EXPECT_EXIT(fault(), testing::KilledBySignal(SIGBUS), "");
}

TEST(LoadChecks, WhatTheLoaderMisses)
{
    EXPECT_EQ(loader_complaint("\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n\tlinux-vdso.so.1 (0x00007ffc)\n"), "");
    EXPECT_EQ(loader_complaint(
                  "\tlibcuda.so.1 => not found\n\tlibm.so.6 => /lib/libm.so.6 (0x1)\n\tlibcuda.so.1 => not found\n"),
        "libcuda.so.1 is missing");
    EXPECT_EQ(loader_complaint("./t: /lib/libc.so.6: version `GLIBC_2.99' not found (required by ./t)\n"),
        "./t: /lib/libc.so.6: version `GLIBC_2.99' not found (required by ./t)");
}

// A library that says it is NCCL, in a Python package of the user.
TEST(LoadChecks, TheNodesOwnNccl)
{
    const std::filesystem::path home = std::filesystem::path(testing::TempDir()) / ("nccl" + std::to_string(getpid()));
    const auto folder = home / ".local/lib/python3.9/site-packages/nvidia/nccl/lib";
    umask(022); // what others may write is not loaded
    std::filesystem::create_directories(folder);
    const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
    setenv("HOME", home.c_str(), 1);
    std::ofstream(folder / "libnccl.so.2") << "no library at all, NCCL version %d.%d.%d" << std::string(100, ' ');
    Json found = nccl_checks();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(text_field(found[0], "level"), "warning") << found.dump();
    EXPECT_EQ(text_field(found[0], "message"), "of unknown version does not load");
    std::filesystem::copy_file(
        "/lib/x86_64-linux-gnu/libm.so.6", folder / "libnccl.so.2", std::filesystem::copy_options::overwrite_existing);
    std::ofstream(folder / "libnccl.so.2", std::ios::app) << "NCCL version 2.27.5+cuda13.0" << std::string(100, ' ');
    found = nccl_checks();
    EXPECT_EQ(text_field(found[0], "message"), "2.27.5 loads") << found.dump();
    EXPECT_EQ(text_field(found[0], "level"), "info");
    setenv("HOME", before.c_str(), 1);
    std::filesystem::remove_all(home);
}

} // namespace
} // namespace fourfold
