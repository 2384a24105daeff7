// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold probe`, `gc`, `run --sweep` and `history import` of other software's measurements, as a user sees them.
#include "tests/cli/training.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace fourfold::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ClusterCommands : public TrainingTest { };

TEST_F(ClusterCommands, ProbeSaysWhatIsThere)
{
    const Output probe = fourfold({"probe", "local", "--json"});
    EXPECT_EQ(probe.status, 0) << probe.err << probe.out;
    const Json report = json_of(probe);
    EXPECT_TRUE(report["good"].get<bool>());
    EXPECT_EQ(report["hosts"].size(), 1u);
    const Output saved = fourfold({"probe", "local", "--save-cluster", "mine"});
    EXPECT_EQ(saved.status, 0) << saved.err;
    EXPECT_THAT(saved.out, HasSubstr("ready for a run"));
    EXPECT_EQ(fourfold({"presets", "clusters"}).out.find("mine") != std::string::npos, true);
    expect_problem(fourfold({"probe", "local", "--like", "dgx-h100"}), 2, "--save-cluster");
    expect_problem(fourfold({"probe", "local", "--save-cluster", "mine", "--quick"}), 2, "--quick");
    expect_problem(fourfold({"probe", "local", "--save-cluster", "a/b", "--dry-run"}), 2, "a/b");
    expect_problem(
        fourfold({"probe", "local", "--save-cluster", "mine", "--like", "none-such", "--dry-run"}), 2, "none-such");
    expect_problem(fourfold({"probe", "no-such-target"}), 2, "no-such-target");
    const Output away = fourfold({"probe", "127.0.0.1:1", "--quick"});
    EXPECT_EQ(away.status, 1);
    EXPECT_THAT(away.out, HasSubstr("error: 127.0.0.1:1: port: the connection was refused"));
}

// As in a name space of its own, or a chroot: programs and presets are found all the same.
TEST_F(ClusterCommands, WithoutProcARunSaysThatItCannotBeWatched)
{
    const std::string unshare = geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount";
    if (std::system((unshare + " mount -t tmpfs none /proc 2>/dev/null").c_str()) != 0)
        GTEST_SKIP() << "mounting needs rights that this user lacks";
    const std::string wrapped = file("without-proc",
        "#!/bin/sh\nexec " + unshare + " sh -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"' '"
            + (folder() / "bin/fourfold").string() + "' \"$@\"\n");
    fs::permissions(wrapped, fs::perms::owner_all);
    use_program(wrapped);
    EXPECT_EQ(fourfold({"predict", tiny_plan()}).status, 0);
    const Output run = fourfold({"run", tiny_plan(), "--target", "local"});
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(lines_of(run.err).back(), HasSubstr("ranks cannot be watched: /proc is not mounted"));
}

TEST_F(ClusterCommands, ASweepMeasuresEveryCellOnce)
{
    const std::string layouts = file("layouts.csv", "tp,cp,pp,micro_batch\n1,1,1,1\n2,1,1,1\n");
    const std::vector<std::string> command{"run", tiny_plan(), "--sweep", layouts, "--gpus", "1,2", "--format", "csv"};
    const Output sweep = fourfold(command);
    EXPECT_EQ(sweep.status, 0) << sweep.err;
    const auto rows = lines_of(sweep.out);
    ASSERT_EQ(rows.size(), 5u) << sweep.out;
    EXPECT_THAT(rows[0], HasSubstr("tp,cp,pp,micro_batch,virtual_stages,gpus,status,tps_per_gpu"));
    EXPECT_THAT(rows[1], HasSubstr("1,1,1,1,1,1,ok,"));
    EXPECT_THAT(rows[3], HasSubstr("2,1,1,1,1,1,impossible,"));
    EXPECT_THAT(rows[4], HasSubstr("2,1,1,1,1,2,ok,"));
    const Output again = fourfold(command);
    EXPECT_EQ(again.out, sweep.out) << "nothing is measured again";
    EXPECT_EQ(json_of(fourfold({"history", "list", "--json"})).size(), 3u);
    expect_problem(fourfold({"run", tiny_plan(), "--sweep", layouts}), 2, "--gpus");
    expect_problem(fourfold({"run", tiny_plan(), "--sweep", layouts, "--gpus", "two"}), 2, "--gpus");
    const Output away = fourfold({"run", tiny_plan(), "--sweep", layouts, "--gpus", "1", "--target", "127.0.0.1:1"});
    EXPECT_EQ(away.status, 1);
    EXPECT_THAT(away.out, HasSubstr("REFUSED"));
    EXPECT_THAT(
        lines_of(away.err).back(), HasSubstr("1 cell was not measured: 127.0.0.1:1: the connection was refused"));
    EXPECT_EQ(fourfold({"gc", "--target", "local", "--dry-run"}).status, 0);
    const Output cleared = fourfold({"gc", "local", "--older-than", "0"});
    EXPECT_EQ(cleared.status, 0) << cleared.err;
    EXPECT_THAT(cleared.out, HasSubstr("this computer: removed 3 runs"));
}

TEST_F(ClusterCommands, ASlurmTargetShowsItsScript)
{
    const std::string target = file("slurm.json", R"({"slurm": {"nodes": 2, "partition": "gpu", "time": "10",
        "lines": ["--mail-type=END"]}, "prelude": ["module load cuda"]})");
    const Output dry = fourfold({"run", tiny_plan(), "--target", target, "--dry-run"});
    EXPECT_EQ(dry.status, 0) << dry.err;
    for (const char* text : {"#SBATCH --nodes=2", "#SBATCH --partition=gpu", "#SBATCH --mail-type=END", "exec srun",
             "prelude module load cuda", "the agent runs: sbatch --parsable --chdir="})
        EXPECT_THAT(dry.out, HasSubstr(text));
    EXPECT_THAT(dry.out, HasSubstr("#SBATCH --signal=TERM@60\n"));
    // Ranks that save checkpoints are not told by Slurm, but by their agent, which Slurm tells early.
    const auto signal_of = [&](const std::string& save_s) {
        const std::string saving
            = file("saving.json", R"({"slurm": {"nodes": 2, "time": "10"}, "timeouts": {"save_s": )" + save_s + "}}");
        const Output saves
            = fourfold({"run", tiny_plan(), "--set", "run.checkpoint.every=5", "--target", saving, "--dry-run"});
        EXPECT_EQ(saves.status, 0) << saves.err;
        const std::size_t at = saves.out.find("#SBATCH --signal=");
        return saves.out.substr(at, saves.out.find('\n', at) - at);
    };
    EXPECT_EQ(signal_of("89.5"), "#SBATCH --signal=URG@150");
    EXPECT_EQ(signal_of("604800"), "#SBATCH --signal=URG@65535") << "as much as sbatch takes";
    EXPECT_EQ(signal_of("0"), "#SBATCH --signal=TERM@60");
}

// Everything that a launch opens, copies and starts is said before, by each command that does so.
TEST_F(ClusterCommands, DryRunsSayWhatIsOpenedCopiedAndRun)
{
    const std::string target = file("far.json", R"({"hosts": [{"address": "node1", "user": "me", "port": 2222,
        "jump": ["you@gate:22"], "key_file": "~/k"}, "node2"], "base_folder": "/scratch/ff", "backend": "gloo",
        "container": {"image": "/images/a.sif", "binds": ["/data:/mnt:ro"]}, "interface": "ib0", "hcas": ["mlx5_0"]})");
    const auto connections = {"opens SSH to me@node1:2222, through you@gate:22, with the key ~/k",
        "opens SSH to node2\n", "fourfold-agent  ", " bytes, to /scratch/ff/agent/", "exec /bin/sh -c"};
    const Output run = fourfold({"run", tiny_plan(), "--target", target, "--dry-run"});
    EXPECT_EQ(run.status, 0) << run.err;
    const Output probe = fourfold({"probe", target, "--dry-run"});
    EXPECT_EQ(probe.status, 0) << probe.err;
    const Output attach = fourfold({"attach", "01ABC", "--target", target, "--dry-run"});
    EXPECT_EQ(attach.status, 0) << attach.err;
    for (const char* text : connections) {
        EXPECT_THAT(run.out, HasSubstr(text));
        EXPECT_THAT(probe.out, HasSubstr(text));
        EXPECT_THAT(attach.out, HasSubstr(text));
    }
    EXPECT_THAT(run.out, HasSubstr("each rank: apptainer exec"));
    EXPECT_THAT(run.out, HasSubstr("--bind /data:/mnt:ro /images/a.sif /scratch/ff/runs/RUN/"));
    EXPECT_THAT(run.out, HasSubstr("environment NCCL_SOCKET_IFNAME=ib0"));
    EXPECT_THAT(run.out, HasSubstr("environment NCCL_IB_HCA=mlx5_0"));
    EXPECT_THAT(attach.out, HasSubstr("looks for run 01ABC on target "));
    const Json document = json_of(fourfold({"attach", "--target", target, "--dry-run", "--json"}));
    EXPECT_EQ(document["connects"].size(), 2u);
    EXPECT_EQ(document["agent"]["sha256"].get<std::string>().size(), 64u);
    EXPECT_EQ(fourfold({"probe", "--target", target, "--dry-run"}).out, probe.out) << "as `run` names it";
    expect_problem(fourfold({"probe", target, "--target", target, "--dry-run"}), 2, "--target");
    const Output stop = fourfold({"stop", "01ABC", "--target", target, "--dry-run"});
    EXPECT_EQ(stop.status, 0) << stop.err;
    EXPECT_THAT(stop.out, HasSubstr("opens SSH to me@node1:2222"));
    expect_problem(fourfold({"stop"}), 2, "RUN is required");
    expect_problem(fourfold({"attach", "--dry-run"}), 2, "no run yet");
    expect_problem(fourfold({"attach"}), 2, "name the hosts with --target");
    EXPECT_FALSE(fs::exists(folder() / "data/fourfold")) << "nothing is stored";
    EXPECT_EQ(fourfold({"run", tiny_plan(), "--target", "local"}).status, 0);
    EXPECT_THAT(fourfold({"attach", "--dry-run"}).out, HasSubstr("has ended (ok): nothing would be opened"));
}

TEST_F(ClusterCommands, LogsAndTablesOfOtherSoftware)
{
    const std::string log = file("megatron.log",
        "using world size: 2, data-parallel size: 1\n"
        " [2026-01-01 00:00:00] iteration        1/      10 | consumed samples:            4 | elapsed time per "
        "iteration "
        "(ms): 4000.0 | learning rate: 1.5E-04 | global batch size:     4 | lm loss: 1.1E+01 | loss scale: 1.0 | grad "
        "norm: 1.250 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        "\x1b[32m noise\x1b[0m\n"
        " [2026-01-01 00:00:04] iteration        2/      10 | consumed samples:            8 | elapsed time per "
        "iteration "
        "(ms): 2000.0 | throughput per GPU (TFLOP/s/GPU): 440.5 | learning rate: 1.5E-04 | global batch size:     4 | "
        "lm "
        "loss: 1.0E+01 | loss scale: 1.0 | grad norm: 1.000 |\n");
    expect_problem(fourfold({"history", "import", log}), 2, "--plan");
    const Output taken = fourfold({"history", "import", log, "--plan", tiny_plan()});
    EXPECT_EQ(taken.status, 0) << taken.err;
    EXPECT_THAT(taken.out, HasSubstr("(log of megatron-lm)"));
    const Output same = fourfold({"history", "import", log, "--plan", tiny_plan()});
    EXPECT_EQ(same.status, 0) << same.err;
    EXPECT_EQ(same.out, "");
    EXPECT_THAT(same.err, HasSubstr("1 run is in the history already"));
    const Json run = json_of(fourfold({"history", "show", "last", "--json"}));
    EXPECT_THAT(run.dump(), HasSubstr("megatron-lm"));
    EXPECT_THAT(run.dump(), HasSubstr("64.0")) << "4 x 64 tokens in 2 s on 2 GPUs";
    expect_problem(fourfold({"history", "import", log, "--plan", tiny_plan(), "--set", "gpus=4"}), 2, "gpus");
    expect_problem(fourfold({"history", "import", file("x.log", "nothing here\n"), "--plan", tiny_plan()}), 2, "x.log");
    const Output table = fourfold(
        {"history", "import", FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv", "--json"});
    EXPECT_EQ(table.status, 0) << table.err;
    EXPECT_GE(json_of(table)["imported"].size(), 18u);
    const Output second = fourfold(
        {"history", "import", FOURFOLD_SOURCE_DIR "/presets/published/torchtitan_llama31_h100.csv", "--json"});
    EXPECT_EQ(json_of(second)["imported"].size(), 0u) << "the same rows are not taken twice";
}

} // namespace
} // namespace fourfold::test
